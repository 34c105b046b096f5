"""Arrays made of numbers: zeros, ones, ranges, and arrays of Python numbers."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import frazil.tensor as ft
from frazil.array_api.array import Array, Number, check_device, leaf, lifted, lifted_all

newaxis = None
"""In an index: a new dimension of length 1."""

Shape: TypeAlias = int | tuple[int, ...]
DType: TypeAlias = npt.DTypeLike | None


def asarray(
    obj: object, /, *, dtype: DType = None, device: str | None = None, copy: bool | None = None
) -> Array:
    """Return ``obj`` as an array.

    Parameters
    ----------
    obj : Array, number, nested sequence of these, or what DLPack, buffers or NumPy can read
        The elements. They are copied unless ``obj`` is an Array.
    dtype : dtype, optional
        Their type; by default that of ``obj``, int64 or float64 for Python's numbers.
    device : "cpu", optional
        The only device.
    copy : bool, optional
        Whether the result is an array of its own. False raises ValueError where elements must be
        copied.

    Examples
    --------
    >>> import frazil.array_api as xp
    >>> xp.asarray([1, 2], dtype=xp.float32)
    Array([1., 2.], dtype=float32)
    """
    check_device(device)
    if isinstance(obj, Array):
        if dtype is None or obj.dtype == np.dtype(dtype):
            return lifted(lambda x: x, obj) if copy else obj
        if copy is False:
            raise ValueError(f"an array of {obj.dtype} must be copied to one of {np.dtype(dtype)}")
        return lifted(ft.astype, obj, dtype=dtype)
    if copy is False:
        raise ValueError(f"elements of {type(obj).__name__} must be copied")
    value = np.array(_plain(obj), dtype=dtype, copy=True)
    return leaf(value)


def _plain(obj: object) -> object:
    """``obj`` with the values of the arrays within."""
    if isinstance(obj, Array):
        return np.asarray(obj)
    if isinstance(obj, list | tuple):
        return [_plain(part) for part in obj]
    return obj


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """Return an array with the elements of another library's array, copied.

    An Array is given back itself unless ``copy`` is true.
    """
    check_device(device)
    if isinstance(x, Array):
        return asarray(x, copy=copy)
    if copy is False:
        raise ValueError("elements of other libraries must be copied: these may change them")
    return leaf(np.from_dlpack(x).copy())


def arange(
    start: Number,
    /,
    stop: Number | None = None,
    step: Number = 1,
    *,
    dtype: DType = None,
    device: str | None = None,
) -> Array:
    """Return ``start``, ``start + step``, ... up to but not ``stop``."""
    check_device(device)
    return lifted(ft.arange, start, stop, step, dtype=dtype)


def linspace(
    start: Number,
    stop: Number,
    /,
    num: int,
    *,
    dtype: DType = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Array:
    """Return ``num`` numbers at equal distances from ``start`` to ``stop``."""
    check_device(device)
    return lifted(ft.linspace, start, stop, num, endpoint=endpoint, dtype=dtype)


def zeros(shape: Shape, *, dtype: DType = None, device: str | None = None) -> Array:
    """Return an array of zeros, of float64 by default."""
    check_device(device)
    return lifted(ft.zeros, shape, dtype=dtype)


def ones(shape: Shape, *, dtype: DType = None, device: str | None = None) -> Array:
    """Return an array of ones, of float64 by default."""
    check_device(device)
    return lifted(ft.ones, shape, dtype=dtype)


def empty(shape: Shape, *, dtype: DType = None, device: str | None = None) -> Array:
    """Return an array of zeros: an array of unknown elements could not be computed twice alike."""
    return zeros(shape, dtype=dtype, device=device)


def full(
    shape: Shape, fill_value: Number, *, dtype: DType = None, device: str | None = None
) -> Array:
    """Return an array of equal elements."""
    check_device(device)
    return lifted(ft.full, shape, fill_value, dtype=dtype)


def zeros_like(x: Array, /, *, dtype: DType = None, device: str | None = None) -> Array:
    """Return zeros in the shape of ``x``, and of its dtype by default."""
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def ones_like(x: Array, /, *, dtype: DType = None, device: str | None = None) -> Array:
    """Return ones in the shape of ``x``, and of its dtype by default."""
    return ones(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def empty_like(x: Array, /, *, dtype: DType = None, device: str | None = None) -> Array:
    """Return zeros, as :func:`empty` does, in the shape of ``x``."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(
    x: Array, /, fill_value: Number, *, dtype: DType = None, device: str | None = None
) -> Array:
    """Return equal elements in the shape of ``x``, and of its dtype by default."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType = None,
    device: str | None = None,
) -> Array:
    """Return a matrix with ones on its ``k``-th diagonal and zeros elsewhere."""
    check_device(device)
    return lifted(ft.eye, n_rows, n_cols, k, dtype=dtype)


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> list[Array]:
    """Return the coordinates of the points of a grid: an array for each vector."""
    return list(lifted_all(ft.meshgrid, *arrays, indexing=indexing))


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Return ``x`` with zeros above the ``k``-th diagonal of each matrix."""
    return lifted(ft.tril, x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Return ``x`` with zeros below the ``k``-th diagonal of each matrix."""
    return lifted(ft.triu, x, k)
