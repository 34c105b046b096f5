"""Results of singular values: pseudo-inverses, ranks and solutions by least squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.casting import astype
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import Lengths, length, lengths, maximum
from frazil.tensor.linalg.decompositions import SVD, Eigh, conjugated
from frazil.tensor.linalg.factors import eigvalsh, svdvals
from frazil.tensor.linalg.matrices import (
    adjoint,
    as_floating,
    check_matrices,
    check_square,
    real_dtype,
)
from frazil.tensor.moments import squared_sizes
from frazil.tensor.products import matmul
from frazil.tensor.realness import conj
from frazil.tensor.reductions import max, sum


@dataclass(frozen=True, eq=False)
class PseudoInverse(Op):
    """The second operand, the pseudo-inverses of the matrices of the first one; a view.

    They are made of singular vectors, which have no gradient where singular values are equal. But
    pseudo-inverses have one, which goes to the matrices directly.
    """

    takes_complex = True
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [1]}

    def make_node(self, a: Variable, inverse: Variable) -> FrozenApply:
        check_matrices(a, "PseudoInverse")
        if inverse.ndim != a.ndim or inverse.dtype != a.dtype:
            raise TypeError(f"the pseudo-inverse of {a.type} cannot be {inverse.type}")
        return FrozenApply(self, [a, inverse], [inverse.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (inputs[1],)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[1],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
        # problems whose variables separate" (1973), for matrices whose rank stays.
        (a, _), (p,), (g,) = inputs, outputs, conjugated(output_gradients)
        pt, gt = adjoint(p), adjoint(g)
        spread = matmul(gt, matmul(p, pt))
        g_a = -matmul(matmul(pt, g), pt) + spread - matmul(a, matmul(p, spread))
        spread = matmul(matmul(pt, p), gt)
        return [conj(g_a + spread - matmul(matmul(spread, p), a)), None]


@described
def pinv(
    a: TensorLike,
    rcond: TensorLike | None = None,
    hermitian: bool = False,
    *,
    rtol: TensorLike | None = None,
) -> Variable:
    """Return the pseudo-inverses of matrices.

    a (tensor_like): Matrices of shape ``(..., m, n)``.
    rcond (tensor_like): Singular values up to this times the largest one count as zero: of shape
        ``(...)``. Default: 1e-15, as :func:`numpy.linalg.pinv` has it, which computes in float64;
        of float32 ``max(m, n)`` times the distance from 1 to the next number.
    hermitian (bool): The matrices are symmetric: their eigenvalues serve, which are found sooner.
    rtol (tensor_like): Another name of ``rcond``.
    returns: Of shape ``(..., n, m)``. Its gradient takes the ranks of the matrices as constant.
    raises numpy.linalg.LinAlgError: During a call, if a matrix has elements that are not finite.

    >>> ft.linalg.pinv([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]]).eval()
    array([[0.5 , 0.  , 0.  ],
           [0.  , 0.  , 0.25]])
    """
    if rcond is not None and rtol is not None:
        raise ValueError("rcond and rtol are two names of one parameter; give one of them")
    matrix = as_floating(as_tensor(a))
    check_matrices(matrix, "pinv")
    tolerance = rtol if rcond is None else rcond
    if tolerance is None and real_dtype(matrix) == "float64":
        tolerance = 1e-15
    small = _relative(tolerance, matrix)
    if hermitian:
        check_square(matrix, "pinv")
        values, left = Eigh(True)(matrix)
        right = adjoint(left)
    else:
        u, values, vt = SVD(False)(matrix)
        left, right = adjoint(vt), adjoint(u)
    inverse = matmul(left * expand_dims(_inverted(values, small), -2), right)
    result: Variable = PseudoInverse()(matrix, inverse)
    return result


def _inverted(values: Variable, tolerance: Variable) -> Variable:
    """Return 1 over the values that are large enough, and 0 for the others."""
    sizes = _core.elemwise(scalar.abs, values)
    kept = _core.elemwise(scalar.gt, sizes, _cutoff(sizes, tolerance))
    one, zero = as_tensor(1, values.dtype), as_tensor(0, values.dtype)
    inverse = one / _core.elemwise(scalar.where, kept, values, one)
    return _core.elemwise(scalar.where, kept, inverse, zero)


def _cutoff(sizes: Variable, tolerance: Variable) -> Variable:
    """Return the largest of some sizes, if there are any, times a tolerance."""
    nothing = zeros((*lengths(sizes)[:-1], 1), sizes.dtype)
    largest = max(concatenate([nothing, sizes], -1), -1, keepdims=True)
    return expand_dims(tolerance, -1) * largest


@described
def matrix_rank(
    A: TensorLike,
    tol: TensorLike | None = None,
    hermitian: bool = False,
    *,
    rtol: TensorLike | None = None,
) -> Variable:
    """Return how many singular values of matrices are not about zero.

    A (tensor_like): Matrices of shape ``(..., m, n)``.
    tol (tensor_like): Values up to this count as zero.
    hermitian (bool): Whether the matrices are symmetric, or Hermitian: their lower triangles alone
        are read.
    rtol (tensor_like): Values up to this times the largest one count as zero. Default: ``max(m,
        n)`` times the distance from 1 to the next number of the dtype.
    returns: Of shape ``(...)``, int64, as :func:`numpy.linalg.matrix_rank` gives.
    example: [[1.0, 2.0], [2.0, 4.0]] -> 1
    """
    if tol is not None and rtol is not None:
        raise ValueError("give one of tol and rtol")
    matrix = as_floating(as_tensor(A))
    check_matrices(matrix, "matrix_rank")
    values = _core.elemwise(scalar.abs, eigvalsh(matrix)) if hermitian else svdvals(matrix)
    if tol is not None:
        cutoff = expand_dims(as_tensor(tol, values.dtype), -1)
    else:
        cutoff = _cutoff(values, _relative(rtol, matrix))
    return sum(as_tensor(_core.elemwise(scalar.gt, values, cutoff), "int64"), -1)


def _relative(rtol: TensorLike | None, matrix: Variable) -> Variable:
    """Return a relative tolerance for the singular values of a matrix, the given one if any."""
    if rtol is not None:
        return as_tensor(rtol, real_dtype(matrix))
    longer = maximum(length(matrix, matrix.ndim - 2), length(matrix, matrix.ndim - 1))
    return as_tensor(longer, real_dtype(matrix)) * float(np.finfo(matrix.dtype).eps)


def _between_zero_and_one(tolerance: Variable) -> Variable:
    """Return a relative tolerance, rounding in place of one that LAPACK takes for none."""
    above = _core.elemwise(scalar.gt, tolerance, 0.0)
    below = _core.elemwise(scalar.lt, tolerance, 1.0)
    rounding = as_tensor(float(np.finfo(tolerance.type.numpy_dtype).eps) / 2, tolerance.dtype)
    inside = _core.elemwise(scalar.and_, above, below)
    return _core.elemwise(scalar.where, inside, tolerance, rounding)


@described
def lstsq(
    a: TensorLike, b: TensorLike, rcond: TensorLike | None = None
) -> tuple[Variable, Variable, Variable, Variable]:
    """Return the solution by least squares and what it tells, as :func:`numpy.linalg.lstsq`.

    a (tensor_like): A matrix of shape ``(m, n)``.
    b (tensor_like): The right side: a vector of ``m`` elements, or a matrix of shape ``(m, k)``.
    rcond (tensor_like): Singular values of ``a`` that are smaller than this times the largest one
        count as zero. Default: ``max(m, n)`` times the distance from 1 to the next number of the
        dtype. A value that is not between 0 and 1, such as -1, means half of that distance.
    returns x: The solution ``x`` for which ``b - a @ x`` is the shortest; of several the shortest
        one.
    returns residuals: The squared lengths of ``b - a @ x``, one a column of ``b``; without elements
        where the rank is not ``n`` or there are no more rows than columns.
    returns rank: The rank of ``a``, as int32.
    returns s: The singular values of ``a``.

    >>> a = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    >>> x, residuals, rank, s = ft.linalg.lstsq(a, [1.0, 3.0, 5.0])
    >>> x.eval().round(6)
    array([1., 2.])
    """
    matrix, right = as_tensor(a), as_tensor(b)
    dtype = _core.promote(as_floating(matrix).dtype, as_floating(right).dtype)
    matrix, right = as_tensor(matrix, dtype), as_tensor(right, dtype)
    if matrix.ndim != 2 or right.ndim not in (1, 2):
        raise np.linalg.LinAlgError(
            f"lstsq takes a matrix, and a vector or a matrix; given {matrix.type} and {right.type}"
        )
    known = {x.type.shape[0] for x in (matrix, right)} - {None}
    if len(known) > 1:
        raise np.linalg.LinAlgError(
            f"the right side must have as many rows as the matrix; given {matrix.type} and "
            f"{right.type}"
        )
    tolerance = _relative(rcond, matrix)
    if rcond is not None:
        tolerance = _between_zero_and_one(tolerance)
    values = svdvals(matrix)
    kept = _core.elemwise(scalar.gt, values, _cutoff(values, tolerance))
    rank = sum(as_tensor(kept, "int64"), -1)
    small_rank = astype(rank, "int32")
    columns = expand_dims(right, 1) if right.ndim == 1 else right
    x = matmul(pinv(matrix, tolerance), columns)
    beyond = columns - matmul(matrix, x)
    squares = sum(squared_sizes(beyond), 0)
    rows, terms = length(matrix, 0), length(matrix, 1)
    told = _core.elemwise(scalar.eq, rank, terms) & _core.elemwise(scalar.gt, rows, terms)
    count = astype(told, "int64") * length(squares, 0)
    residuals = get_item(squares, slice(None, count))
    return squeeze(x, 1) if right.ndim == 1 else x, residuals, small_rank, values
