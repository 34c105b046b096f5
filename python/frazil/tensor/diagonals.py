"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.axes import normalize_axis
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    add,
    as_length,
    lengths,
    literal,
    maximum,
    minimum,
    static_length,
    static_shape,
    subtract,
)
from frazil.tensor.ranges import ARange
from frazil.tensor.reductions import sum
from frazil.tensor.transposition import permute_dims

_FARTHEST = 2**62
"""The largest offset of diagonals that are told apart; those beyond have no elements, either."""


@dataclass(frozen=True, eq=False)
class ExtractDiag(Op):
    """The diagonal over the last two dimensions of ``x``, ``offset`` above the main one, as the
    last dimension; a view.
    """

    takes_complex = True

    offset: int
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: Variable) -> FrozenApply:
        if x.ndim < 2:
            raise ValueError(f"only matrices have diagonals; given {x.type}. Use ft.diag.")
        rows, columns = x.type.shape[-2:]
        length = None
        if rows is not None and columns is not None:
            length = static_length(_diagonal_length(literal(rows), literal(columns), self.offset))
        return FrozenApply(self, [x], [TensorType(x.dtype, (*x.type.shape[:-2], length))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (x,) = inputs
        near = min(max(self.offset, -x.shape[-2]), x.shape[-1])  # NumPy takes no 64 bits
        return (np.diagonal(x, near, -2, -1),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        *stack, rows, columns = input_shapes[0]
        return ((*stack, _diagonal_length(rows, columns, self.offset)),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (x,), (g,) = inputs, output_gradients
        return [AllocDiag(self.offset)(g, *lengths(x)[-2:])]


@dataclass(frozen=True, eq=False)
class AllocDiag(Op):
    """Matrices with the last dimension of ``x`` as their diagonal, ``offset`` above the main one,
    and zeros elsewhere. The other operands are the numbers of rows and of columns.
    """

    takes_complex = True

    offset: int

    def make_node(self, x: Variable, rows: Variable, columns: Variable) -> FrozenApply:
        if x.ndim < 1:
            raise ValueError(f"a diagonal has one dimension at least; given {x.type}")
        shape = static_shape((rows, columns))
        wanted = static_length(_diagonal_length(rows, columns, self.offset))
        if None not in (wanted, x.type.shape[-1]) and wanted != x.type.shape[-1]:
            raise ValueError(
                f"the diagonal of a matrix of shape {shape} at offset {self.offset} has {wanted} "
                f"elements; given {x.type}"
            )
        static = (*x.type.shape[:-1], *shape)
        return FrozenApply(self, [x, rows, columns], [TensorType(x.dtype, static)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, rows, columns = inputs
        result = np.zeros((*x.shape[:-1], int(rows), int(columns)), dtype=x.dtype)
        length = min(int(rows) + min(self.offset, 0), int(columns) - max(self.offset, 0))
        if max(length, 0) != x.shape[-1]:
            raise ValueError(
                f"the diagonal of a matrix of shape {result.shape[-2:]} at offset {self.offset} "
                f"has {max(length, 0)} elements; given {x.shape[-1]}"
            )
        steps = np.arange(x.shape[-1])
        result[..., steps - min(self.offset, 0), steps + max(self.offset, 0)] = x
        return (result,)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return ((*input_shapes[0][:-1], *node.inputs[1:]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [ExtractDiag(self.offset)(output_gradients[0]), None, None]


@dataclass(frozen=True, eq=False)
class Eye(Op):
    """The matrix with ones on the diagonal that is ``offset`` above the main one, and zeros
    elsewhere. The operands are the numbers of rows and of columns.
    """

    takes_complex = True

    offset: int
    dtype: str

    def make_node(self, rows: Variable, columns: Variable) -> FrozenApply:
        shape = static_shape((rows, columns))
        return FrozenApply(self, [rows, columns], [TensorType(self.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        rows, columns = (int(n) for n in inputs)
        return (np.eye(rows, columns, self.offset, dtype=self.dtype),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (node.inputs,)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None, None]


@described
def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Return a diagonal of matrices.

    x (tensor_like): A tensor with two dimensions or more.
    offset (int): The offset of the diagonal: positive above the main one, negative below.
    axis1, axis2 (int): The dimensions that the rows and the columns of the matrices are in.
    returns: With the diagonal as the last dimension, as :func:`numpy.diagonal` gives.
    example: [[1, 2], [3, 4]] -> [1, 4]
    """
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"only matrices have diagonals; given {x.type}. Use ft.diag.")
    first, second = normalize_axis(axis1, x.ndim), normalize_axis(axis2, x.ndim)
    if first == second:
        raise ValueError(f"axis1 and axis2 must differ; both are {axis1}")
    rest = [axis for axis in range(x.ndim) if axis not in (first, second)]
    taken: Variable = ExtractDiag(_as_offset(offset))(permute_dims(x, [*rest, first, second]))
    return taken


@described
def diag(v: TensorLike, k: int = 0) -> Variable:
    """Return the matrix with a vector as its diagonal, or the diagonal of a matrix.

    v (tensor_like): A vector or a matrix.
    k (int): The offset of the diagonal: positive above the main one, negative below.
    returns: A square matrix for a vector and a vector for a matrix, as :func:`numpy.diag` gives.

    >>> ft.diag([1, 2]).eval()
    array([[1, 0],
           [0, 2]])
    >>> ft.diag([[1, 2], [3, 4]], 1).eval()
    array([2])
    """
    v = as_tensor(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix; given {v.type}. Use ft.diagonal.")
    side = add(lengths(v)[0], literal(abs(_as_offset(k))))
    matrix: Variable = AllocDiag(k)(v, side, side)
    return matrix


@described_like(diagonal)
def trace(
    x: TensorLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: npt.DTypeLike | None = None,
) -> Variable:
    """Return the sum of a diagonal.

    dtype (dtype_like): The dtype to sum in; default as for :func:`sum`.
    returns: As :func:`numpy.trace` gives.
    example: [[1.0, 2.0], [3.0, 4.0]] -> 5.
    """
    return sum(diagonal(x, offset, axis1, axis2), -1, dtype=dtype)


def _sizes(rows: LengthLike, columns: LengthLike | None) -> tuple[Variable, Variable]:
    """The numbers of rows and columns of a matrix, which is square if only one is given."""
    length = as_length(rows)
    return length, length if columns is None else as_length(columns)


@described
def eye(
    n: LengthLike, m: LengthLike | None = None, k: int = 0, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the matrix with ones on a diagonal and zeros elsewhere.

    n (int or 0-d integer variable): The number of rows.
    m (int or 0-d integer variable): The number of columns; as many as rows by default.
    k (int): The offset of the diagonal: positive above the main one, negative below.
    dtype (dtype_like): The dtype of the result, by default float64, as for :func:`numpy.eye`.
    returns: A matrix of that dtype, with ``n`` rows and ``m`` columns.

    >>> ft.eye(2).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    matrix: Variable = Eye(_as_offset(k), np.dtype(dtype).name)(*_sizes(n, m))
    return matrix


@described
def identity_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return the identity matrix of the shape of a matrix.

    x (tensor_like): Gives the shape, and the dtype unless that is given.
    dtype (dtype_like): Data type of the result.
    returns: A matrix with ones on its main diagonal and zeros elsewhere.

    >>> ft.identity_like([[5.0, 6.0], [7.0, 8.0]]).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    x = as_tensor(x)
    if x.ndim != 2:
        raise ValueError(f"identity_like takes a matrix; given {x.type}")
    rows, columns = lengths(x)
    return eye(rows, columns, dtype=x.dtype if dtype is None else dtype)


@described_like(eye)
def tri(
    N: LengthLike, M: LengthLike | None = None, k: int = 0, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the matrix with ones on and below a diagonal and zeros above.

    N (int or 0-d integer variable): The number of rows.
    M (int or 0-d integer variable): The number of columns; as many as rows by default.
    returns: A matrix of that dtype, with ``N`` rows and ``M`` columns.

    >>> ft.tri(2).eval()
    array([[1., 0.],
           [1., 1.]])
    """
    return as_tensor(_below(*_sizes(N, M), _as_offset(k)), np.dtype(dtype))


@described
def tril(m: TensorLike, k: int = 0) -> Variable:
    """Return matrices with zeros above a diagonal.

    m (tensor_like): A tensor with dimensions; the last two are the matrices. A vector is each row
        of one.
    k (int): The offset of the diagonal: positive above the main one, negative below.
    returns: As :func:`numpy.tril` gives.

    >>> ft.tril([[1, 2], [3, 4]]).eval()
    array([[1, 0],
           [3, 4]])
    """
    m, rows, columns = _with_sides(m, "tril")
    kept = _below(rows, columns, _as_offset(k))
    return _core.elemwise(scalar.where, kept, m, constant(0, m.dtype))


@described_like(tril)
def triu(m: TensorLike, k: int = 0) -> Variable:
    """Return matrices with zeros below a diagonal.

    returns: As :func:`numpy.triu` gives.

    >>> ft.triu([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [0, 4]])
    """
    m, rows, columns = _with_sides(m, "triu")
    below = _below(rows, columns, _as_offset(k) - 1)
    return _core.elemwise(scalar.where, below, constant(0, m.dtype), m)


def _below(rows: Variable, columns: Variable, offset: int) -> Variable:
    """Return which elements of a matrix are on or below a diagonal."""
    zero, one = literal(0), literal(1)
    row = expand_dims(ARange("int64")(zero, rows, one), 1)
    return _core.elemwise(scalar.ge, row, ARange("int64")(zero, columns, one) - offset)


def _diagonal_length(rows: Variable, columns: Variable, offset: int) -> Variable:
    if offset < 0:
        rows = subtract(rows, literal(-offset))
    elif offset > 0:
        columns = subtract(columns, literal(offset))
    shorter = minimum(rows, columns)
    return maximum(shorter, literal(0)) if offset else shorter


def _as_offset(offset: int) -> int:
    if isinstance(offset, bool | np.bool_) or not isinstance(offset, int | np.integer):
        raise TypeError(f"the offset of a diagonal must be an integer; given {offset!r}")
    return min(max(int(offset), -_FARTHEST), _FARTHEST)


def _with_sides(m: TensorLike, name: str) -> tuple[Variable, Variable, Variable]:
    """Return a tensor, and how many rows and columns its matrices have."""
    m = as_tensor(m)
    if not m.ndim:
        raise ValueError(f"{name} takes what has dimensions; given {m.type}")
    sides = lengths(m)[-2:]
    return m, sides[0], sides[-1]
