"""Conversion of arguments of compiled functions to arrays of the right type."""

from __future__ import annotations

import numpy as np

from frazil._core import TensorType, Variable
from frazil.graph.op import Array


def convert(value: object, kind: TensorType, name: str | None) -> Array:
    """Return ``value`` as an array of type ``kind``, if no information is lost.

    Arrays convert if NumPy calls the cast safe. Python numbers and lists of them have no dtype of
    their own: they convert to any dtype that holds their values, and floats are rounded.

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
    what = "the value" if name is None else f"argument {name!r}"
    array = _array(value, what)
    wanted = kind.numpy_dtype
    if array.dtype != wanted or not array.dtype.isnative:
        array = _cast(value, array, wanted, what)
    if array.ndim != kind.ndim:
        raise TypeError(
            f"{what} must have {kind.ndim} dimensions to be {kind}, given {array.ndim} "
            f"(shape {array.shape})"
        )
    for axis, (length, static) in enumerate(zip(array.shape, kind.shape, strict=True)):
        if static is not None and length != static:
            raise ValueError(
                f"{what} must have length {static} at dimension {axis} to be {kind}, given shape "
                f"{array.shape}"
            )
    return np.require(array, wanted, ["ALIGNED"])


def _array(value: object, what: str) -> Array:
    if value is None:
        raise TypeError(
            f"{what} is None; give it a number or an array. An input may have a default: "
            "fz.In(x, value=...)"
        )
    if isinstance(value, Variable):
        raise TypeError(
            f"{what} must be a number or an array, given the variable {value}. To compute with "
            "another variable write fz.graph_replace([output], {input: variable}) before compiling"
        )
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{what} must be a number or an array whose rows have one length; given a "
            f"{type(value).__name__} of which NumPy makes no array: {error}"
        ) from error


def _cast(value: object, array: Array, wanted: np.dtype[np.generic], what: str) -> Array:
    if array.dtype.kind in "biuf" or (array.dtype.kind, wanted.kind) == ("c", "c"):
        if np.can_cast(array.dtype, wanted, "safe"):
            return array.astype(wanted)
        if not isinstance(value, np.ndarray | np.generic):
            with np.errstate(invalid="ignore", over="ignore"):
                cast = array.astype(wanted)
            if wanted.kind in "fc" or np.array_equal(cast, array):
                return cast
    if array.dtype.kind in "OSU":
        raise TypeError(
            f"{what} must be {wanted.name}, numbers or an array of numbers; given "
            f"{type(value).__name__} {_short(value)}"
        )
    raise TypeError(
        f"{what} must be {wanted.name}; {array.dtype.name} values do not convert to it without "
        f"loss. Convert the value first, with .astype({wanted.name!r})"
    )


def _short(value: object) -> str:
    """A value, or its beginning."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
