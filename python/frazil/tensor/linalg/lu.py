"""LU factors of square matrices, with pivoting of rows, and systems of equations with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.diagonals import eye, tril, triu
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths
from frazil.tensor.linalg.failure import MayFail, OnError
from frazil.tensor.linalg.matrices import (
    check_rows,
    check_square,
    check_square_value,
    core_of,
    floating,
    solution_type,
)
from frazil.tensor.linalg.matrix_system import Trans, check_trans, read_trans
from frazil.tensor.linalg.right_sides import matching, times_transposed
from frazil.tensor.linalg.stacks import (
    for_each,
    inferred_front,
    unbroadcast_front,
)
from frazil.tensor.linalg.triangular import SolveTriangular
from frazil.tensor.products import matmul
from frazil.tensor.realness import conj
from frazil.tensor.transposition import matrix_transpose


@dataclass(frozen=True, eq=False)
class LUFactor(MayFail):
    """The LU factors of a square matrix, with pivoting of rows: ``p l u``.

    The first output has ``u`` in its upper triangle and ``l``, whose diagonal is ones, below it.
    The second has the pivots: for each row, in turn, the row that it is exchanged with, as int32. A
    singular matrix has factors, too: the diagonal of ``u`` has a zero. But they have no gradient: a
    call that needs it raises numpy.linalg.LinAlgError, or with ``on_error="nan"`` gives NaN.
    """

    on_error: OnError = "raise"

    takes_complex = True

    def make_node(self, a: Variable) -> FrozenApply:
        self.check_on_error()
        static = check_square(a, "LUFactor")
        front = a.type.shape[:-2]
        types = [
            TensorType(a.dtype, (*front, static, static)),
            TensorType("int32", (*front, static)),
        ]
        return FrozenApply(self, [a], types)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (a,) = inputs
        check_square_value(a, node)
        results = [(a.shape[-2:], a.dtype.name), (a.shape[-1:], "int32")]
        return for_each(self.factors_of, node, inputs, (2,), results)

    @staticmethod
    def factors_of(a: Array) -> tuple[Array, ...]:
        if not a.size:
            return a.copy(), np.zeros(0, "int32")
        from scipy.linalg.lapack import get_lapack_funcs

        (getrf,) = get_lapack_funcs(("getrf",), (a,))
        factors, pivots, _ = getrf(a, overwrite_a=False)
        return np.ascontiguousarray(factors), np.asarray(pivots, "int32")

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths]:
        (shape,) = input_shapes
        return shape, shape[:-1]

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # p l'^-1 (tril(l' g_l, -1) + triu(g_u u')) u'^-1
        factors, pivots = outputs
        g = output_gradients[0]
        lower, upper = tril(factors, -1), triu(factors)
        g_lower, g_upper = tril(g, -1), triu(g)
        inner = tril(matmul(matrix_transpose(lower), g_lower) + g_lower, -1)
        inner = inner + triu(matmul(g_upper, matrix_transpose(upper)))
        one = eye(factors.shape[-1], dtype=factors.dtype)
        left = LUSolve("T")(lower + one, pivots, inner)  # as if u were the identity
        solve = SolveTriangular(False, "N", False, self.on_error)
        return [matrix_transpose(solve(factors, matrix_transpose(left)))]


class FactoredSystem(MayFail):
    """The solution ``x`` of ``a x = b``, or of ``a' x = b`` where ``trans`` is ``"T"``.

    The last operands are the factors of ``a``, their pivots, and ``b``. If the factors show that
    ``a`` is singular, a call raises numpy.linalg.LinAlgError, or with ``on_error="nan"`` gives NaN.
    """

    trans: Trans

    takes_complex = True

    def check(self, factors: Variable, pivots: Variable, b: Variable) -> TensorType:
        """Return the type of the solution; raise for operands that do not fit."""
        check_trans(self.trans)
        self.check_on_error()
        name = type(self).__name__
        static = check_square(factors, name)
        if pivots.ndim != factors.ndim - 1 or pivots.dtype != "int32":
            kind = "an int32 vector" if factors.ndim == 2 else "int32 vectors, one a matrix"
            raise TypeError(f"pivots must be {kind}; given {pivots.type}")
        return solution_type(name, (factors, pivots, b), (2, 1), static)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        factors, pivots, b = inputs[-3:]
        cores = self.cores(node)
        check_square_value(factors, node)
        check_rows(factors, b, node, cores[2])
        results = [(b.shape[b.ndim - cores[2] :], b.dtype.name)]
        return for_each(self._solved, node, (factors, pivots, b), cores, results)

    def _solved(self, factors: Array, pivots: Array, b: Array) -> tuple[Array, ...]:
        if not factors.size:
            return (b.copy(),)
        (zeros,) = np.nonzero(np.diagonal(factors) == 0)
        if zeros.size:
            message = f"the matrix is singular: pivot {zeros[0]} of its factorisation is zero"
            return self.fail(b, f"{self}: {message}")
        if not b.size:
            return (b.copy(),)
        from scipy.linalg.lapack import get_lapack_funcs

        (getrs,) = get_lapack_funcs(("getrs",), (factors, b))
        x, _ = getrs(factors, pivots, b, trans=self.trans == "T", overwrite_b=False)
        return (np.ascontiguousarray(x.reshape(b.shape)),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        cores = self.cores(node)
        front = inferred_front(node.inputs[-3:], input_shapes[-3:], cores)
        return ((*front, *input_shapes[-1][-cores[2] :]),)

    @staticmethod
    def cores(node: FrozenApply) -> tuple[int, int, int]:
        """Return the ranks that factors, pivots and right side of one system have."""
        factors, _, b = node.inputs[-3:]
        return 2, 1, core_of(b, factors)

    @property
    def other(self) -> Trans:
        """The system that gives the gradient of ``b``."""
        return "N" if self.trans == "T" else "T"


@dataclass(frozen=True, eq=False)
class LUSolve(FactoredSystem):
    """The solution of a system, of (factors, pivots, b)."""

    trans: Trans
    on_error: OnError = "raise"

    def make_node(self, factors: Variable, pivots: Variable, b: Variable) -> FrozenApply:
        return FrozenApply(self, [factors, pivots, b], [self.check(factors, pivots, b)])

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (factors, pivots, b), (x,), (g,) = inputs, outputs, output_gradients
        g_b: Variable = LUSolve(self.other, self.on_error)(factors, pivots, g)
        left, right = (g, x) if self.trans == "N" else (b, g_b)
        along_u = SolveTriangular(False, "T", False, self.on_error)(factors, left)
        along_l = SolveTriangular(True, "T", True)(factors, along_u)
        of_l = tril(times_transposed(along_l, matmul(triu(factors), right)), -1)
        g_factors = -(of_l + triu(times_transposed(along_u, right)))
        return [unbroadcast_front(g_factors, factors), None, unbroadcast_front(g_b, b)]


@dataclass(frozen=True, eq=False)
class Solve(FactoredSystem):
    """The solution of a system, of (a, factors, pivots, b), with the factors of ``a``.

    The factors count as constants: the gradient goes to ``a`` directly.
    """

    trans: Trans
    on_error: OnError = "raise"

    def make_node(
        self, a: Variable, factors: Variable, pivots: Variable, b: Variable
    ) -> FrozenApply:
        if a.type.ndim != factors.ndim or a.dtype != factors.dtype:
            raise TypeError(f"the factors of {a.type} cannot be {factors.type}")
        return FrozenApply(self, [a, factors, pivots, b], [self.check(factors, pivots, b)])

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (a, factors, pivots, b), (x,), (g,) = inputs, outputs, output_gradients
        g_b: Variable = Solve(self.other, self.on_error)(a, factors, pivots, g)
        left, right = (g_b, x) if self.trans == "N" else (x, g_b)
        g_a = unbroadcast_front(-times_transposed(left, right), a)
        return [g_a, None, None, unbroadcast_front(g_b, b)]


@described
def lu_solve(
    LU_and_pivots: tuple[TensorLike, TensorLike],
    b: TensorLike,
    trans: int | str = 0,
    *,
    b_ndim: int | None = None,
    on_error: OnError = "raise",
) -> Variable:
    """Return the solution of a system of equations, given the factors of its matrix.

    LU_and_pivots (tuple of tensor_like): What :func:`lu_factor` returns.
    b (tensor_like): The right side: a vector, or matrices of shape ``(..., m, n)``. The dimensions
        in front broadcast.
    trans ({0, 1, 2, "N", "T", "C"}): Solve for the matrix, its transpose, or its conjugate
        transpose.
    b_ndim ({1, 2}): Whether ``b`` has vectors of shape ``(..., m)`` or matrices. By default it has
        matrices unless it is one vector.
    on_error ({"raise", "nan"}): The effect of a singular matrix: an error, or a solution all of
        NaN, whose gradients are NaN, too.
    returns: Of the shape of ``b``.
    raises numpy.linalg.LinAlgError: During a call, if the matrix is singular and ``on_error`` is
        "raise".

    >>> factors = ft.linalg.lu_factor([[1.0, 2.0], [2.0, 2.0]])
    >>> ft.linalg.lu_solve(factors, [5.0, 6.0]).eval()
    array([1., 2.])
    """
    way, conjugated = read_trans(trans)
    factors, pivots, b = (as_tensor(x) for x in (*LU_and_pivots, b))
    if conjugated:
        factors = conj(factors)
    dtype = _core.promote(floating(factors.dtype), floating(b.dtype))
    op = LUSolve(way, on_error)
    system = matching([as_tensor(factors, dtype), pivots], [2, 1], as_tensor(b, dtype), b_ndim)
    return system.solution(op(*system.operands))
