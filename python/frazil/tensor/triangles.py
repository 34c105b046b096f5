"""Positions in triangles, diagonals that are replaced, and matrices of powers."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.checks import Check, checked
from frazil.tensor.cumulation import cumprod
from frazil.tensor.diagonals import AllocDiag, diag, diagonal, tri
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.elementwise.choice import where
from frazil.tensor.elementwise.table import logical_not
from frazil.tensor.lengths import (
    LengthLike,
    add,
    as_length,
    length,
    lengths,
    literal,
    static_length,
)
from frazil.tensor.ranges import arange
from frazil.tensor.rearranging import flip
from frazil.tensor.reshaping import ravel
from frazil.tensor.searching import nonzero
from frazil.tensor.taking import take
from frazil.tensor.transposition import moveaxis


@described
def tril_indices(n: LengthLike, k: int = 0, m: LengthLike | None = None) -> tuple[Variable, ...]:
    """Return the positions of the elements of a matrix on and below a diagonal.

    n (int or 0-d integer variable): The number of rows.
    k (int): The offset of the diagonal: positive above the main one, negative below.
    m (int or 0-d integer variable): The number of columns; default: as many as rows.
    returns (tuple of Variable): The rows and the columns, int64 vectors, as
        :func:`numpy.tril_indices` gives; constants where ``n`` and ``m`` are known.

    >>> rows, columns = ft.tril_indices(2)
    >>> rows.eval(), columns.eval()
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _indices(n, n if m is None else m, k, below=True)


@described_like(tril_indices)
def triu_indices(n: LengthLike, k: int = 0, m: LengthLike | None = None) -> tuple[Variable, ...]:
    """Return the positions of the elements of a matrix on and above a diagonal.

    returns (tuple of Variable): The rows and the columns, int64 vectors, as
        :func:`numpy.triu_indices` gives.

    >>> rows, columns = ft.triu_indices(2)
    >>> rows.eval(), columns.eval()
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _indices(n, n if m is None else m, k, below=False)


@described
def tril_indices_from(arr: TensorLike, k: int = 0) -> tuple[Variable, ...]:
    """Return the positions of the elements of ``arr`` on and below a diagonal.

    arr (tensor_like): A matrix.
    k (int): The offset of the diagonal: positive above the main one, negative below.
    returns (tuple of Variable): The rows and the columns, as :func:`tril_indices` gives.

    >>> x = ft.constant([[1, 2], [3, 4]])
    >>> x[ft.tril_indices_from(x)].eval()
    array([1, 3, 4])
    """
    rows, columns = lengths(_matrix(arr, "tril_indices_from"))
    return tril_indices(rows, k, columns)


@described_like(tril_indices_from)
def triu_indices_from(arr: TensorLike, k: int = 0) -> tuple[Variable, ...]:
    """Return the positions of the elements of ``arr`` on and above a diagonal.

    returns (tuple of Variable): The rows and the columns, as :func:`triu_indices` gives.

    >>> [indices.eval() for indices in ft.triu_indices_from([[1, 2], [3, 4]])]
    [array([0, 0, 1]), array([0, 1, 1])]
    """
    rows, columns = lengths(_matrix(arr, "triu_indices_from"))
    return triu_indices(rows, k, columns)


@described
def diag_indices(n: LengthLike, ndim: int = 2) -> tuple[Variable, ...]:
    """Return the positions of the main diagonal of a tensor whose dimensions are equally long.

    n (int or 0-d integer variable): The length of each dimension.
    ndim (int): The number of its dimensions.
    returns (tuple of Variable): An int64 vector for each dimension, as :func:`numpy.diag_indices`
        gives.

    >>> x = ft.constant([[1, 2], [3, 4]])
    >>> x[ft.diag_indices(2)].eval()
    array([1, 4])
    """
    return (arange(as_length(n)),) * ndim


@described
def diag_indices_from(arr: TensorLike) -> tuple[Variable, ...]:
    """Return the positions of the main diagonal of ``arr``.

    arr (tensor_like): A tensor of two dimensions or more, all of one length.
    returns (tuple of Variable): An int64 vector for each dimension, as :func:`diag_indices` gives.
        A call raises ValueError where the lengths differ.

    >>> x = ft.constant([[1, 2], [3, 4]])
    >>> x[ft.diag_indices_from(x)].eval()
    array([1, 4])
    """
    arr = as_tensor(arr)
    if arr.ndim < 2:
        raise ValueError(f"diagonals are of tensors of two dimensions or more; given {arr.type}")
    message = "a diagonal through all dimensions needs them to be equally long"
    if len({n for n in arr.type.shape if n is not None}) > 1:
        raise ValueError(f"{message}; given {arr.type}")
    first, *others = lengths(arr)
    same = [_core.elemwise(scalar.eq, first, other) for other in others]
    return diag_indices(checked(first, same, Check(message)), arr.ndim)


@described
def diagflat(v: TensorLike, k: int = 0) -> Variable:
    """Return a matrix with the elements of a tensor on a diagonal.

    v (tensor_like): Any tensor, which is flattened.
    k (int): The offset of the diagonal: positive above the main one, negative below.
    returns: A square matrix of the dtype of ``v``, as :func:`numpy.diagflat` gives.

    >>> ft.diagflat([[1, 2]], 1).eval()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return diag(ravel(as_tensor(v)), k)


