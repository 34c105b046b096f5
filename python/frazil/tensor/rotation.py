"""Matrices mirrored and turned."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described
from frazil.tensor.rearranging import flip
from frazil.tensor.transposition import swapaxes


@described
def fliplr(m: TensorLike) -> Variable:
    """Return a view with the columns in reverse order.

    m (tensor_like): A tensor of two dimensions or more; its second dimension is reversed.
    returns: Of the type of ``m``, as :func:`numpy.fliplr` gives.

    >>> ft.fliplr([[1, 2], [3, 4]]).eval()
    array([[2, 1],
           [4, 3]])
    """
    return _flipped("fliplr", m, 1, "tensors of 2 dimensions or more")


@described
def flipud(m: TensorLike) -> Variable:
    """Return a view with the rows in reverse order.

    m (tensor_like): A tensor with dimensions; the first is reversed.
    returns: Of the type of ``m``, as :func:`numpy.flipud` gives.

    >>> ft.flipud([[1, 2], [3, 4]]).eval()
    array([[3, 4],
           [1, 2]])
    """
    return _flipped("flipud", m, 0, "tensors with dimensions")


def _flipped(name: str, m: TensorLike, axis: int, taken: str) -> Variable:
    m = as_tensor(m)
    if m.ndim <= axis:
        raise ValueError(f"{name} takes {taken}; given {m.type}")
    return flip(m, axis)


@described
def rot90(m: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Variable:
    """Return a view turned by a right angle, ``k`` times.

    m (tensor_like): A tensor of two dimensions or more.
    k (int): The number of turns; negative numbers turn the other way.
    axes (pair of int): The dimensions of the plane; it is turned from the first towards the second.
    returns: Of the dtype of ``m``, as :func:`numpy.rot90` gives.

    >>> ft.rot90([[1, 2], [3, 4]]).eval()
    array([[2, 4],
           [1, 3]])
    """
    m = as_tensor(m)
    if len(axes) != 2:
        raise ValueError(f"axes must name two dimensions; given {tuple(axes)}")
    first, second = (normalize_axis(axis, m.ndim) for axis in axes)
    if first == second:
        raise ValueError(f"axes must name two dimensions that differ; given {tuple(axes)}")
    match index(k) % 4:
        case 1:
            return swapaxes(flip(m, second), first, second)
        case 2:
            return flip(m, (first, second))
        case 3:
            return flip(swapaxes(m, first, second), second)
    return m
