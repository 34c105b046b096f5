"""Sparse matrices: products, sums and gradients by the elements that are stored.

A sparse matrix is no variable. It holds variables: the stored elements, and the row and the column
of each. So it has gradients, batches and kernels as any graph has, and needs no op of its own:
a product gathers what the columns say, multiplies, and adds to what the rows say, in one loop.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np

import frazil._core as _core
from frazil._core import Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros
from frazil.tensor.declarations import specify_shape
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.elementwise.casting import cast
from frazil.tensor.elementwise.table import add, divide, multiply, negative, subtract
from frazil.tensor.index_syntax import get_item, inc_subtensor
from frazil.tensor.joining import concatenate
from frazil.tensor.reductions import as_accumulator, sum
from frazil.tensor.transposition import matrix_transpose

__all__ = ["CSC", "CSR", "SparseMatrix", "as_sparse", "issparse"]


def __dir__() -> list[str]:
    return __all__


SparseLike: TypeAlias = Any
"""A :class:`SparseMatrix`, or one of SciPy's sparse arrays or matrices."""

Integers: TypeAlias = Array | Sequence[int]


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix that stores some elements; the others are 0.

    :func:`as_sparse` makes one of SciPy's, :func:`CSR` and :func:`CSC` of parts. Elements that
    are stored at the same place are added.

    Attributes
    ----------
    data : Variable
        The elements that are stored, a vector.
    rows, columns : Variable
        The row and the column of each, int64 vectors.
    shape : tuple of int
        The number of rows and of columns.
    """

    data: Variable
    rows: Variable
    columns: Variable
    shape: tuple[int, int]

    __array_ufunc__ = None  # NumPy's arrays give way: operators are those below

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions: 2."""
        return 2

    @property
    def nnz(self) -> Variable:
        """The number of elements that are stored."""
        return self.data.shape[0]

    @property
    def T(self) -> SparseMatrix:
        """The matrix with rows and columns swapped."""
        return SparseMatrix(self.data, self.columns, self.rows, self.shape[::-1])

    def transpose(self) -> SparseMatrix:
        """Return the matrix with rows and columns swapped."""
        return self.T

    def astype(self, dtype: str) -> SparseMatrix:
        """Return the matrix with elements of another dtype."""
        return self._with(cast(self.data, dtype))

    def toarray(self) -> Variable:
        """Return the matrix with all its elements.

        Examples
        --------
        >>> import frazil.tensor as ft
        >>> ft.sparse.CSR([5.0, 7.0], [1, 0], [0, 1, 2], (2, 2)).toarray().eval()
        array([[0., 5.],
               [7., 0.]])
        """
        full = zeros(self.shape, dtype=self.dtype)
        return inc_subtensor(get_item(full, (self.rows, self.columns)), self.data)

    todense = toarray

    def sum(self, axis: int | None = None) -> Variable:
        """Return the sum of all elements, of each column (axis 0) or of each row (axis 1)."""
        if axis is None:
            return sum(self.data)
        if axis not in (0, 1, -1, -2):
            raise np.exceptions.AxisError(axis, 2)
        places, count = (
            (self.columns, self.shape[1]) if axis % 2 == 0 else (self.rows, self.shape[0])
        )
        data = as_accumulator(self.data, None)
        return inc_subtensor(get_item(zeros(count, dtype=data.dtype), places), data)

    def __matmul__(self, other: TensorLike) -> Variable:
        """Return the product with a vector or a matrix."""
        if issparse(other):
            raise TypeError(
                "two sparse matrices have no product here; write a.toarray() @ b, or multiply "
                "SciPy's before they meet variables"
            )
        x = as_tensor(other)
        if x.ndim not in (1, 2):
            raise TypeError(f"a sparse matrix times a vector or a matrix; given {x.type}")
        dtype = _core.promote(self.dtype, x.dtype)
        x = _of_length(cast(x, dtype), self.shape[1], f"{self} @ {x.type}")
        data = cast(self.data, dtype)
        data = expand_dims(data, 1) if x.ndim == 2 else data
        products = multiply(data, get_item(x, self.columns))
        empty = zeros((self.shape[0], *x.shape[1:]), dtype=dtype)
        return inc_subtensor(get_item(empty, self.rows), products)

    def __rmatmul__(self, other: TensorLike) -> Variable:
        """Return the product of a vector or a matrix with this one."""
        x = as_tensor(other)
        if x.ndim not in (1, 2):
            raise TypeError(f"a vector or a matrix times a sparse matrix; given {x.type}")
        return matrix_transpose(self.T @ matrix_transpose(x)) if x.ndim == 2 else self.T @ x

    dot = __matmul__

    def __mul__(self, other: TensorLike) -> SparseMatrix:
        """Return the product of elements: with a number, a row, a column or a matrix."""
        return self._with(multiply(self.data, self._beside(other, "*")))

    __rmul__ = multiply = __mul__

    def __truediv__(self, other: TensorLike) -> SparseMatrix:
        """Return the quotients of elements; those that are not stored stay 0."""
        return self._with(divide(self.data, self._beside(other, "/")))

    def __neg__(self) -> SparseMatrix:
        return self._with(negative(self.data))

    def __add__(self, other: SparseLike) -> SparseMatrix | Variable:
        """Return the sum: a sparse matrix with another one, else a variable."""
        if not issparse(other):
            return add(self.toarray(), other)
        own = as_sparse(other)
        if own.shape != self.shape:
            raise ValueError(f"matrices of shapes {self.shape} and {own.shape} have no sum")
        dtype = _core.promote(self.dtype, own.dtype)
        return SparseMatrix(
            concatenate([cast(self.data, dtype), cast(own.data, dtype)]),
            concatenate([self.rows, own.rows]),
            concatenate([self.columns, own.columns]),
            self.shape,
        )

    __radd__ = __add__

    def __sub__(self, other: SparseLike) -> SparseMatrix | Variable:
        """Return the difference, as for sums."""
        if not issparse(other):
            return subtract(self.toarray(), other)
        own = as_sparse(other)
        # Only in the dtype of the difference do unsigned integers have their negatives.
        return self + -own.astype(_core.promote(self.dtype, own.dtype))

    def __rsub__(self, other: SparseLike) -> SparseMatrix | Variable:
        return as_sparse(other) - self if issparse(other) else subtract(other, self.toarray())

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise TypeError: the elements that are not stored would all be made."""
        raise TypeError(f"{self} is sparse; write .toarray() for a matrix with all its elements")

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"SparseMatrix({self.dtype}[{rows}, {columns}])"

    def _with(self, data: Variable) -> SparseMatrix:
        return SparseMatrix(data, self.rows, self.columns, self.shape)

    def _beside(self, other: TensorLike, sign: str) -> TensorLike:
        """The elements of another operand at the places that are stored here."""
        if isinstance(other, (int, float, complex)):
            return other  # a number of Python's takes the dtype that it meets
        if issparse(other):
            raise TypeError(
                f"sparse {sign} sparse is not there; write a {sign} b.toarray(), which looks at "
                "the elements that a stores"
            )
        x = as_tensor(other)
        if x.ndim > 2:
            raise TypeError(
                f"a sparse matrix {sign} a number, a vector or a matrix; given {x.type}"
            )
        if x.ndim == 0:
            return x
        matrix = x if x.ndim == 2 else expand_dims(x, 0)
        wide = [n != 1 for n in matrix.type.shape]
        lengths = [n if w else 1 for n, w in zip(self.shape, wide, strict=True)]
        matrix = specify_shape(matrix, lengths)
        index = [p if w else 0 for p, w in zip((self.rows, self.columns), wide, strict=True)]
        return get_item(matrix, tuple(index))


def _of_length(x: Variable, length: int, what: str) -> Variable:
    """``x`` with this many rows, which a run checks where the type does not say it."""
    known = x.type.shape[0]
    if known is not None and known != length:
        raise ValueError(f"shapes do not match in {what}: {known} rows where {length} are expected")
    return specify_shape(x, (length, *[None] * (x.ndim - 1)))


@described
def issparse(value: object) -> bool:
    """Return whether a value is a sparse matrix, frazil's or SciPy's.

    value (object): Anything.
    returns (bool): True for a :class:`SparseMatrix` and for all of SciPy's formats.

    >>> import numpy as np
    >>> import scipy.sparse
    >>> import frazil.tensor as ft
    >>> ft.sparse.issparse(scipy.sparse.csr_array(np.eye(2))), ft.sparse.issparse(np.eye(2))
    (True, False)
    """
    if isinstance(value, SparseMatrix):
        return True
    scipys = sys.modules.get("scipy.sparse")
    return scipys is not None and scipys.issparse(value)


@described
def as_sparse(value: SparseLike) -> SparseMatrix:
    """Return a sparse matrix of SciPy's as one whose elements may stand in graphs.

    value (sparse array or matrix of SciPy's, or SparseMatrix): Of two dimensions and any format.
        Its elements become constants.
    returns (SparseMatrix): ``value`` itself if it is one.
    raises TypeError: If it is not sparse, or has not two dimensions.

    >>> import numpy as np
    >>> import scipy.sparse
    >>> import frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> product = ft.sparse.as_sparse(scipy.sparse.csr_array([[0, 2.0], [3.0, 0]])) @ x
    >>> product.eval({x: [1.0, 10.0]})
    array([20.,  3.])
    """
    if isinstance(value, SparseMatrix):
        return value
    if not issparse(value) or value.ndim != 2:
        raise TypeError(
            f"expected a sparse matrix of SciPy's with two dimensions; given {type(value).__name__}"
        )
    places = value.tocoo()
    rows, columns = (np.asarray(p, "int64") for p in (places.row, places.col))
    shape = (int(value.shape[0]), int(value.shape[1]))
    return SparseMatrix(as_tensor(places.data), as_tensor(rows), as_tensor(columns), shape)


@described
def CSR(  # the name that PyTensor has
    data: TensorLike, indices: Integers, indptr: Integers, shape: Sequence[int]
) -> SparseMatrix:
    """Return a sparse matrix of the elements of its rows, one row after the other.

    data (tensor_like): The elements that are stored, a vector; gradients go to it.
    indices (array_like of int): The column of each.
    indptr (array_like of int): The start of each row in ``data``, then the end of the last row: one
        more than rows.
    shape (tuple of int): The number of rows and of columns.
    returns (SparseMatrix): With these elements.
    raises ValueError: If ``indptr`` does not begin at 0 or goes down, a column is not there, or the
        lengths do not fit. A run checks the length of ``data`` where its type does not say it.

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> data = ft.vector("data")
    >>> matrix = ft.sparse.CSR(data, [0, 2, 1], [0, 2, 3], (2, 3))
    >>> cost = ft.sum((matrix @ [1.0, 2.0, 3.0]) ** 2)
    >>> fz.grad(cost, data).eval({data: [1.0, 1.0, 1.0]})
    array([ 8., 24.,  8.])
    """
    return _compressed(data, indices, indptr, shape, "CSR")


@described_like(CSR)
def CSC(  # the name that PyTensor has
    data: TensorLike, indices: Integers, indptr: Integers, shape: Sequence[int]
) -> SparseMatrix:
    """Return a sparse matrix of the elements of its columns, one column after the other.

    indices (array_like of int): The row of each.
    indptr (array_like of int): The start of each column in ``data``, then the end of the last: one
        more than columns.
    returns (SparseMatrix): With these elements.
    raises ValueError: As :func:`CSR`.

    >>> ft.sparse.CSC([5.0, 7.0], [1, 0], [0, 1, 2], (2, 2)).toarray().eval()
    array([[0., 7.],
           [5., 0.]])
    """
    return _compressed(data, indices, indptr, shape, "CSC")


def _compressed(
    data: TensorLike,
    indices: Integers,
    indptr: Integers,
    shape: Sequence[int],
    name: Literal["CSR", "CSC"],
) -> SparseMatrix:
    lines, others = (int(n) for n in (shape if name == "CSR" else tuple(shape)[::-1]))
    places, ends = (
        _integers(x, what, name) for x, what in ((indices, "indices"), (indptr, "indptr"))
    )
    if len(ends) != lines + 1 or ends[0] != 0 or (np.diff(ends) < 0).any():
        raise ValueError(
            f"indptr of {name} begins at 0, never goes down and has {lines + 1} numbers for shape "
            f"{tuple(shape)}; given {_shortened(ends)}"
        )
    if len(places) != ends[-1]:
        raise ValueError(
            f"indptr of {name} ends at {ends[-1]}, and there are {len(places)} indices"
        )
    wrong = (places < 0) | (places >= others)
    if wrong.any():
        raise ValueError(
            f"index {places[wrong][0]} of {name} is not there: it is between 0 and {others - 1}"
        )
    elements = as_tensor(data)
    if elements.ndim != 1:
        raise TypeError(f"data of {name} is a vector; given {elements.type}")
    elements = _of_length(elements, len(places), f"data of {name}")
    which = as_tensor(np.repeat(np.arange(lines), np.diff(ends)))
    rows, columns = (which, as_tensor(places))[:: 1 if name == "CSR" else -1]
    return SparseMatrix(elements, rows, columns, (int(shape[0]), int(shape[1])))


def _integers(x: Integers, what: str, name: str) -> Array:
    array = np.asarray(x)
    if array.size == 0:
        array = array.astype("int64")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{what} of {name} is a vector of integers; given {array.dtype} of shape {array.shape}"
        )
    return array.astype("int64")


def _shortened(numbers: Array) -> str:
    return np.array2string(numbers, threshold=8)
