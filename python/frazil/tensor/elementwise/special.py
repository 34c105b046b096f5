"""Logistic functions, error functions, and the gamma function's derivatives."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.definition import elementwise, unary

sigmoid = unary(
    scalar.sigmoid,
    "the logistic function ``1 / (1 + exp(-x))``",
    "[0.0, 2.0] -> [0.5       , 0.88079708]",
    follows="scipy.special.expit",
)
softplus = unary(
    scalar.softplus,
    "``log(1 + exp(x))``, without overflow",
    "[0.0, 2.0] -> [0.69314718, 2.12692801]",
    follows="numpy.logaddexp : the same, where its first argument is 0.",
)
log_sigmoid = unary(
    scalar.log_sigmoid,
    "the logarithm of the logistic function",
    "[0.0, 2.0] -> [-0.69314718, -0.12692801]",
    follows="scipy.special.log_expit",
)
erf = unary(scalar.erf, "the error function", "[0.0, 1.0] -> [0.        , 0.84270079]")
erfc = unary(
    scalar.erfc,
    "``1 - erf(x)``, precise where that is near 0",
    "[0.0, 1.0] -> [1.        , 0.15729921]",
)
erfcx = unary(
    scalar.erfcx,
    "``exp(x**2) * erfc(x)``, which does not vanish for large ``x``",
    "[0.0, 100.0] -> [1.        , 0.00564161]",
)
gammaln = unary(
    scalar.gammaln,
    "the logarithm of the absolute value of the gamma function",
    "[1.0, 5.0] -> [0.        , 3.17805383]",
)
psi = unary(
    scalar.psi, "the derivative of :func:`gammaln`", "[1.0, 2.0] -> [-0.57721566,  0.42278434]"
)
tri_gamma = unary(
    scalar.tri_gamma,
    "the derivative of :func:`psi`",
    "[1.0, 2.0] -> [1.64493407, 0.64493407]",
    follows="scipy.special.polygamma : the same, where its first argument is 1.",
)


@described
def polygamma(n: TensorLike, x: TensorLike) -> Variable:
    """Return the derivative of order ``n`` of :func:`digamma`, elementwise.

    n (tensor_like): The order: integers, 0 for digamma itself. A negative order gives NaN. It has
        no gradient.
    x (tensor_like): A tensor that broadcasts with ``n``.
    returns: Of the shape that the operands broadcast to, and the float dtype that holds their
        common dtype, as :func:`scipy.special.polygamma` gives. At a pole it is infinite, with the
        sign that it has right of the pole.
    example: [1, 2], 1.0 -> [ 1.64493407, -2.40411381]
    """
    if as_tensor(n).dtype.startswith("float"):
        raise TypeError(
            f"the order of a polygamma function must be of integers, given {n!r}; "
            "use ft.cast(n, 'int64')"
        )
    return elemwise(scalar.polygamma, as_operand(n), as_tensor(x))


@elementwise
def loggamma(x: TensorLike, /) -> Variable:
    """Return the logarithm of the gamma function; NaN of negative numbers: it is not real there.

    returns: As :func:`scipy.special.loggamma` of real numbers.
    example: [4.0, -0.5] -> [1.79175947,        nan]
    """
    x = as_tensor(x)
    return elemwise(scalar.where, elemwise(scalar.lt, x, 0), math.nan, elemwise(scalar.gammaln, x))


expit = sigmoid
log1pexp = softplus
log_expit = log_sigmoid
digamma = psi
trigamma = tri_gamma
