"""Triangular factors of positive definite matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.lengths import Lengths
from frazil.tensor.linalg.failure import MayFail, OnError
from frazil.tensor.linalg.matrices import as_floating, check_square, check_square_value
from frazil.tensor.linalg.stacks import for_each
from frazil.tensor.linalg.triangular import solve_triangular
from frazil.tensor.realness import conj
from frazil.tensor.transposition import matrix_transpose


@dataclass(frozen=True, eq=False)
class Cholesky(MayFail):
    """The lower (or upper) triangular factors of symmetric positive definite matrices.

    Complex ones are Hermitian.

    Only the triangle on the side of the factor is read. For a matrix that is not positive definite
    it raises numpy.linalg.LinAlgError, or with ``on_error="nan"`` gives a matrix of NaN.
    """

    lower: bool
    on_error: OnError = "raise"

    takes_complex = True

    def make_node(self, a: Variable) -> FrozenApply:
        self.check_on_error()
        static = check_square(a, "Cholesky")
        return FrozenApply(self, [a], [TensorType(a.dtype, (*a.type.shape[:-2], static, static))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (a,) = inputs
        check_square_value(a, node)
        return for_each(self._factor, node, inputs, (2,), [(a.shape[-2:], a.dtype.name)])

    def _factor(self, a: Array) -> tuple[Array, ...]:
        if not a.size:
            return (a.copy(),)
        from scipy.linalg.lapack import get_lapack_funcs

        (potrf,) = get_lapack_funcs(("potrf",), (a,))
        factor, status = potrf(a, lower=self.lower, clean=True, overwrite_a=False)
        if status > 0:
            return self.fail(
                a,
                f"{self}: the matrix is not positive definite: its leading minor of order "
                f"{status} is not",
            )
        return (np.ascontiguousarray(factor),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (factor,), (g,) = outputs, output_gradients
        if self.lower:
            return [CholeskyGradient()(factor, g)]
        lower = CholeskyGradient()(matrix_transpose(factor), matrix_transpose(g))
        return [matrix_transpose(lower)]


@dataclass(frozen=True, eq=False)
class CholeskyGradient(Op):
    """The gradient of a matrix, given its lower Cholesky factor and the gradient of that.

    As only the lower triangle of the matrix was read, all of the gradient is there. Of the
    operands, too, only the lower triangles are read.
    """

    takes_complex = True

    def make_node(self, factor: Variable, g: Variable) -> FrozenApply:
        static = check_square(factor, "CholeskyGradient")
        if g.ndim != factor.ndim or g.dtype != factor.dtype:
            raise TypeError(
                f"the gradient of a factor of type {factor.type} must have the same type; "
                f"given {g.type}"
            )
        shape = (*factor.type.shape[:-2], static, static)
        return FrozenApply(self, [factor, g], [TensorType(factor.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        factor, g = inputs
        check_square_value(factor, node)
        if factor.shape != g.shape:
            raise ValueError(f"{node.op}: shapes {factor.shape} and {g.shape} must be equal")
        return for_each(self._pulled, node, inputs, (2, 2), [(g.shape[-2:], g.dtype.name)])

    @staticmethod
    def _pulled(factor: Array, g: Array) -> tuple[Array, ...]:
        # Gradients by complex numbers are the conjugates of directions of ascent.
        factor, g = np.tril(factor), np.tril(g).conj()
        if not g.size:
            return (g,)
        from scipy.linalg import solve_triangular

        def half(x: Array) -> Array:
            return (np.tril(x) + np.tril(x, -1)) / 2

        def solve(x: Array) -> Array:
            solution: Array = solve_triangular(factor, x, trans="C", lower=True, check_finite=False)
            return solution

        both = solve(solve(half(factor.conj().T @ g)).conj().T).conj().T
        return (half(both + both.conj().T).conj(),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)


@described
def cholesky(
    x: TensorLike, lower: bool = True, *, upper: bool = False, on_error: OnError = "raise"
) -> Variable:
    """Return the triangular factor of a symmetric, or Hermitian, positive definite matrix.

    x (tensor_like): Square matrices of shape ``(..., m, m)``. One triangle of each is read: the one
        that the factor has. Gradients are of that triangle, too, as if the other one did not exist.
    lower (bool): Return the lower triangular ``l`` with ``l @ l.T == x``; else the upper ``u`` with
        ``u.T @ u == x``. Of complex matrices the transposed factor is conjugated, too.
    upper (bool): Return the upper one, as NumPy's argument says.
    on_error ({"raise", "nan"}): The effect of a matrix that is not positive definite: an error, or
        a factor all of NaN, whose gradient is NaN, too. ``fz.Mode(on_error="nan")`` says so for all
        of a function.
    returns: Of the shape of ``x``, and of its dtype if that is floating, else float64; zeros in the
        other triangle.
    raises numpy.linalg.LinAlgError: During a call, if the matrix is not positive definite and
        ``on_error`` is "raise".

    >>> ft.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).eval()
    array([[2., 0.],
           [1., 2.]])
    >>> ft.linalg.cholesky([[[-1.0]], [[9.0]]], on_error="nan").eval()
    array([[[nan]],
    <BLANKLINE>
           [[ 3.]]])
    """
    factor: Variable = Cholesky(bool(lower) and not upper, on_error)(as_floating(as_tensor(x)))
    return factor


@described_like(cholesky)
def cho_factor(
    a: TensorLike, lower: bool = False, *, on_error: OnError = "raise"
) -> tuple[Variable, bool]:
    """Return a Cholesky factor and its side, as :func:`cho_solve` takes them.

    a (tensor_like): Square matrices of shape ``(..., m, m)``, as for :func:`cholesky`.
    lower (bool): Whether the factor is the lower one.
    returns (tuple of Variable and bool): The factor and ``lower``, as
        :func:`scipy.linalg.cho_factor` gives, but with zeros in the other triangle, which SciPy
        leaves as it was.

    >>> factor = ft.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]])
    >>> ft.linalg.cho_solve(factor, [8.0, 12.0]).eval()
    array([1., 2.])
    """
    return cholesky(a, lower, on_error=on_error), lower


@described
def cho_solve(
    c_and_lower: tuple[TensorLike, bool],
    b: TensorLike,
    *,
    b_ndim: int | None = None,
    on_error: OnError = "raise",
) -> Variable:
    """Return the solution of a system of equations, given the Cholesky factor of its matrix.

    c_and_lower (tuple of tensor_like and bool): The factor, and whether it is the lower one, as for
        :func:`scipy.linalg.cho_solve`; factors have the shape ``(..., m, m)``.
    b (tensor_like): The right side: a vector, or matrices of shape ``(..., m, n)``. The dimensions
        in front broadcast.
    b_ndim ({1, 2}): Whether ``b`` has vectors of shape ``(..., m)`` or matrices. By default it has
        matrices unless it is one vector.
    on_error ({"raise", "nan"}): The effect of a zero on the diagonal of the factor: an error, or a
        solution all of NaN.
    returns: The solution, of the shape of ``b``, with the dimensions in front that both broadcast
        to.

    >>> a = [[4.0, 2.0], [2.0, 5.0]]
    >>> ft.linalg.cho_solve((ft.linalg.cholesky(a), True), [8.0, 12.0]).eval()
    array([1., 2.])
    """
    factor, lower = as_tensor(c_and_lower[0]), c_and_lower[1]
    b = as_tensor(b)
    core = min(b.ndim, 2) if b_ndim is None else b_ndim
    for trans in (0, 1) if lower else (1, 0):
        own = conj(factor) if trans else factor
        b = solve_triangular(own, b, trans=trans, lower=lower, b_ndim=core, on_error=on_error)
    return b
