"""Tensors with at least so many dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like

OneOrMore: TypeAlias = Variable | tuple[Variable, ...]


@described
def atleast_1d(*tensors: TensorLike) -> OneOrMore:
    """Return tensors with one dimension at least: those without any have one of length 1.

    tensors (tensor_like): One or more.
    returns (Variable or tuple of Variable): A variable for one tensor, a tuple for several, as
        :func:`numpy.atleast_1d` gives.
    example: 3.0 -> [3.]
    """
    return _each(tensors, lambda x: x if x.ndim else expand_dims(x, 0))


@described
def atleast_2d(*tensors: TensorLike) -> OneOrMore:
    """Return tensors with two dimensions at least: vectors become one row.

    tensors (tensor_like): One or more.
    returns (Variable or tuple of Variable): A variable for one tensor, a tuple for several, as
        :func:`numpy.atleast_2d` gives.
    example: [1, 2] -> [[1, 2]]
    """
    return _each(tensors, lambda x: shape_padleft(x, max(0, 2 - x.ndim)))


@described
def atleast_3d(*tensors: TensorLike) -> OneOrMore:
    """Return tensors with three dimensions at least.

    tensors (tensor_like): One or more. A vector of length ``n`` becomes a tensor of shape ``(1, n,
        1)``, a matrix of shape ``(m, n)`` one of ``(m, n, 1)``.
    returns (Variable or tuple of Variable): A variable for one tensor, a tuple for several, as
        :func:`numpy.atleast_3d` gives.

    >>> ft.atleast_3d(ft.vector("x", shape=(4,))).type.shape
    (1, 4, 1)
    """
    added = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    return _each(tensors, lambda x: expand_dims(x, added.get(x.ndim, ())))


@described
def shape_padleft(t: TensorLike, n_ones: int = 1) -> Variable:
    """Return a view with dimensions of length 1 in front.

    t (tensor_like): Any tensor.
    n_ones (int): The number of dimensions to add.
    returns: Of the dtype of ``t``.
    example: [1, 2] -> [[1, 2]]
    """
    return expand_dims(t, tuple(range(_added(n_ones))))


@described_like(shape_padleft)
def shape_padright(t: TensorLike, n_ones: int = 1) -> Variable:
    """Return a view with dimensions of length 1 behind.

    returns: Of the dtype of ``t``.

    >>> ft.shape_padright([1, 2]).eval()
    array([[1],
           [2]])
    """
    t = as_tensor(t)
    return expand_dims(t, tuple(range(t.ndim, t.ndim + _added(n_ones))))


@described
def shape_padaxis(t: TensorLike, axis: int) -> Variable:
    """Return a view with a dimension of length 1 at ``axis``.

    t (tensor_like): Any tensor.
    axis (int): The position of the new dimension in the result.
    returns: Of the dtype of ``t``.

    >>> ft.shape_padaxis([1, 2], -1).eval()
    array([[1],
           [2]])
    """
    t = as_tensor(t)
    return expand_dims(t, normalize_axis(axis, t.ndim + 1))


@described
def atleast_Nd(arry: TensorLike, *, n: int = 1, left: bool = True) -> Variable:
    """Return a view with at least ``n`` dimensions.

    arry (tensor_like): Any tensor.
    n (int): The number of dimensions.
    left (bool): Whether dimensions of length 1 are added in front; else behind.
    returns: Of the dtype of ``arry``.
    example: [1, 2], n=2 -> [[1, 2]]
    """
    x = as_tensor(arry)
    missing = max(n - x.ndim, 0)
    return shape_padleft(x, missing) if left else shape_padright(x, missing)


def _each(tensors: tuple[TensorLike, ...], change: Callable[[Variable], Variable]) -> OneOrMore:
    changed = tuple(change(as_tensor(x)) for x in tensors)
    return changed[0] if len(changed) == 1 else changed


def _added(n_ones: int) -> int:
    if n_ones < 0:
        raise ValueError(f"n_ones must not be negative; given {n_ones}")
    return n_ones
