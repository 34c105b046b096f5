"""Functions of all elements along axes: sums, extremes, order, distinct values."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import frazil.tensor as ft
from frazil.array_api.array import Array, lifted, lifted_all
from frazil.array_api.creation import DType

Axes: TypeAlias = int | tuple[int, ...] | None


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return whether no element is zero."""
    return lifted(ft.all, x, axis, keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return whether some element is not zero."""
    return lifted(ft.any, x, axis, keepdims)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the position of the first largest element."""
    return lifted(ft.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the position of the first smallest element."""
    return lifted(ft.argmin, x, axis, keepdims)


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return how many elements are not zero."""
    return lifted(ft.count_nonzero, x, axis, keepdims)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Array:
    """Return the products of all elements up to each one."""
    return lifted(ft.cumulative_prod, x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Array:
    """Return the sums of all elements up to each one."""
    return lifted(ft.cumulative_sum, x, axis=axis, dtype=dtype, include_initial=include_initial)


def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Return the differences of neighbours along an axis, taken ``n`` times."""
    return lifted(ft.diff, x, n, axis, prepend, append)


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the largest element; NaN where there is one."""
    return lifted(ft.max, x, axis, keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the arithmetic mean."""
    return lifted(ft.mean, x, axis, keepdims=keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the smallest element; NaN where there is one."""
    return lifted(ft.min, x, axis, keepdims)


def prod(x: Array, /, *, axis: Axes = None, dtype: DType = None, keepdims: bool = False) -> Array:
    """Return the product; of int64 or uint64 for smaller integers."""
    return lifted(ft.prod, x, axis, dtype, keepdims)


def std(
    x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Return the standard deviation: divided by the number of elements less ``correction``."""
    return lifted(ft.std, x, axis, keepdims=keepdims, correction=correction)


def sum(x: Array, /, *, axis: Axes = None, dtype: DType = None, keepdims: bool = False) -> Array:
    """Return the sum; of int64 or uint64 for smaller integers."""
    return lifted(ft.sum, x, axis, dtype, keepdims)


def var(
    x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Return the variance: divided by the number of elements less ``correction``."""
    return lifted(ft.var, x, axis, keepdims=keepdims, correction=correction)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the positions that put the elements in order."""
    return lifted(ft.argsort, x, axis, descending=descending, stable=stable)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements in order."""
    return lifted(ft.sort, x, axis, descending=descending, stable=stable)


def searchsorted(
    x1: Array, x2: Array, /, *, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Array:
    """Return where elements of ``x2`` would stand in the sorted ``x1``."""
    return lifted(ft.searchsorted, x1, x2, side, sorter)


class UniqueAll(NamedTuple):
    """The result of :func:`unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The result of :func:`unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The result of :func:`unique_inverse`."""

    values: Array
    inverse_indices: Array


def unique_all(x: Array, /) -> UniqueAll:
    """Return distinct elements, where each is first, which one each element is, and how often."""
    return UniqueAll(
        *lifted_all(ft.unique, x, return_index=True, return_inverse=True, return_counts=True)
    )


def unique_counts(x: Array, /) -> UniqueCounts:
    """Return the distinct elements, in order, and how often each occurs."""
    return UniqueCounts(*lifted_all(ft.unique, x, return_counts=True))


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Return the distinct elements, in order, and which of them each element is."""
    return UniqueInverse(*lifted_all(ft.unique, x, return_inverse=True))


def unique_values(x: Array, /) -> Array:
    """Return the distinct elements, in order."""
    return lifted(ft.unique, x)
