"""Reversing and rolling the order of elements, and differences of neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes, normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import LengthLike, as_length, length, lengths, literal, maximum, subtract
from frazil.tensor.reductions import Axis
from frazil.tensor.reshaping import ravel, reshape


@described
def flip(m: TensorLike, axis: Axis = None) -> Variable:
    """Return a view with the elements in reverse order.

    m (tensor_like): Any tensor.
    axis (int or tuple of int): The dimensions to reverse; default: all, as for :func:`numpy.flip`.
    returns: A view, of the type of ``m``.

    >>> ft.flip([[1, 2], [3, 4]], axis=1).eval()
    array([[2, 1],
           [4, 3]])
    """
    m = as_tensor(m)
    axes = normalize_axes(axis, m.ndim)
    backwards = slice(None, None, -1)
    return get_item(m, tuple(backwards if k in axes else slice(None) for k in range(m.ndim)))


@described
def roll(
    a: TensorLike, shift: LengthLike | Sequence[LengthLike], axis: int | Sequence[int] | None = None
) -> Variable:
    """Return a tensor with its elements moved along dimensions; those pushed out enter in front.

    a (tensor_like): Any tensor.
    shift (int, 0-d integer variable, or a sequence of them): The distance, for each of ``axis``;
        negative towards the front.
    axis (int or sequence of int): The dimensions; default: the flattened tensor, as for
        :func:`numpy.roll`.
    returns: Of the dtype and rank of ``a``.
    example: [1, 2, 3, 4], 1 -> [4, 1, 2, 3]
    """
    a = as_tensor(a)
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), lengths(a))
    axes = axis if is_sequence(axis) else [axis]
    shifts = shift if is_sequence(shift) else [shift] * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"given {len(shifts)} shifts for {len(axes)} axes")
    for one, by in zip(axes, shifts, strict=True):
        a = _roll(a, as_length(by), normalize_axis(one, a.ndim))
    return a


def _roll(a: Variable, shift: Variable, axis: int) -> Variable:
    own = length(a, axis)
    by = _core.elemwise(scalar.mod, shift, maximum(own, literal(1)))
    before = [slice(None)] * axis
    cut = subtract(own, by)
    parts = [get_item(a, (*before, slice(cut, None))), get_item(a, (*before, slice(None, cut)))]
    return concatenate(parts, axis)


def _beside(given: TensorLike, a: Variable, axis: int) -> Variable:
    """Return what joins ``a`` along ``axis``: a number as one element of each line."""
    beside = as_tensor(given)
    if beside.ndim:
        return beside
    shape = [*lengths(a)]
    shape[axis] = literal(1)
    return broadcast_to(beside, shape)


@described
def diff(
    a: TensorLike,
    n: int = 1,
    axis: int = -1,
    prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Variable:
    """Return the differences of neighbours along a dimension, taken ``n`` times.

    a (tensor_like): A tensor with dimensions.
    n (int): The number of times.
    axis (int): The dimension.
    prepend, append (tensor_like): Elements before ``a`` and behind it along ``axis``; a number
        stands for one element.
    returns: Shorter by ``n`` along ``axis``, as :func:`numpy.diff` gives; of bool, where they
        differ.
    example: [1.0, 4.0, 9.0] -> [3., 5.]
    """
    a = as_tensor(a)
    if n < 0:
        raise ValueError(f"n must not be negative; given {n}")
    axis = normalize_axis(axis, a.ndim)
    if n and not (prepend is None and append is None):
        around = (one if one is None else _beside(one, a, axis) for one in (prepend, append))
        before_it, behind_it = around
        parts = [one for one in (before_it, a, behind_it) if one is not None]
        a = concatenate(parts, axis)
    before = [slice(None)] * axis
    op = scalar.neq if a.dtype == "bool" else scalar.sub
    for _ in range(n):
        later, earlier = (get_item(a, (*before, part)) for part in (slice(1, None), slice(-1)))
        a = _core.elemwise(op, later, earlier)
    return a
