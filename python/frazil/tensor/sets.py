"""Vectors as sets, and elements where a condition holds: only a call knows how many there are."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import ones
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, literal, minimum
from frazil.tensor.membership import isin, unique
from frazil.tensor.reshaping import ravel
from frazil.tensor.searching import flatnonzero
from frazil.tensor.sorting import argsort, sort
from frazil.tensor.taking import take


@described
def union1d(ar1: TensorLike, ar2: TensorLike) -> Variable:
    """Return the elements that are in one of two tensors, or in both: sorted, each once.

    ar1, ar2 (tensor_like): Any tensors, which are flattened.
    returns: A vector, as :func:`numpy.union1d` gives.
    example: [3, 1], [2, 3] -> [1, 2, 3]
    """
    return _distinct(concatenate([ravel(as_tensor(ar1)), ravel(as_tensor(ar2))]))


@described
def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False, return_indices: bool = False
) -> Variable | tuple[Variable, Variable, Variable]:
    """Return the elements that are in both of two tensors: sorted, each once.

    ar1, ar2 (tensor_like): Any tensors, which are flattened. No NaN is in both.
    assume_unique (bool): Whether each has no element twice, which saves sorting them.
    return_indices (bool): Also return where each stands first in either tensor, flattened.
    returns (Variable, or tuple of Variable): Vectors, as :func:`numpy.intersect1d` gives.
    example: [3, 1, 2], [2, 3, 5] -> [2, 3]
    """
    first, second = ravel(as_tensor(ar1)), ravel(as_tensor(ar2))
    if not assume_unique:
        (first, place1), (second, place2) = (_with_places(one) for one in (first, second))
    both = concatenate([first, second])
    order = argsort(both)
    ordered = take(both, order)
    same = flatnonzero(_equals_next(ordered))
    found = get_item(ordered, same)
    if not return_indices:
        return found
    # Sorting is stable: of two equal elements, the first tensor's comes first.
    at1 = get_item(order, same)
    at2 = get_item(get_item(order, slice(1, None)), same) - length(first, 0)
    if assume_unique:
        return found, at1, at2
    return found, get_item(place1, at1), get_item(place2, at2)


@described
def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Variable:
    """Return the elements that are in the first of two tensors alone.

    ar1, ar2 (tensor_like): Any tensors, which are flattened. A NaN is in no other tensor.
    assume_unique (bool): Whether each has no element twice; the result is then in the order of
        ``ar1``.
    returns: A vector, sorted and each element once, as :func:`numpy.setdiff1d` gives.
    example: [3, 1, 2, 1], [2, 5] -> [1, 3]
    """
    first = ravel(as_tensor(ar1)) if assume_unique else _distinct(as_tensor(ar1))
    return take(first, flatnonzero(isin(first, ar2, invert=True)))


@described
def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Variable:
    """Return the elements that are in just one of two tensors: sorted, each once.

    ar1, ar2 (tensor_like): Any tensors, which are flattened. A NaN is in no other tensor.
    assume_unique (bool): Whether each has no element twice, which saves sorting them.
    returns: A vector, as :func:`numpy.setxor1d` gives.
    example: [3, 1, 2], [2, 5] -> [1, 3, 5]
    """
    first, second = ravel(as_tensor(ar1)), ravel(as_tensor(ar2))
    if not assume_unique:
        first, second = _distinct(first), _distinct(second)
    ordered = sort(concatenate([first, second]))
    differs = _core.elemwise(scalar.invert, _equals_next(ordered))
    end = ones(minimum(length(ordered, 0), literal(1)), "bool")
    before, behind = concatenate([end, differs]), concatenate([differs, end])
    return take(ordered, flatnonzero(_core.elemwise(scalar.and_, before, behind)))


def _distinct(x: Variable) -> Variable:
    found = unique(x)
    assert isinstance(found, Variable)
    return found


def _with_places(x: Variable) -> tuple[Variable, Variable]:
    values, places = unique(x, return_index=True)
    return values, places


def _equals_next(ordered: Variable) -> Variable:
    later, earlier = get_item(ordered, slice(1, None)), get_item(ordered, slice(None, -1))
    return _core.elemwise(scalar.eq, later, earlier)


@described
def compress(condition: TensorLike, a: TensorLike, axis: int | None = None) -> Variable:
    """Return the parts of a tensor where a condition holds.

    condition (tensor_like): A vector of bool, not longer than the dimension.
    a (tensor_like): Any tensor.
    axis (int): The dimension; default: of the flattened tensor.
    returns: As :func:`numpy.compress` gives. Only a call knows their number.

    >>> ft.compress([True, False, True], [[1, 2, 3], [4, 5, 6]], axis=1).eval()
    array([[1, 3],
           [4, 6]])
    """
    wanted = as_tensor(condition)
    if wanted.ndim != 1:
        raise ValueError(f"the condition is a vector; given {wanted.type}")
    return take(as_tensor(a), flatnonzero(wanted), axis)


@described
def extract(condition: TensorLike, arr: TensorLike) -> Variable:
    """Return the elements of a tensor where a condition holds, as a vector.

    condition (tensor_like): Of bool, with as many elements as ``arr``.
    arr (tensor_like): Any tensor.
    returns: As :func:`numpy.extract` gives. Only a call knows their number.
    example: [[True, False], [False, True]], [[1, 2], [3, 4]] -> [1, 4]
    """
    return take(ravel(as_tensor(arr)), flatnonzero(as_tensor(condition)), 0)
