"""Joining tensors as columns, as rows and in depth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.joining import concatenate, vstack
from frazil.tensor.ranks import atleast_3d

concat = concatenate
row_stack = vstack


@described
def column_stack(tup: Iterable[TensorLike]) -> Variable:
    """Return the tensors side by side as columns: joined along the second dimension.

    tup (iterable of tensor_like): Vectors, which become columns, or matrices of as many rows.
    returns: Of the dtype that the tensors promote to, as :func:`numpy.column_stack` gives.

    >>> ft.column_stack([[1, 2], [3, 4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    columns = []
    for x in _several(tup, "column_stack"):
        missing = tuple(range(x.ndim, 2)) if x.ndim else (0, 1)
        columns.append(expand_dims(x, missing))
    return concatenate(columns, 1)


@described
def dstack(tup: Iterable[TensorLike]) -> Variable:
    """Return the tensors one behind the other: joined along the third dimension.

    tup (iterable of tensor_like): Tensors, which get three dimensions as by :func:`atleast_3d`.
    returns: Of the dtype that the tensors promote to, as :func:`numpy.dstack` gives.

    >>> ft.dstack([[1, 2], [3, 4]]).eval()
    array([[[1, 3],
            [2, 4]]])
    """
    deep = [atleast_3d(x) for x in _several(tup, "dstack")]
    return concatenate([x for x in deep if isinstance(x, Variable)], 2)


def _several(tup: Iterable[TensorLike], name: str) -> list[Variable]:
    if isinstance(tup, Variable):
        raise TypeError(f"{name} takes a sequence of tensors; given one variable, {tup}")
    return [as_tensor(x) for x in tup]


@described
def horizontal_stack(*args: TensorLike) -> Variable:
    """Return matrices side by side.

    args (tensor_like): Two matrices or more.
    returns: Joined along the second dimension.

    >>> ft.horizontal_stack([[1], [2]], [[3], [4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    return concatenate(_matrices(args, "horizontal_stack"), 1)


@described
def vertical_stack(*args: TensorLike) -> Variable:
    """Return matrices one below the other.

    args (tensor_like): Two matrices or more.
    returns: Joined along the first dimension.

    >>> ft.vertical_stack([[1, 2]], [[3, 4]]).eval()
    array([[1, 2],
           [3, 4]])
    """
    return concatenate(_matrices(args, "vertical_stack"), 0)


def _matrices(args: Iterable[TensorLike], name: str) -> list[Variable]:
    tensors = [as_tensor(x) for x in args]
    if len(tensors) < 2 or any(x.ndim != 2 for x in tensors):
        given = ", ".join(str(x.type) for x in tensors)
        raise ValueError(f"{name} takes two matrices or more; given {given}")
    return tensors


@described
def block(arrays: object) -> Variable:
    """Return a tensor made of blocks, given by lists in lists as they lie side by side.

    arrays (tensor_like, or list of lists of them): The innermost lists are joined along the last
        dimension, those around them along the one before it, and so on. All tensors lie in equally
        many lists.
    returns: Of the dtype that the tensors promote to, as :func:`numpy.block` gives.

    >>> ft.block([[ft.eye(2), ft.zeros((2, 1))], [ft.ones((1, 3))]]).eval()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 1.]])
    """
    depths: set[int] = set()
    parts = _blocks(arrays, 0, depths)
    if len(depths) > 1:
        raise ValueError(f"block takes tensors in equally many lists; given {sorted(depths)}")
    (depth,) = depths
    ndim = max(depth, *(part.ndim for part in parts), 0)
    return _joined(arrays, ndim - depth, ndim)


def _blocks(arrays: Any, depth: int, depths: set[int]) -> list[Variable]:
    if isinstance(arrays, tuple):
        raise TypeError("block takes lists, not tuples, so that what is a tensor is plain")
    if not isinstance(arrays, list):
        depths.add(depth)
        return [as_tensor(arrays)]
    if not arrays:
        raise ValueError("a list of blocks is empty")
    return [part for one in arrays for part in _blocks(one, depth + 1, depths)]


def _joined(arrays: Any, axis: int, ndim: int) -> Variable:
    """Return the blocks, of ``ndim`` dimensions; a list is joined along ``axis``."""
    if isinstance(arrays, list):
        return concatenate([_joined(one, axis + 1, ndim) for one in arrays], axis)
    x = as_tensor(arrays)
    return expand_dims(x, tuple(range(ndim - x.ndim)))
