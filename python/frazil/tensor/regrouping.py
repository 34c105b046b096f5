"""Dimensions that are taken apart, and that become one."""

from __future__ import annotations

from collections.abc import Iterable

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import LengthLike, as_lengths, length, lengths, literal, product
from frazil.tensor.reshaping import reshape


@described
def split_dims(x: TensorLike, shape: LengthLike | Iterable[LengthLike], axis: int = 0) -> Variable:
    """Return ``x`` with several dimensions in place of one.

    x (tensor_like): Any tensor with dimensions.
    shape (int, 0-d integer variable, or a sequence of them): The new lengths, whose product is the
        old one; one may be -1. None of them drops a dimension of length 1.
    axis (int): The dimension that is taken apart.
    returns: The elements in their order.

    >>> ft.split_dims([1, 2, 3, 4, 5, 6], (2, 3)).eval()
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim)
    own = lengths(x)
    return reshape(x, (*own[:axis], *as_lengths(shape), *own[axis + 1 :]))


@described
def join_dims(x: TensorLike, start_axis: int = 0, n_axes: int | None = None) -> Variable:
    """Return ``x`` with one dimension in place of several that follow each other.

    x (tensor_like): Any tensor.
    start_axis (int): The first of the dimensions.
    n_axes (int): The number of dimensions; default: all that follow. 0 puts in a dimension of
        length 1.
    returns: The elements in their order.
    raises ValueError: If there are not so many dimensions.
    example: [[[1, 2], [3, 4]]], 1 -> [[1, 2, 3, 4]]
    """
    x = as_tensor(x)
    start = start_axis if start_axis == x.ndim else normalize_axis(start_axis, x.ndim)
    count = x.ndim - start if n_axes is None else n_axes
    if not 0 <= count <= x.ndim - start:
        raise ValueError(f"{count} dimensions from {start} on are not among those of {x.type}")
    own = lengths(x)
    joined = product(length(x, axis) for axis in range(start, start + count))
    return reshape(x, (*own[:start], joined if count else literal(1), *own[start + count :]))
