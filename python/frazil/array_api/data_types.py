"""Data types: the list of them, and their promotion."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import numpy.typing as npt

import frazil.tensor as ft
from frazil.array_api.array import Array, Number, check_device, lifted
from frazil.graph.dataclass import dataclass

bool = np.dtype("bool")
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a float, as Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[np.generic]


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[np.generic]


def astype(
    x: Array, dtype: npt.DTypeLike, /, *, copy: builtins.bool = True, device: str | None = None
) -> Array:
    """Return ``x`` with elements of ``dtype``; ``x`` itself without need or wish for a copy."""
    check_device(device)
    if not copy and x.dtype == np.dtype(dtype):
        return x
    return lifted(ft.astype, x, dtype=dtype)


def can_cast(from_: npt.DTypeLike | Array, to: npt.DTypeLike, /) -> builtins.bool:
    """Tell whether ``to`` holds every value of ``from_``."""
    return np.can_cast(_dtype_of(from_), np.dtype(to))


def result_type(*arrays_and_dtypes: Array | npt.DTypeLike | Number) -> np.dtype[np.generic]:
    """Return the dtype that arrays, dtypes and numbers meet in."""
    given = (
        x if isinstance(x, builtins.bool | int | float | complex) else _dtype_of(x)
        for x in arrays_and_dtypes
    )
    return np.result_type(*given)


def isdtype(
    dtype: npt.DTypeLike, kind: str | npt.DTypeLike | tuple[str | npt.DTypeLike, ...]
) -> builtins.bool:
    """Tell whether ``dtype`` is of a kind, such as "real floating", or of one of several."""
    kinds: Any = kind
    return np.isdtype(np.dtype(dtype), kinds)


def finfo(type: npt.DTypeLike | Array, /) -> FloatInfo:
    """Return the limits of a float."""
    found = np.finfo(_dtype_of(type))
    eps, largest, smallest = float(found.eps), float(found.max), float(found.min)
    normal = float(found.smallest_normal)
    return FloatInfo(found.bits, eps, largest, smallest, normal, found.dtype)


def iinfo(type: npt.DTypeLike | Array, /) -> IntegerInfo:
    """Return the limits of an integer type."""
    found = np.iinfo(_dtype_of(type))
    return IntegerInfo(found.bits, int(found.max), int(found.min), found.dtype)


def _dtype_of(x: Array | npt.DTypeLike) -> np.dtype[Any]:
    return x.dtype if isinstance(x, Array) else np.dtype(x)
