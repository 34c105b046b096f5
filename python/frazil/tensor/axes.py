"""Axis arguments, as NumPy takes them, turned into sorted non-negative positions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np


def normalize_axis(axis: int, ndim: int) -> int:
    """Return ``axis`` counted from the front; raise ``AxisError`` where there is no such axis."""
    position = index(axis)
    if not -ndim <= position < ndim:
        raise np.exceptions.AxisError(position, ndim)
    return position % ndim


def normalize_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the sorted axes that ``axis`` names; ``None`` names all of them."""
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, Sequence):
        return (normalize_axis(axis, ndim),)
    axes = sorted(normalize_axis(one, ndim) for one in axis)
    _check_distinct(axes, axis)
    return tuple(axes)


def normalize_order(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return the permutation that ``axes`` spells, checking that it is one."""
    order = tuple(normalize_axis(axis, ndim) for axis in axes)
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"axes {tuple(axes)} do not permute the {ndim} dimensions of the tensor")
    return order


def _check_distinct(axes: Sequence[int], given: Sequence[int]) -> None:
    if len(set(axes)) != len(axes):
        raise ValueError(f"axis {tuple(given)} names a dimension twice")
