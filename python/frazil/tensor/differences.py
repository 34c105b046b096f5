"""Slopes and areas of functions given by points, and what is done to differences of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import TypeAlias

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.checks import Check, checked
from frazil.tensor.cumulation import cumsum
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item, set_subtensor
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, static_length
from frazil.tensor.rearranging import diff
from frazil.tensor.reductions import sum
from frazil.tensor.reshaping import ravel

Spacing: TypeAlias = float | Variable


@described
def gradient(
    f: TensorLike,
    *varargs: TensorLike,
    axis: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> Variable | tuple[Variable, ...]:
    """Return the slopes of a function given by values on a grid, by differences of neighbours.

    For derivatives of expressions see :func:`frazil.grad`.

    f (tensor_like): The values; integers become float64.
    varargs (tensor_like): The distance between neighbours: nothing for 1, one number for all
        dimensions, or for each of ``axis`` a number or a vector of coordinates.
    axis (int or sequence of int): The dimensions; default: all.
    edge_order ({1, 2}): Whether the slopes at both ends come of two values, or of three.
    returns (Variable, or tuple of Variable): Of the shape of ``f``, for each of ``axis``, as
        :func:`numpy.gradient` gives.

    >>> ft.gradient([1.0, 2.0, 4.0, 7.0]).eval()
    array([1. , 1.5, 2.5, 3. ])
    >>> ft.gradient([1.0, 4.0, 16.0], [1.0, 2.0, 4.0]).eval()
    array([3., 4., 6.])
    """
    f = as_tensor(f)
    if f.type.numpy_dtype.kind in "iu":
        f = as_tensor(f, "float64")
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order must be 1 or 2; given {edge_order!r}")
    if axis is None:
        axes = list(range(f.ndim))
    else:
        wanted = axis if is_sequence(axis) else [axis]
        axes = [normalize_axis(one, f.ndim) for one in wanted]
    if len(set(axes)) < len(axes):
        raise ValueError(f"gradient takes each axis once; given {axis}")
    spacings = _spacings(varargs, f, axes)
    slopes = [_slopes(f, k, h, edge_order) for k, h in zip(axes, spacings, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _spacings(varargs: Sequence[TensorLike], f: Variable, axes: Sequence[int]) -> list[Spacing]:
    """Return for each axis a number, or a vector of distances."""
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and as_tensor(varargs[0]).ndim == 0:
        return [_distances(varargs[0], f, 0)] * len(axes)
    if len(varargs) != len(axes):
        raise TypeError(f"gradient takes one spacing for each of {len(axes)} axes, or one number")
    return [_distances(one, f, along) for one, along in zip(varargs, axes, strict=True)]


def _distances(spacing: TensorLike, f: Variable, axis: int) -> Spacing:
    points = as_tensor(spacing)
    if points.ndim == 0:
        return spacing if isinstance(spacing, int | float) else points
    if points.ndim > 1:
        raise ValueError(f"a spacing is a number or a vector of coordinates; given {points.type}")
    if None not in (points.type.shape[0], f.type.shape[axis]) and (
        points.type.shape[0] != f.type.shape[axis]
    ):
        raise ValueError(f"there are as many coordinates as values; given {points.type}, {f.type}")
    if points.type.numpy_dtype.kind in "iu":
        points = as_tensor(points, "float64")
    same = _core.elemwise(scalar.eq, length(points, 0), length(f, axis))
    return diff(checked(points, [same], Check("there are as many coordinates as values")))


def _slopes(f: Variable, axis: int, spacing: Spacing, edge_order: int) -> Variable:
    """Return slopes along one dimension, of the dtype of ``f``."""
    least = edge_order + 1
    message = f"slopes of edge_order={edge_order} need {least} values along a dimension, or more"
    known = static_length(length(f, axis))
    if known is not None and known < least:
        raise ValueError(f"{message}; given {f.type}")
    f = checked(f, [_core.elemwise(scalar.ge, length(f, axis), least)], Check(message))
    uniform = not isinstance(spacing, Variable) or spacing.ndim == 0

    def part(start: int, stop: int | None) -> Variable:
        return get_item(f, (*[slice(None)] * axis, slice(start, stop)))

    def step(start: int, stop: int | None) -> Spacing:
        if uniform:
            return spacing
        behind = tuple(range(1, f.ndim - axis))
        return expand_dims(get_item(as_tensor(spacing), slice(start, stop)), behind)

    if uniform:
        inner = (part(2, None) - part(0, -2)) / (2.0 * spacing)
    else:
        inner = _weighted(
            _inside(step(0, -1), step(1, None)), part(0, -2), part(1, -1), part(2, None)
        )
    if edge_order == 1:
        first = (part(1, 2) - part(0, 1)) / step(0, 1)
        last = (part(-1, None) - part(-2, -1)) / step(-1, None)
    else:
        front, back = _front(step(0, 1), step(1, 2)), _front(step(-1, None), step(-2, -1))
        first = _weighted(front, part(0, 1), part(1, 2), part(2, 3))
        last = -_weighted(back, part(-1, None), part(-2, -1), part(-3, -2))
    return as_tensor(concatenate([first, inner, last], axis), f.dtype)


def _weighted(weights: Sequence[Spacing], *values: Variable) -> Variable:
    first, second, third = (weight * value for weight, value in zip(weights, values, strict=True))
    slope: Variable = first + second + third
    return slope


def _inside(before: Spacing, behind: Spacing) -> Sequence[Spacing]:
    """Return the weights of three neighbours for the slope in the middle."""
    both = before + behind
    return (
        -behind / (before * both),
        (behind - before) / (before * behind),
        before / (behind * both),
    )


def _front(near: Spacing, far: Spacing) -> Sequence[Spacing]:
    """Return the weights of three neighbours for the slope at the first."""
    both = near + far
    return -(near + both) / (near * both), both / (near * far), -near / (far * both)


@described
def trapezoid(
    y: TensorLike, x: TensorLike | None = None, dx: TensorLike = 1.0, axis: int = -1
) -> Variable:
    """Return the area under a function given by points, with straight lines between them.

    y (tensor_like): The values.
    x (tensor_like): Their positions: a vector, or of the shape of ``y``.
    dx (tensor_like): The distance between neighbours, if there is no ``x``.
    axis (int): The dimension to integrate over.
    returns: Without this dimension, as :func:`numpy.trapezoid` gives.
    example: [1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0] -> 8.
    """
    y = as_tensor(y)
    along = normalize_axis(axis, y.ndim)
    width = dx if isinstance(dx, int | float) else as_tensor(dx)
    if x is not None:
        points = as_tensor(x)
        width = diff(points, axis=0 if points.ndim == 1 else axis)
        if points.ndim == 1:
            width = expand_dims(width, tuple(range(1, y.ndim - along)))
    before = [slice(None)] * along
    later, earlier = (get_item(y, (*before, part)) for part in (slice(1, None), slice(-1)))
    return sum(width * (later + earlier) / 2.0, along)


@described
def ediff1d(
    ary: TensorLike, to_end: TensorLike | None = None, to_begin: TensorLike | None = None
) -> Variable:
    """Return the differences of neighbours in a flattened tensor.

    ary (tensor_like): Any tensor of numbers.
    to_end, to_begin (tensor_like): The elements behind the differences and before them; cast to the
        dtype of ``ary``, which must be of the same kind.
    returns: A vector of the dtype of ``ary``, as :func:`numpy.ediff1d` gives.
    example: [1, 2, 4, 7], to_begin=-9 -> [-9,  1,  2,  3]
    """
    x = ravel(as_tensor(ary))
    if x.dtype == "bool":
        raise TypeError(f"differences are of numbers; given {x.type}. Cast it first.")
    parts = [diff(x)]
    for given, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if given is not None:
            beside = ravel(as_tensor(given))
            if not np.can_cast(beside.type.numpy_dtype, x.type.numpy_dtype, "same_kind"):
                raise TypeError(f"{beside.type} cannot stand beside differences of {x.dtype}")
            parts.insert(place, as_tensor(beside, x.dtype))
    return concatenate(parts) if len(parts) > 1 else parts[0]


@described
def unwrap(
    p: TensorLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * pi
) -> Variable:
    """Return angles without jumps: no neighbour is farther away than half a period.

    p (tensor_like): Angles, in radians unless there is another ``period``.
    discont (number): Smaller jumps stay as they are; default: those below half a period.
    axis (int): The dimension.
    period (number): After which angles are the same.
    returns: Of the shape of ``p``, as :func:`numpy.unwrap` gives.
    example: [0.0, 3.0, -3.0] -> [0.        , 3.        , 3.28318531]
    """
    p = as_tensor(p)
    along = normalize_axis(axis, p.ndim)
    jumps = diff(p, axis=along)
    jumps = jumps + 0 * period  # of the dtype of the result
    whole = jumps.type.numpy_dtype.kind in "iu"
    half = period // 2 if whole else period / 2
    least = period / 2 if discont is None else discont
    rest = _core.elemwise(scalar.mod, jumps + half, period) - half
    if not whole or period % 2 == 0:
        # Half a period up stays up.
        up = _core.elemwise(scalar.and_, rest <= -half, jumps > 0)
        rest = _core.elemwise(scalar.where, up, half, rest)
    turned = _core.elemwise(scalar.where, abs(jumps) < least, 0, rest - jumps)
    behind = (*[slice(None)] * along, slice(1, None))
    moved = as_tensor(p, jumps.dtype)
    later = get_item(moved, behind)
    return set_subtensor(later, as_tensor(later + cumsum(turned, along), jumps.dtype))
