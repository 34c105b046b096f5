"""Distinct elements, and whether others are among them."""

from __future__ import annotations

import builtins
import functools
from functools import partial
from typing import cast

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.creation import ones, zeros
from frazil.tensor.cumulation import cumsum
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item, set_subtensor
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths, literal, minimum, static_length
from frazil.tensor.ordering import order_of_rows
from frazil.tensor.positions import searchsorted
from frazil.tensor.rearranging import diff
from frazil.tensor.reductions import any
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.searching import nonzero
from frazil.tensor.sorting import argsort, sort
from frazil.tensor.taking import take
from frazil.tensor.transposition import moveaxis

MAX_COMPARED = 32
"""The most others of a declared number that an element is compared with one by one."""

NARROW = ("bool", "int8", "uint8", "int16", "uint16")
"""The dtypes that have a table of all their numbers."""


@described
def isin(
    element: TensorLike,
    test_elements: TensorLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Variable:
    """Return for each element whether it is among others.

    element (tensor_like): Any tensor.
    test_elements (tensor_like): The others. If their types say that they are few, they are compared
        one by one.
    assume_unique (bool): Accepted because NumPy does; the result is the same.
    invert (bool): Return whether it is not.
    kind ({None, "sort", "table"}): Accepted because NumPy does; the result is the same.
    returns: Of bool and the shape of ``element``, as :func:`numpy.isin` gives.
    example: [1, 2, 3], [3, 1] -> [ True, False,  True]
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"kind must be None, 'sort' or 'table'; given {kind!r}")
    x, others = as_tensor(element), ravel(as_tensor(test_elements))
    dtype = _core.promote(x.dtype, others.dtype)
    x, others = as_tensor(x, dtype), as_tensor(others, dtype)
    number = static_length(length(others, 0))
    if number is not None and 0 < number <= MAX_COMPARED:
        found = _is_one_of(x, [get_item(others, k) for k in range(number)])
    elif dtype in NARROW:
        found = _stands_in_table(x, others, dtype)
    else:
        found = _stands_in_order(x, others, dtype)
    return _core.elemwise(scalar.invert, found) if invert else found


def _is_one_of(x: Variable, others: list[Variable]) -> Variable:
    """Compare with each."""
    found = [_core.elemwise(scalar.eq, x, other) for other in others]
    return functools.reduce(partial(_core.elemwise, scalar.or_), found)


def _stands_in_table(x: Variable, others: Variable, dtype: str) -> Variable:
    """Look into a table of all numbers of the dtype."""
    first = 0 if dtype == "bool" else int(np.iinfo(dtype).min)

    def places(numbers: Variable) -> Variable:
        return _core.elemwise(scalar.sub, as_tensor(numbers, "int64"), literal(first))

    nothing = zeros(1 << 8 * np.dtype(dtype).itemsize, "bool")
    return take(set_subtensor(get_item(nothing, places(others)), True), places(x))


def _stands_in_order(x: Variable, others: Variable, dtype: str) -> Variable:
    """Search in the sorted others."""
    # One element more, so that the place of what is above all others is in bounds.
    ordered = concatenate([sort(others), zeros(1, dtype)])
    at = searchsorted(get_item(ordered, slice(None, -1)), x)
    is_within = _core.elemwise(scalar.lt, at, length(others, 0))
    equal = _core.elemwise(scalar.eq, take(ordered, at), x)
    return _core.elemwise(scalar.and_, is_within, equal)


@described
def unique(
    ar: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Variable | tuple[Variable, ...]:
    """Return the sorted elements, each once.

    ar (tensor_like): Any tensor, which is flattened unless there is an ``axis``.
    return_index (bool): Also return where each stands first.
    return_inverse (bool): Also return which of them each element is, in the shape of ``ar``; with
        an ``axis`` a vector.
    return_counts (bool): Also return how often each occurs.
    axis (int): The dimension whose parts are compared as a whole; a matrix has rows for 0, columns
        for 1.
    equal_nan (bool): Whether all NaN are one; of complex ones it is that which comes first in
        order. Parts along an ``axis`` that have one differ from all others.
    returns (Variable, or tuple of Variable): As :func:`numpy.unique` gives. Only a call knows their
        number.

    >>> ft.unique([3, 1, 3, 2]).eval()
    array([1, 2, 3])
    >>> ft.unique([[1, 0], [0, 1], [1, 0]], axis=0).eval()
    array([[0, 1],
           [1, 0]])
    """
    ar = as_tensor(ar)
    if axis is None:
        x = ravel(ar)
        order, along = argsort(x), 0
    else:
        along = normalize_axis(axis, ar.ndim)
        x = moveaxis(ar, along, 0)
        order = order_of_rows(x)
    ordered = take(x, order, 0)
    n = length(x, 0)
    differs = _differs_from_last(ordered, equal_nan and axis is None)
    first = concatenate([ones(minimum(n, literal(1)), "bool"), differs])
    (at,) = nonzero(first)
    found = [moveaxis(get_item(ordered, at), 0, along)]
    if return_index:
        found.append(get_item(order, at))
    if return_inverse:
        number = cumsum(as_tensor(first, "int64")) - 1
        inverse = set_subtensor(get_item(zeros(n, "int64"), order), number)
        found.append(reshape(inverse, lengths(ar)) if axis is None else inverse)
    if return_counts:
        found.append(diff(concatenate([at, reshape(n, (1,))])))
    return found[0] if len(found) == 1 else tuple(found)


@described
def unique_values(x: TensorLike) -> Variable:
    """Return the sorted distinct elements; each NaN is one of its own.

    x (tensor_like): Any tensor.
    returns: A vector, as :func:`numpy.unique_values` gives in some order.
    example: [3, 1, 3] -> [1, 3]
    """
    return cast("Variable", unique(x, equal_nan=False))


@described
def unique_counts(x: TensorLike) -> tuple[Variable, Variable]:
    """Return the sorted distinct elements, and how often each is there.

    x (tensor_like): Any tensor; each NaN is one of its own.
    returns (tuple of Variable): Two vectors, as :func:`numpy.unique_counts` gives.

    >>> values, counts = ft.unique_counts([3, 1, 3])
    >>> counts.eval()
    array([1, 2])
    """
    values, counts = unique(x, return_counts=True, equal_nan=False)
    return values, counts


@described
def unique_inverse(x: TensorLike) -> tuple[Variable, Variable]:
    """Return the sorted distinct elements, and for each element where it is among them.

    x (tensor_like): Any tensor; each NaN is one of its own.
    returns (tuple of Variable): A vector, and int64 positions of the shape of ``x``, as
        :func:`numpy.unique_inverse` gives.

    >>> values, places = ft.unique_inverse([3, 1, 3])
    >>> places.eval()
    array([1, 0, 1])
    """
    values, places = unique(x, return_inverse=True, equal_nan=False)
    return values, places


@described
def unique_all(x: TensorLike) -> tuple[Variable, ...]:
    """Return the sorted distinct elements, and all that :func:`unique` tells of them.

    x (tensor_like): Any tensor; each NaN is one of its own.
    returns (tuple of Variable): The elements, where each is first, for each element of ``x`` where
        it is among them, and how often each is there, as :func:`numpy.unique_all` gives.

    >>> values, first, places, counts = ft.unique_all([3, 1, 3])
    >>> first.eval()
    array([1, 0])
    """
    return tuple(unique(x, True, True, True, equal_nan=False))


def _differs_from_last(ordered: Variable, equal_nan: bool) -> Variable:
    """Return for each element but the first, or row, whether it is not the one before it."""
    later, earlier = get_item(ordered, slice(1, None)), get_item(ordered, slice(None, -1))
    differs = _core.elemwise(scalar.neq, later, earlier)
    if equal_nan and ordered.type.numpy_dtype.kind in "fc":
        both = (_core.elemwise(scalar.isnan, one) for one in (later, earlier))
        known = _core.elemwise(scalar.invert, _core.elemwise(scalar.and_, *both))
        differs = _core.elemwise(scalar.and_, differs, known)
    return any(differs, tuple(range(1, ordered.ndim))) if ordered.ndim > 1 else differs


@described
def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Variable:
    """Return whether two tensors have one shape and equal elements.

    a1, a2 (tensor_like): Any tensors; lengths that no type knows must be equal, or the call
        raises ValueError.
    equal_nan (bool): Whether NaN is equal to NaN.
    returns: A bool without dimensions.
    example: [1, 2], [1, 2] -> True
    """
    a, b = as_tensor(a1), as_tensor(a2)
    known = zip(a.type.shape, b.type.shape, strict=False)
    if a.ndim != b.ndim or builtins.any(None not in (n, m) and n != m for n, m in known):
        return as_tensor(False)
    same = _core.elemwise(scalar.eq, a, b)
    if equal_nan:
        both = (_core.elemwise(scalar.neq, one, one) for one in (a, b))
        same = _core.elemwise(scalar.or_, same, _core.elemwise(scalar.and_, *both))
    return same.all()


@described
def array_equiv(a1: TensorLike, a2: TensorLike) -> Variable:
    """Return whether two tensors have equal elements when they are broadcast.

    a1, a2 (tensor_like): Any tensors; lengths that no type knows must be equal, or the call
        raises ValueError.
    returns: A bool without dimensions, as :func:`numpy.array_equiv` gives.
    example: [1, 2], [[1, 2], [1, 2]] -> True
    """
    a, b = as_tensor(a1), as_tensor(a2)
    known = zip(a.type.shape[::-1], b.type.shape[::-1], strict=False)
    if builtins.any(n != m and not {None, 1} & {n, m} for n, m in known):
        return as_tensor(False)
    return _core.elemwise(scalar.eq, a, b).all()
