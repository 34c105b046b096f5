"""Integers of a range, each with the same probability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from frazil._core import Variable
from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, draw
from frazil.scalar.constants import TensorLike
from frazil.tensor.checks import check_parameters
from frazil.tensor.elementwise.casting import astype
from frazil.tensor.elementwise.table import ge


@drawing
def integers(
    rng: TensorLike,
    low: TensorLike,
    high: TensorLike | None = None,
    size: Size = None,
    dtype: npt.DTypeLike = "int64",
    endpoint: bool = False,
) -> Drawn:
    """Draw integers from ``low`` up to but without ``high``.

    low (tensor_like): The smallest; if ``high`` is not given, that is 0, and this is ``high``.
    high (tensor_like): What all are below.
    dtype (dtype_like): An integer type or bool.
    endpoint (bool): Let ``high`` itself be among them.
    example: [3, 100]
    """
    lowest, highest = (0, low) if high is None else (low, high)
    kind = np.dtype(dtype)
    if kind.kind not in "iub":
        raise TypeError(f"integers are drawn of an integer type or bool, given dtype {kind.name}")
    if not endpoint and not isinstance(highest, Variable):
        # A limit above all numbers of 64 bits has no 64 bits itself.
        highest, endpoint = _just_below(highest), True
    bounds = [_bound(lowest, kind, "low"), _bound(highest, kind, "high")]
    return draw("integers", rng, [*bounds, int(endpoint)], size, kind.name)


def _just_below(value: npt.ArrayLike) -> npt.ArrayLike:
    given = np.asarray(value)
    if given.dtype.kind not in "iubO":
        return value  # refused as a parameter
    return np.asarray(given.astype(object) - 1, dtype=object)


def _bound(value: TensorLike, dtype: np.dtype[np.generic], name: str) -> TensorLike:
    """Return a bound; constants in 64 bits, if they are such.

    NumPy takes signed bounds of uint64, too, and checks their values.
    """
    if isinstance(value, Variable):
        if dtype == "uint64" and value.dtype.startswith("int"):
            told = f"{name} is out of bounds for uint64"
            value = astype(check_parameters(value, ge(value, 0), msg=told), "uint64")
        return value
    wide = np.dtype("uint64" if dtype == "uint64" else "int64")
    given = np.asarray(value)
    if given.dtype.kind not in "iubO":
        return value
    try:
        made = np.array(given.astype(object).tolist(), dtype=wide).reshape(given.shape)
    except OverflowError as error:
        raise ValueError(f"{name} is out of bounds for {dtype.name}, given {value}") from error
    return made