@described
def fill_diagonal(a: TensorLike, val: TensorLike, wrap: bool = False) -> Variable:
    """Return a tensor with another value on its main diagonal.

    a (tensor_like): A matrix, or a tensor of more dimensions of one length. It stays as it is.
    val (tensor_like): The value, or several that are taken in turn; cast to the dtype of ``a``.
    wrap (bool): In a matrix with more rows than columns, go on below the square at its top: leave
        out one row, then begin another diagonal.
    returns: Of the type of ``a``, as :func:`numpy.fill_diagonal` leaves it.
    raises ValueError: If ``a`` has fewer than two dimensions, or more than two of different
        lengths; at the call if their lengths are not known before.

    >>> ft.fill_diagonal([[1, 2], [3, 4]], 0).eval()
    array([[0, 2],
           [3, 0]])
    """
    a, value = as_tensor(a), as_tensor(val)
    if a.ndim < 2:
        raise ValueError(f"fill_diagonal takes a tensor of two dimensions or more; given {a.type}")
    if a.ndim > 2:
        a = _with_equal_lengths(a)
    first, *others = lengths(a)
    rows = arange(first)
    behind = tuple(range(1, a.ndim))
    row, place = rows, rows
    if wrap and a.ndim == 2:
        # The last of each so many rows is left out.
        period = add(others[0], literal(1))
        row = _core.elemwise(scalar.mod, rows, period)
        place = _core.elemwise(scalar.sub, rows, _core.elemwise(scalar.floordiv, rows, period))
    row = expand_dims(row, behind)
    matched = [
        _core.elemwise(scalar.eq, row, expand_dims(arange(n), tuple(range(1, a.ndim - axis))))
        for axis, n in enumerate(others, 1)
    ]
    there = reduce(partial(_core.elemwise, scalar.and_), matched)
    if value.ndim:
        value = expand_dims(take(ravel(value), place, mode="wrap"), behind)
    return where(there, as_tensor(value, a.dtype), a)


def _with_equal_lengths(a: Variable) -> Variable:
    """Return ``a``, checked for dimensions of one length."""
    message = "fill_diagonal takes dimensions of one length where there are more than two"
    if len({n for n in a.type.shape if n is not None}) > 1:
        raise ValueError(f"{message}; given {a.type}")
    first, *others = lengths(a)
    equal = [_core.elemwise(scalar.eq, first, n) for n in others]
    return checked(a, equal, Check(message))


@described
def extract_diag(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Return a diagonal of matrices: :func:`diagonal` under PyTensor's name.

    x (tensor_like): A tensor with two dimensions or more.
    offset, axis1, axis2 (int): The diagonal, as for :func:`diagonal`.
    returns: With the diagonal as the last dimension.
    example: [[1, 2], [3, 4]] -> [1, 4]
    """
    return diagonal(x, offset, axis1, axis2)


@described
def alloc_diag(diag: TensorLike, axis1: int = 0, axis2: int = 1, offset: int = 0) -> Variable:
    """Return matrices with the last dimension of a tensor as diagonal, and zeros elsewhere.

    diag (tensor_like): A tensor with one dimension or more.
    axis1, axis2 (int): The dimensions of the result that the rows and the columns are in.
    offset (int): The offset of the diagonal: positive above the main one, negative below.
    returns: Of the dtype of ``diag``, with a dimension more, as PyTensor's ``alloc_diag`` gives.

    >>> ft.alloc_diag([1, 2]).eval()
    array([[1, 0],
           [0, 2]])
    """
    diag = as_tensor(diag)
    if diag.ndim == 0:
        raise ValueError(f"a diagonal has one dimension at least; given {diag.type}")
    first, second = (normalize_axis(axis, diag.ndim + 1) for axis in (axis1, axis2))
    if first == second:
        raise ValueError(f"axis1 and axis2 must differ; both are {axis1}")
    side = add(length(diag, diag.ndim - 1), literal(abs(offset)))
    matrices: Variable = AllocDiag(offset)(diag, side, side)
    return moveaxis(matrices, (-2, -1), (first, second))


@described
def vander(x: TensorLike, N: LengthLike | None = None, increasing: bool = False) -> Variable:
    """Return the matrix of the powers of the elements of a vector.

    x (tensor_like): A vector.
    N (int or 0-d integer variable): The number of powers; default: as many as elements.
    increasing (bool): Whether the powers increase from left to right.
    returns: A row for each element, of the dtype that ``x`` and int64 promote to, as
        :func:`numpy.vander` gives. The gradient is right at zero, too.

    >>> ft.vander([1, 2, 3]).eval()
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    x = as_tensor(x)
    if x.ndim != 1:
        raise ValueError(f"vander takes a vector; given {x.type}")
    x = as_tensor(x, _core.promote(x.dtype, "int64"))
    count = length(x, 0) if N is None else as_length(N)
    if (static_length(count) or 0) < 0:
        raise ValueError(f"the number of powers must not be negative; given {N}")
    column = expand_dims(x, 1)
    first = _core.elemwise(scalar.eq, arange(count), 0)
    factors = where(first, constant(1, x.dtype), broadcast_to(column, (length(x, 0), count)))
    powers = cumprod(factors, 1)
    return powers if increasing else flip(powers, 1)


def _indices(n: LengthLike, m: LengthLike, k: int, *, below: bool) -> tuple[Variable, ...]:
    rows, columns = as_length(n), as_length(m)
    height, width = static_length(rows), static_length(columns)
    if height is not None and width is not None:
        found = (np.tril_indices if below else np.triu_indices)(height, k, width)
        return tuple(constant(positions.astype("int64")) for positions in found)
    if below:
        return nonzero(tri(rows, columns, k, "bool"))
    return nonzero(logical_not(tri(rows, columns, k - 1, "bool")))


def _matrix(x: TensorLike, name: str) -> Variable:
    x = as_tensor(x)
    if x.ndim != 2:
        raise ValueError(f"{name} takes a matrix; given {x.type}")
    return x
