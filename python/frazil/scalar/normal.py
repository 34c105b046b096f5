"""The normal distribution, inverses of the error functions, and Owen's T."""

from __future__ import annotations

import math

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.elementary import Elementary
from frazil.scalar.exponential import exp
from frazil.scalar.logic import lt, where
from frazil.scalar.op import Partial
from frazil.scalar.scipy_functions import scipy_function
from frazil.scalar.special import erf, erfcx


def density(x: Variable) -> Variable:
    """The density of the normal distribution."""
    return elemwise(exp, x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


def _log_ndtr_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    """The density divided by the distribution; far below zero both vanish."""
    (x,) = inputs
    below = elemwise(lt, x, 0)
    scaled = elemwise(erfcx, elemwise(where, below, x, 0) * -math.sqrt(0.5))
    right = density(x) / elemwise(ndtr, x)
    return [g * elemwise(where, below, math.sqrt(2 / math.pi) / scaled, right)]


def _owens_t_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    h, a = inputs
    square = 1 + a * a
    return [
        lambda: g * (-0.5 * density(h) * elemwise(erf, a * h * math.sqrt(0.5))),
        lambda: g * (elemwise(exp, h * h * square * -0.5) / (square * (2 * math.pi))),
    ]


ndtr: Elementary = scipy_function("ndtr", lambda inputs, output, g: [g * density(inputs[0])])
log_ndtr: Elementary = scipy_function("log_ndtr", _log_ndtr_gradient)
ndtri: Elementary = scipy_function("ndtri", lambda inputs, output, g: [g / density(output)])
erfinv: Elementary = scipy_function(
    "erfinv",
    lambda inputs, output, g: [g * (elemwise(exp, output * output) * (math.sqrt(math.pi) / 2))],
)
erfcinv: Elementary = scipy_function(
    "erfcinv",
    lambda inputs, output, g: [g * (elemwise(exp, output * output) * (-math.sqrt(math.pi) / 2))],
)
owens_t: Elementary = scipy_function("owens_t", _owens_t_gradient, nin=2)
