"""Diagonals and traces of stacks of matrices, whose matrices are in the last two dimensions."""

from __future__ import annotations

import numpy.typing as npt

from frazil._core import Variable
from frazil.scalar.constants import TensorLike
from frazil.tensor import diagonals
from frazil.tensor.docstrings import described


@described
def diagonal(x: TensorLike, *, offset: int = 0) -> Variable:
    """Return the diagonals of matrices.

    x (tensor_like): Matrices of shape ``(..., m, n)``.
    offset (int): The offset of the diagonal: above the main one if positive, else below.
    returns: As :func:`numpy.linalg.diagonal` gives. ``ft.diagonal`` takes the first two dimensions.

    >>> ft.linalg.diagonal([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]).eval()
    array([[1, 4],
           [5, 8]])
    """
    return diagonals.diagonal(x, offset, -2, -1)


@described
def trace(x: TensorLike, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return the sums along the diagonals of matrices.

    x (tensor_like): Matrices of shape ``(..., m, n)``.
    offset (int): The diagonal, as for :func:`diagonal`.
    dtype (dtype_like): The dtype to sum in; default as for :func:`sum`.
    returns: As :func:`numpy.linalg.trace` gives. ``ft.trace`` takes the first two dimensions.
    example: [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] -> [ 5, 13]
    """
    return diagonals.trace(x, offset, -2, -1, dtype)
