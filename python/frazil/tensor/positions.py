"""Positions of elements: of extremes, of those that are not zero, among sorted ones, as numbers."""

from __future__ import annotations

import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.declarations import specify_shape
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate, stack
from frazil.tensor.lengths import LengthLike, as_length, length, lengths
from frazil.tensor.ranges import arange
from frazil.tensor.reductions import max
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.searching import argmax, nonzero
from frazil.tensor.sorting import argsort


@described
def max_and_argmax(
    a: TensorLike, axis: int | None = None, keepdims: bool = False
) -> tuple[Variable, Variable]:
    """Return the largest elements along a dimension, and their positions.

    a (tensor_like): Any tensor with elements.
    axis (int): The dimension; default: the flattened tensor.
    keepdims (bool): Keep the dimension, with length 1.
    returns (tuple of Variable): What :func:`max` and :func:`argmax` give.

    >>> largest, where = ft.max_and_argmax([3.0, 7.0, 5.0])
    >>> largest.eval(), where.eval()
    (array(7.), array(1))
    """
    return max(a, axis, keepdims), argmax(a, axis, keepdims)


@described
def argwhere(a: TensorLike) -> Variable:
    """Return the positions of the elements that are not zero, one in each row.

    a (tensor_like): Any tensor.
    returns: A matrix of int64, as :func:`numpy.argwhere` gives.

    >>> ft.argwhere([[0, 5], [7, 0]]).eval()
    array([[0, 1],
           [1, 0]])
    """
    a = as_tensor(a)
    if a.ndim == 0:
        return get_item(argwhere(expand_dims(a, 0)), (slice(None), slice(0, 0)))
    return stack(nonzero(a), 1)


@described
def one_hot(
    x: TensorLike, num_classes: LengthLike, axis: int = -1, dtype: npt.DTypeLike = "float64"
) -> Variable:
    """Return for each number a vector that is 1 at the position of that number, and 0 elsewhere.

    x (tensor_like): Integers; where one is not in 0 to ``num_classes - 1``, the vector is 0.
    num_classes (int or 0-d integer variable): The length of the vectors.
    axis (int): The dimension of the result that they are in.
    dtype (dtype_like): Data type of the result.
    returns: With a dimension more than ``x``.

    >>> ft.one_hot([0, 2], 3).eval()
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    x = as_tensor(x)
    if x.type.numpy_dtype.kind not in "iu":
        raise TypeError(f"one_hot takes integers; given {x.type}")
    place = normalize_axis(axis, x.ndim + 1)
    classes = expand_dims(
        arange(as_length(num_classes)), [k for k in range(x.ndim + 1) if k != place]
    )
    hot = _core.elemwise(scalar.eq, expand_dims(x, place), classes)
    return as_tensor(hot, dtype)


@described
def to_one_hot(y: TensorLike, nb_class: LengthLike, dtype: npt.DTypeLike = "float64") -> Variable:
    """Return :func:`one_hot` of a vector, under PyTensor's name.

    y (tensor_like): A vector of integers.
    nb_class (int or 0-d integer variable): The number of columns.
    dtype (dtype_like): Data type of the result.
    returns: A matrix with a row for each number.
    example: [1], 3 -> [[0., 1., 0.]]
    """
    return one_hot(y, nb_class, -1, dtype)


@described
def searchsorted(
    a: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None
) -> Variable:
    """Return where elements belong in a sorted vector.

    Both are sorted together, in time ``n log(n)`` of their lengths in sum.

    a (tensor_like): A sorted vector.
    v (tensor_like): The values to put in.
    side ({"left", "right"}): Whether before or behind the elements that are equal.
    sorter (tensor_like): The positions that sort ``a``, where it is not sorted.
    returns: Of int64 and the shape of ``v``, as :func:`numpy.searchsorted` gives.
    example: [1.0, 2.0, 3.0], [0.0, 2.0, 5.0] -> [0, 1, 3]
    """
    a, v = as_tensor(a), as_tensor(v)
    if a.ndim != 1:
        raise ValueError(f"searchsorted looks in a vector; given {a.type}")
    if sorter is not None:
        a = get_item(a, specify_shape(sorter, lengths(a)))
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right'; given {side!r}")
    wanted = ravel(v)
    count = length(wanted, 0)
    # Sorting is stable: of equal elements, those that stand in front stay there.
    if side == "left":
        ranks = get_item(_ranks(concatenate([wanted, a])), slice(None, count))
    else:
        ranks = get_item(_ranks(concatenate([a, wanted])), slice(length(a, 0), None))
    return reshape(ranks - _ranks(wanted), lengths(v))


def _ranks(x: Variable) -> Variable:
    """Return the position that each element has when they are sorted."""
    return argsort(argsort(x))
