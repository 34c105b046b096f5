"""Systems of equations with triangular matrices."""

from __future__ import annotations

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.diagonals import tril, triu
from frazil.tensor.docstrings import described
from frazil.tensor.linalg.failure import OnError
from frazil.tensor.linalg.matrices import check_square, floating, solution_type
from frazil.tensor.linalg.matrix_system import MatrixSystem, Trans, check_trans, read_trans
from frazil.tensor.linalg.right_sides import matching, times_transposed
from frazil.tensor.linalg.stacks import unbroadcast_front
from frazil.tensor.realness import conj


@dataclass(frozen=True, eq=False)
class SolveTriangular(MatrixSystem):
    """The solution ``x`` of ``a x = b``, or of ``a' x = b`` where ``trans`` is ``"T"``.

    ``a`` is triangular: its other triangle is not read, nor, with ``unit_diagonal``, its diagonal,
    which counts as ones. ``b`` is a vector or a matrix. Both may be stacks of matrices, whose
    dimensions in front broadcast. If the diagonal has a zero, a call raises
    numpy.linalg.LinAlgError, or with ``on_error="nan"`` gives NaN.
    """

    lower: bool
    trans: Trans
    unit_diagonal: bool
    on_error: OnError = "raise"

    def make_node(self, a: Variable, b: Variable) -> FrozenApply:
        check_trans(self.trans)
        self.check_on_error()
        static = check_square(a, "SolveTriangular")
        return FrozenApply(self, [a, b], [solution_type("SolveTriangular", (a, b), (2,), static)])

    def solved(self, a: Array, b: Array) -> tuple[Array, ...]:
        if not b.size:
            return (b.copy(),)
        from scipy.linalg.lapack import get_lapack_funcs

        (trtrs,) = get_lapack_funcs(("trtrs",), (a, b))
        x, status = trtrs(
            a,
            b,
            lower=self.lower,
            trans=self.trans == "T",
            unitdiag=self.unit_diagonal,
            overwrite_b=False,
        )
        if status > 0:
            message = f"the matrix is singular: element {status - 1} of its diagonal is zero"
            return self.fail(b, f"{self}: {message}")
        return (np.ascontiguousarray(x.reshape(b.shape)),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (a, b), (x,), (g,) = inputs, outputs, output_gradients
        other = self.other_trans
        g_b = SolveTriangular(self.lower, other, self.unit_diagonal, self.on_error)(a, g)
        left, right = self.factors_of_gradient(x, g_b)
        skipped = 1 if self.unit_diagonal else 0
        g_a = unbroadcast_front(-times_transposed(left, right), a)
        g_a = tril(g_a, -skipped) if self.lower else triu(g_a, skipped)
        return [g_a, unbroadcast_front(g_b, b)]


@described
def solve_triangular(
    a: TensorLike,
    b: TensorLike,
    *,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    b_ndim: int | None = None,
    on_error: OnError = "raise",
) -> Variable:
    """Return the solution of a triangular system of equations.

    a (tensor_like): Square matrices of shape ``(..., m, m)``. One triangle of each is read.
    b (tensor_like): The right side: a vector, or matrices of shape ``(..., m, n)``. The dimensions
        in front broadcast.
    trans ({0, 1, 2, "N", "T", "C"}): Solve ``a @ x == b``, ``a.T @ x == b`` for 1 and "T", or
        ``a.T.conj() @ x == b`` for 2 and "C".
    lower (bool): The triangle of ``a`` that is read: the lower or, as in
        :func:`scipy.linalg.solve_triangular` by default, the upper.
    unit_diagonal (bool): Take the diagonal of ``a`` as ones, whatever it is.
    b_ndim ({1, 2}): Whether ``b`` has vectors of shape ``(..., m)`` or matrices. By default it has
        matrices unless it is one vector.
    on_error ({"raise", "nan"}): The effect of a zero on the diagonal: an error, or a solution all
        of NaN, whose gradients are NaN, too.
    returns: Of the shape of ``b``, with the dimensions in front that both broadcast to.
    raises numpy.linalg.LinAlgError: During a call, if the diagonal has a zero and ``on_error`` is
        "raise".
    example: [[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True -> [1., 2.]
    """
    way, conjugated = read_trans(trans)
    a, b = as_tensor(a), as_tensor(b)
    if conjugated:
        a = conj(a)
    dtype = _core.promote(floating(a.dtype), floating(b.dtype))
    op = SolveTriangular(bool(lower), way, bool(unit_diagonal), on_error)
    system = matching([as_tensor(a, dtype)], [2], as_tensor(b, dtype), b_ndim)
    return system.solution(op(*system.operands))
