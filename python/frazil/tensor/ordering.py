"""Orders of several keys, of rows, and around one place."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axis
from frazil.tensor.checks import Check, checked
from frazil.tensor.creation import zeros
from frazil.tensor.cumulation import cumsum
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths, literal, minimum, product, static_length
from frazil.tensor.realness import imag, real
from frazil.tensor.reshaping import reshape
from frazil.tensor.sorting import argsort, sort
from frazil.tensor.splitting import unstack
from frazil.tensor.taking import put_along_axis, take_along_axis

_MOST_HALVINGS = 40
"""Halving so often leaves one column of as many as fit into memory."""


@described
def lexsort(keys: TensorLike | Sequence[TensorLike], axis: int = -1) -> Variable:
    """Return the positions that sort by several keys; the last one counts most.

    keys (sequence of tensor_like, or tensor_like): Tensors of one shape; a tensor is a sequence of
        the parts along its first dimension, whose length must be static.
    axis (int): The dimension to sort along.
    returns: Of int64, as :func:`numpy.lexsort` gives: where all keys are equal, elements keep their
        order.
    example: [[9, 4, 0], [1, 5, 1]] -> [2, 0, 1]
    """
    if is_sequence(keys):
        several = [as_tensor(key) for key in keys]
    else:
        several = list(unstack(as_tensor(keys)))
    if not several:
        raise TypeError("lexsort takes one key or more")
    along = normalize_axis(axis, several[0].ndim)
    order = argsort(several[0], along)
    for key in several[1:]:
        if key.ndim != order.ndim:
            raise ValueError(f"keys have one shape; given {several[0].type} and {key.type}")
        finer = argsort(take_along_axis(key, order, along), along)
        order = take_along_axis(order, finer, along)
    return order


@described
def partition(a: TensorLike, kth: int | Sequence[int], axis: int | None = -1) -> Variable:
    """Return the elements in an order where some places hold what sorting would put there.

    a (tensor_like): Any tensor with dimensions.
    kth (int or sequence of int): The places. No element before one is larger, and none behind it
        smaller.
    axis (int or None): The dimension; None takes the flattened tensor.
    returns: What :func:`sort` gives, which is one of the orders that :func:`numpy.partition` may
        give.
    example: [3.0, 1.0, 2.0], 1 -> [1., 2., 3.]
    """
    return sort(_with_places(as_tensor(a), kth, axis), axis)


@described_like(partition)
def argpartition(a: TensorLike, kth: int | Sequence[int], axis: int | None = -1) -> Variable:
    """Return the positions of the elements so that those at given places are as sorted.

    returns: What :func:`argsort` gives, which is one of the orders that :func:`numpy.argpartition`
        may give.
    example: [3.0, 1.0, 2.0], 1 -> [1, 2, 0]
    """
    return argsort(_with_places(as_tensor(a), kth, axis), axis)


def _with_places(a: Variable, kth: int | Sequence[int], axis: int | None) -> Variable:
    """Return ``a``, which is checked to have the places along ``axis``."""
    axis = axis_of_any(axis, a.ndim)
    whole = product(lengths(a)) if axis is None else length(a, normalize_axis(axis, a.ndim))
    size = static_length(whole)
    needed = 0
    for place in np.atleast_1d(np.asarray(kth)).tolist():
        if not isinstance(place, int):
            raise TypeError(f"places are ints; given {kth!r}")
        if size is not None and not -size <= place < size:
            raise ValueError(f"the place {place} is not in a dimension of {size} elements")
        needed = builtins.max(needed, place + 1, -place)
    if size is not None:
        return a
    fits = _core.elemwise(scalar.le, needed, whole)
    return checked(a, [fits], Check(f"a place of {kth} is not in the dimension"))


def order_of_rows(x: Variable) -> Variable:
    """Return the positions that sort the parts along the first dimension, as wholes.

    The first element counts most, NaN comes last, and equal parts keep their order. Columns become
    ranks, and then pairs of columns, until there is one.
    """
    count = length(x, 0)
    rows = reshape(x, (count, product(lengths(x)[1:])))
    width = static_length(length(rows, 1))
    if not width:  # a column of equal numbers changes nothing
        ranks = concatenate([_ranks(rows), zeros((count, 1), "int64")], 1)
    else:
        ranks = _ranks(rows)
    for _ in range(_MOST_HALVINGS if width is None else max(width - 1, 0).bit_length()):
        filled = concatenate([ranks, zeros((count, 1), "int64")], 1)
        left, right = (
            get_item(part, (slice(None), slice(start, None, 2)))
            for part, start in ((ranks, 0), (filled, 1))
        )
        ranks = _ranks(left * count + right)
    return argsort(get_item(ranks, (slice(None), 0)))


def _differs(later: Variable, earlier: Variable) -> Variable:
    """Return whether elements are others than those before them in order; all NaN are equal."""
    if later.type.numpy_dtype.kind == "c":  # beside a NaN, the other part has an order
        by_part = (_differs(part(later), part(earlier)) for part in (real, imag))
        return _core.elemwise(scalar.or_, *by_part)
    differs = _core.elemwise(scalar.neq, later, earlier)
    if later.type.numpy_dtype.kind != "f":
        return differs
    numbers = _core.elemwise(scalar.eq, earlier, earlier)
    return _core.elemwise(scalar.and_, differs, numbers)


def _ranks(x: Variable) -> Variable:
    """Return how many smaller values each column has for each element; all NaN are equal."""
    order = argsort(x, 0)
    ordered = take_along_axis(x, order, 0)
    later, earlier = get_item(ordered, slice(1, None)), get_item(ordered, slice(None, -1))
    differs = _differs(later, earlier)
    first = zeros((minimum(length(x, 0), literal(1)), length(x, 1)), "int64")
    ranks = cumsum(concatenate([first, as_tensor(differs, "int64")], 0), 0)
    return put_along_axis(zeros(lengths(x), "int64"), order, ranks, 0)
