"""LU factors of matrices with any number of rows and columns, with pivoting of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros
from frazil.tensor.diagonals import eye, tril, triu
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.casting import astype
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import Lengths, length, minimum, static_length
from frazil.tensor.linalg.failure import MayFail, OnError
from frazil.tensor.linalg.lu import LUFactor
from frazil.tensor.linalg.matrices import as_floating, check_matrices, real_dtype
from frazil.tensor.linalg.stacks import for_each
from frazil.tensor.linalg.triangular import SolveTriangular
from frazil.tensor.products import matmul
from frazil.tensor.ranges import arange
from frazil.tensor.transposition import matrix_transpose


@dataclass(frozen=True, eq=False)
class PivotedLU(MayFail):
    """The LU factors of a matrix of any shape, with pivoting of rows.

    The first two outputs are those of :class:`LUFactor`; of rows and columns, those that are fewer
    have a pivot each. The third has the place of each row of the matrix in the product of the
    factors, as int64: ``(l @ u)[places]`` is the matrix. The gradient needs a matrix whose first
    columns, or rows, are linearly independent.
    """

    on_error: OnError = "raise"

    takes_complex = True

    def make_node(self, a: Variable) -> FrozenApply:
        self.check_on_error()
        check_matrices(a, "PivotedLU")
        *front, rows, columns = a.type.shape
        fewer = static_length(minimum(length(a, a.ndim - 2), length(a, a.ndim - 1)))
        types = [
            TensorType(a.dtype, (*front, rows, columns)),
            TensorType("int32", (*front, fewer)),
            TensorType("int64", (*front, rows)),
        ]
        return FrozenApply(self, [a], types)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (a,) = inputs
        rows, columns = a.shape[-2:]
        results = [
            ((rows, columns), a.dtype.name),
            ((min(rows, columns),), "int32"),
            ((rows,), "int64"),
        ]
        return for_each(self._factors, node, inputs, (2,), results)

    @staticmethod
    def _factors(a: Array) -> tuple[Array, ...]:
        factors, pivots = LUFactor.factors_of(a)
        places = np.arange(len(a))
        for row in reversed(range(len(pivots))):
            places[[row, pivots[row]]] = places[[pivots[row], row]]
        return factors, pivots, places

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths, Lengths]:
        (shape,) = input_shapes
        *front, rows, columns = shape
        return shape, (*front, minimum(rows, columns)), shape[:-1]

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # With the factors split where the square part ends, l = [l1; l2] and u = [u1, u2], one of
        # l2 and u2 has no elements. The gradient of [[l1 u1, l1 u2], [l2 u1]] is
        # [[x u1'^-1, l1'^-1 g_u2], [g_l2 u1'^-1]], where
        # x = l1'^-1 (tril(l1' g_l1 - g_u2 u2', -1) + triu(g_u1 u1' - l2' g_l2)).
        (a,), (factors, _, places), (g, *_) = inputs, outputs, output_gradients
        rows, columns = length(a, a.ndim - 2), length(a, a.ndim - 1)
        fewer = minimum(rows, columns)
        first, rest = slice(None, fewer), slice(fewer, None)
        corner, g_corner = (get_item(x, (..., first, first)) for x in (factors, g))
        below, g_below = (get_item(x, (..., rest, first)) for x in (factors, g))
        beside, g_beside = (get_item(x, (..., first, rest)) for x in (factors, g))
        g_lower = tril(g_corner, -1)
        of_lower = matmul(matrix_transpose(tril(corner, -1)), g_lower) + g_lower
        of_lower = of_lower - matmul(g_beside, matrix_transpose(beside))
        of_upper = matmul(triu(g_corner), matrix_transpose(triu(corner)))
        of_upper = of_upper - matmul(matrix_transpose(below), g_below)
        inner = concatenate([tril(of_lower, -1) + triu(of_upper), g_beside], -1)
        left: Variable = SolveTriangular(True, "T", True)(corner, inner)
        high = concatenate([get_item(left, (..., first)), g_below], -2)
        solve = SolveTriangular(False, "N", False, self.on_error)
        result = matrix_transpose(solve(corner, matrix_transpose(high)))
        if static_length(columns) is None or static_length(columns) != static_length(fewer):
            nothing = zeros((*below.shape[:-1], columns - fewer), dtype=a.dtype)
            wide = concatenate([get_item(left, (..., rest)), nothing], -2)
            result = concatenate([result, wide], -1)
        return [_rows_at(result, places)]


def _rows_at(x: Variable, places: Variable) -> Variable:
    """Return the rows of matrices that are at these places, which each matrix has of its own."""
    if x.ndim == 2:
        return get_item(x, places)
    front = [
        expand_dims(arange(length(x, axis)), tuple(at for at in range(x.ndim - 1) if at != axis))
        for axis in range(x.ndim - 2)
    ]
    return get_item(x, (*front, places))


@described
def lu_factor(a: TensorLike, *, on_error: OnError = "raise") -> tuple[Variable, Variable]:
    """Return the factors of a matrix, as :func:`scipy.linalg.lu_factor`.

    a (tensor_like): Matrices of shape ``(..., m, n)``, which may be singular.
    on_error ({"raise", "nan"}): A singular matrix has no gradient: a call that needs it raises
        numpy.linalg.LinAlgError, or it is NaN.
    returns lu: The upper factor and, below the diagonal, the lower one, whose diagonal is of ones.
    returns pivots: For each of the first rows, in turn, the one that it changes places with, as
        int32: as many as the matrix has of rows or columns, whichever are fewer.

    >>> lu, pivots = ft.linalg.lu_factor([[1.0, 2.0], [2.0, 2.0]])
    >>> lu.eval(), pivots.eval()
    (array([[2. , 2. ],
           [0.5, 1. ]]), array([1, 1], dtype=int32))
    """
    matrix = as_floating(as_tensor(a))
    check_matrices(matrix, "lu_factor")
    rows, columns = matrix.type.shape[-2:]
    if rows is not None and rows == columns:
        factors, pivots = LUFactor(on_error)(matrix)
    else:
        factors, pivots, _ = PivotedLU(on_error)(matrix)
    return factors, pivots


@described
def lu(
    a: TensorLike, permute_l: bool = False, p_indices: bool = False
) -> tuple[Variable, Variable, Variable] | tuple[Variable, Variable]:
    """Return a permutation and two triangles, factors of a matrix, as :func:`scipy.linalg.lu`.

    a (tensor_like): Matrices of shape ``(..., m, n)``; ``k`` is the smaller one of ``m`` and ``n``.
    permute_l (bool): Return ``p @ l`` and ``u`` alone.
    p_indices (bool): Return the permutation as rows of ``l``: ``l[p] @ u == a``.
    returns p: The permutation, of shape ``(..., m, m)``, or ``(..., m)`` and int64 where rows are
        wanted.
    returns l, u: The lower triangle, of shape ``(..., m, k)`` with ones on its diagonal, and the
        upper one, of shape ``(..., k, n)``.

    >>> p, l, u = ft.linalg.lu([[1.0, 2.0], [2.0, 2.0]])
    >>> l.eval(), u.eval()
    (array([[1. , 0. ],
           [0.5, 1. ]]), array([[2., 2.],
           [0., 1.]]))
    """
    matrix = as_floating(as_tensor(a))
    factors, _, places = PivotedLU()(matrix)
    rows, columns = length(matrix, matrix.ndim - 2), length(matrix, matrix.ndim - 1)
    fewer = minimum(rows, columns)
    lower = tril(get_item(factors, (..., slice(None, fewer))), -1)
    lower = lower + eye(rows, fewer, dtype=matrix.dtype)
    upper = triu(get_item(factors, (..., slice(None, fewer), slice(None))))
    if permute_l:
        return _rows_at(lower, places), upper
    if p_indices:
        return places, lower, upper
    is_place = _core.elemwise(scalar.eq, expand_dims(places, -1), arange(rows))
    return astype(is_place, real_dtype(matrix)), lower, upper
