"""Arguments of compiled functions that are not yet arrays of the right type."""

from __future__ import annotations

from typing import Any

import numpy as np

from frazil._core import TensorType


def convert(value: Any, type: TensorType, name: str | None) -> np.ndarray[Any, Any]:
    """``value`` as an array of ``type``, where no information is lost.

    Arrays convert where NumPy calls the cast safe. Python numbers and lists of them have no dtype
    of their own and become any that holds their values; floats round to a narrower float.

    Raises
    ------
    TypeError
        If the cast would lose information, or the number of dimensions differs.
    ValueError
        If a length is not the one that the type states.

    Examples
    --------
    >>> import frazil as fz
    >>> from frazil.compile.argument import convert
    >>> convert([1, 2], fz.TensorType("float32", (None,)), "x")
    array([1., 2.], dtype=float32)
    """
    what = "an argument" if name is None else f"argument {name!r}"
    array = np.asarray(value)
    wanted = type.numpy_dtype
    if array.dtype != wanted or not array.dtype.isnative:
        array = _cast(value, array, wanted, what)
    if array.ndim != type.ndim:
        raise TypeError(
            f"{what} must have {type.ndim} dimensions to be {type}, given {array.ndim} "
            f"(shape {array.shape})"
        )
    for axis, (length, static) in enumerate(zip(array.shape, type.shape, strict=True)):
        if static is not None and length != static:
            raise ValueError(
                f"{what} must have length {static} at dimension {axis} to be {type}, given shape "
                f"{array.shape}"
            )
    return np.require(array, wanted, ["ALIGNED"])


def _cast(
    value: Any, array: np.ndarray[Any, Any], wanted: np.dtype[Any], what: str
) -> np.ndarray[Any, Any]:
    if array.dtype.kind in "biuf":
        if np.can_cast(array.dtype, wanted, "safe"):
            return array.astype(wanted)
        if not isinstance(value, np.ndarray | np.generic):
            with np.errstate(invalid="ignore", over="ignore"):
                cast = array.astype(wanted)
            if wanted.kind == "f" or np.array_equal(cast, array):
                return cast
    raise TypeError(
        f"{what} must be {wanted.name}; {array.dtype.name} values do not convert to it without "
        f"loss. Convert the value first, with .astype({wanted.name!r})"
    )
