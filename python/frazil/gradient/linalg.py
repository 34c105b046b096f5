"""Vector-Jacobian products of gradients of matrix ops, written in differentiable ops."""

from __future__ import annotations

from frazil._core import Variable
from frazil.gradient.registry import Pullback, pullback_rule
from frazil.gradient.reverse import pull_back, with_zeros
from frazil.graph.op import Gradients, Variables
from frazil.tensor.diagonals import tril
from frazil.tensor.linalg.cholesky import CholeskyGradient
from frazil.tensor.linalg.matrices import adjoint
from frazil.tensor.linalg.triangular import SolveTriangular
from frazil.tensor.products import matmul
from frazil.tensor.realness import conj


@pullback_rule.register
def _(op: CholeskyGradient) -> Pullback:
    return _pull


def _pull(inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
    known = {_cholesky_gradient(*inputs): output_gradients[0]}
    return [*with_zeros(pull_back(known, inputs, consider_constant=inputs), inputs)]


def _cholesky_gradient(factor: Variable, g: Variable) -> Variable:
    """Return the result of :class:`CholeskyGradient`, computed by differentiable ops."""
    # Iain Murray, "Differentiation of the Cholesky decomposition" (2016), in blocked form: with
    # a = l l', the gradient is l'^-1 phi(l' g) l^-1, phi taking the lower triangle with half of the
    # diagonal. As only one triangle of a is read, all of it goes there.
    # Complex matrices are Hermitian, and gradients the conjugates of directions of ascent.
    half = _lower_half(matmul(adjoint(tril(factor)), conj(tril(g))))
    conjugated = conj(factor)
    solve = SolveTriangular(True, "T", False)
    # l'^-1 half l^-1, and then its symmetric part twice, as one triangle stands for both.
    both = adjoint(solve(conjugated, adjoint(solve(conjugated, half))))
    return conj(_lower_half(both + adjoint(both)))


def _lower_half(x: Variable) -> Variable:
    """Return the lower triangle of a matrix with half of its diagonal."""
    return (tril(x) + tril(x, -1)) * 0.5
