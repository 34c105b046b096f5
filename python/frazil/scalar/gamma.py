"""The gamma and beta functions, and coefficients that they make up."""

from __future__ import annotations

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.elementary import Elementary
from frazil.scalar.op import Partial
from frazil.scalar.scipy_functions import scipy_function
from frazil.scalar.special import psi


def _beta_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return _betaln_gradient(inputs, output, g * output)  # that of its logarithm, times itself


def _betaln_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    a, b = inputs
    whole = elemwise(psi, a + b)
    return [
        lambda: g * (elemwise(psi, a) - whole),
        lambda: g * (elemwise(psi, b) - whole),
    ]


def _poch_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    z, m = inputs
    upper = elemwise(psi, z + m)
    return [
        lambda: g * output * (upper - elemwise(psi, z)),
        lambda: g * output * upper,
    ]


def _binom_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    n, k = inputs
    rest = elemwise(psi, n - k + 1)
    return [
        lambda: g * output * (elemwise(psi, n + 1) - rest),
        lambda: g * output * (rest - elemwise(psi, k + 1)),
    ]


gamma: Elementary = scipy_function(
    "gamma", lambda inputs, output, g: [g * output * elemwise(psi, inputs[0])]
)
beta: Elementary = scipy_function("beta", _beta_gradient, nin=2, commutative=True)
betaln: Elementary = scipy_function("betaln", _betaln_gradient, nin=2, commutative=True)
poch: Elementary = scipy_function("poch", _poch_gradient, nin=2)
binom: Elementary = scipy_function("binom", _binom_gradient, nin=2)
