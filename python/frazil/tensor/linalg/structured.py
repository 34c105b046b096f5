"""Matrices whose elements repeat those of a few vectors, and products of their columns."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros_like
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths
from frazil.tensor.linalg.general import solve
from frazil.tensor.ranges import arange
from frazil.tensor.realness import conj
from frazil.tensor.reshaping import reshape


@described
def toeplitz(c: TensorLike, r: TensorLike | None = None) -> Variable:
    """Return matrices whose diagonals are constant.

    c (tensor_like): Their first columns, of shape ``(..., m)``.
    r (tensor_like): Their first rows, of shape ``(..., n)``, with the lengths of ``c`` in front;
        the first element is not read. By default the conjugate of ``c``.
    returns: Of shape ``(..., m, n)``, as :func:`scipy.linalg.toeplitz` gives.

    >>> ft.linalg.toeplitz([1, 2, 3], [1, 4, 5]).eval()
    array([[1, 4, 5],
           [2, 1, 4],
           [3, 2, 1]])
    """
    column = _vectors(c, "toeplitz")
    row = conj(column) if r is None else _vectors(r, "toeplitz")
    rows, columns = length(column, column.ndim - 1), length(row, row.ndim - 1)
    values = _joined(get_item(column, (..., slice(None, None, -1))), row)
    return _picked(values, arange(rows)[::-1], arange(columns))


@described
def hankel(c: TensorLike, r: TensorLike | None = None) -> Variable:
    """Return matrices that are constant along the other diagonals, those from right to left.

    c (tensor_like): Their first columns, of shape ``(..., m)``.
    r (tensor_like): Their last rows, of shape ``(..., n)``, with the lengths of ``c`` in front; the
        first element is not read. By default zeros, as many as ``c`` has elements.
    returns: Of shape ``(..., m, n)``, as :func:`scipy.linalg.hankel` gives.

    >>> ft.linalg.hankel([1, 2, 3], [3, 4]).eval()
    array([[1, 2],
           [2, 3],
           [3, 4]])
    """
    column = _vectors(c, "hankel")
    row = zeros_like(column) if r is None else _vectors(r, "hankel")
    rows, columns = length(column, column.ndim - 1), length(row, row.ndim - 1)
    return _picked(_joined(column, row), arange(rows), arange(columns))


@described
def circulant(c: TensorLike) -> Variable:
    """Return matrices in which each column is the one before it, moved down by one.

    c (tensor_like): Their first columns, of shape ``(..., n)``.
    returns: Of shape ``(..., n, n)``, as :func:`scipy.linalg.circulant` gives.

    >>> ft.linalg.circulant([1, 2, 3]).eval()
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    column = _vectors(c, "circulant")
    return toeplitz(column, concatenate([_first(column), _backwards(column)], -1))


@described
def solve_toeplitz(
    c_or_cr: TensorLike | tuple[TensorLike, TensorLike], b: TensorLike, *, b_ndim: int | None = None
) -> Variable:
    """Return the solution of a system of equations whose matrix has constant diagonals.

    c_or_cr (tensor_like or tuple of two): The arguments of :func:`toeplitz`: the first column, or
        that and the first row.
    b (tensor_like): The right side: a vector, or matrices of shape ``(..., m, n)``.
    b_ndim ({1, 2}): Whether ``b`` has vectors of shape ``(..., m)`` or matrices. By default it has
        matrices unless it is one vector.
    returns: As :func:`scipy.linalg.solve_toeplitz` gives, by :func:`solve` of the whole matrix.
        That takes more time than the recursion of Levinson where there are thousands of rows, and
        has smaller errors.
    raises numpy.linalg.LinAlgError: During a call, if the matrix is singular.
    example: ([2.0, 1.0], [2.0, 0.0]), [2.0, 5.0] -> [1., 2.]
    """
    matrix = toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)
    return solve(matrix, b, b_ndim=b_ndim)


@described
def khatri_rao(a: TensorLike, b: TensorLike) -> Variable:
    """Return Kronecker's product of each column of one matrix and that of another.

    a, b (tensor_like): Matrices of shapes ``(..., m, k)`` and ``(..., n, k)``. The dimensions in
        front broadcast.
    returns: Of shape ``(..., m * n, k)``, as :func:`scipy.linalg.khatri_rao` gives.

    >>> ft.linalg.khatri_rao([[1, 2], [3, 4]], [[1, 10]]).eval()
    array([[ 1, 20],
           [ 3, 40]])
    """
    first, second = as_tensor(a), as_tensor(b)
    for matrix in (first, second):
        if matrix.ndim < 2:
            raise ValueError(f"khatri_rao takes matrices; given {matrix.type}")
    counts = [one.type.shape[-1] for one in (first, second)]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(
            "khatri_rao takes matrices with equally many columns; "
            f"given {first.type} and {second.type}"
        )
    products = _core.elemwise(scalar.mul, expand_dims(first, -2), expand_dims(second, -3))
    *front, _, _, columns = lengths(products)
    rows = length(first, first.ndim - 2) * length(second, second.ndim - 2)
    return reshape(products, (*front, rows, columns))


def _vectors(x: TensorLike, name: str) -> Variable:
    """Return ``x``, which has a dimension at least."""
    values = as_tensor(x)
    if values.ndim < 1:
        raise ValueError(f"{name} takes a vector, or a stack of them; given {values.type}")
    return values


def _first(x: Variable) -> Variable:
    return get_item(x, (..., slice(None, 1)))


def _backwards(x: Variable) -> Variable:
    """Return all elements but the first, the last one first."""
    return get_item(x, (..., slice(None, 0, -1)))


def _joined(first: Variable, second: Variable) -> Variable:
    """Return the elements of both but for the first one of ``second``."""
    return concatenate([first, get_item(second, (..., slice(1, None)))], -1)


def _picked(values: Variable, rows: Variable, columns: Variable) -> Variable:
    """Return matrices whose elements have the place that is the sum of two."""
    return get_item(values, (..., expand_dims(rows, 1) + columns))
