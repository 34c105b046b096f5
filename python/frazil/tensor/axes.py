"""Axis arguments, as NumPy takes them, turned into sorted non-negative positions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TypeVar

import numpy as np

from frazil.graph.call_site import called_function
from frazil.graph.collection import is_sequence

AxisT = TypeVar("AxisT")


def normalize_axis(axis: int, ndim: int) -> int:
    """Return ``axis`` counted from the front; raise ``AxisError`` where there is no such axis."""
    try:
        position = index(axis)
    except TypeError as error:
        raise TypeError(
            f"{called_function()} takes ints for axes, given {axis!r} of type {type(axis).__name__}"
        ) from error
    if not -ndim <= position < ndim:
        there = f"axes from {-ndim} to {ndim - 1}" if ndim else "no axis"
        raise np.exceptions.AxisError(position, ndim, f"{called_function()} takes {there} here")
    return position % ndim


def normalize_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the sorted axes that ``axis`` names; ``None`` names all of them."""
    if axis is None:
        return tuple(range(ndim))
    if not is_sequence(axis):
        return (normalize_axis(axis, ndim),)
    axes = sorted(normalize_axis(one, ndim) for one in axis)
    _check_distinct(axes, axis)
    return tuple(axes)


def axis_of_any(axis: AxisT, ndim: int) -> AxisT | None:
    """Return ``axis``; None where it is 0 or -1 and there are no dimensions.

    NumPy's ufuncs and methods of arrays take these for one element as for a vector of one.
    """
    return None if ndim == 0 and axis in (0, -1) else axis


def normalize_order(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return the permutation that ``axes`` spells, checking that it is one."""
    order = tuple(normalize_axis(axis, ndim) for axis in axes)
    if sorted(order) != list(range(ndim)):
        raise ValueError(
            f"{called_function()}: axes {tuple(axes)} do not permute the {ndim} dimensions of the "
            "tensor; each must be named once, or leave axes out to reverse them"
        )
    return order


def _check_distinct(axes: Sequence[int], given: Sequence[int]) -> None:
    if len(set(axes)) != len(axes):
        raise ValueError(
            f"{called_function()} takes each axis once, but axis {tuple(given)} names one twice"
        )
