"""Special functions: the logistic family, the error functions, the gamma family."""

from __future__ import annotations

import math

import numpy as np

from frazil._core import Variable, elemwise
from frazil.graph.op import Array, Variables
from frazil.scalar.digamma import psi_values
from frazil.scalar.elementary import Elementary, define, function
from frazil.scalar.exponential import exp, expm1
from frazil.scalar.logic import eq, where
from frazil.scalar.op import Partial, UnknownPartial
from frazil.scalar.polygamma import polygamma_values
from frazil.scalar.scipy_functions import of_scipy, scipy_function


def _sigmoid(x: Array) -> Array:
    """By a power that never overflows; SciPy's gives 0 where the result is subnormal."""
    decay = np.exp(-np.absolute(x))
    values: Array = np.where(np.less(x, 0), decay, np.ones_like(decay)) / (1 + decay)
    return values


def erfc_values(x: Array) -> Array:
    """By its scaled form where it is about to vanish; SciPy's gives 0 where it is subnormal."""
    decay = np.exp(np.square(x) * np.float32(-1))
    values: Array = np.where(np.greater(x, 26), of_scipy("erfcx")(x) * decay, of_scipy("erfc")(x))
    return values


def _gammaln(x: Array) -> Array:
    """-log|x| where x is subnormal; SciPy's gives inf there."""
    size = np.absolute(x)
    subnormal = (size > 0) & (size < np.finfo(np.float64).tiny)
    with np.errstate(all="ignore"):
        return np.where(subnormal, -np.log(size), of_scipy("gammaln")(x))


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.absolute(x)))


def _log1mexp(x: Array) -> Array:
    """Each of two forms where it keeps its precision: near 0, and far from it."""
    with np.errstate(all="ignore"):
        far, near = np.log1p(-np.exp(x)), np.log(-np.expm1(x))
    return np.where(np.asarray(x) > -math.log(2), near, far).astype(np.asarray(x).dtype)


def _tri_gamma(x: Array) -> Array:
    """By reflection below zero, where SciPy takes a number of steps in proportion to ``-x``."""
    x = np.asarray(x)
    above = of_scipy("polygamma")(1, np.where(x <= 0, 1 - x, x))
    off = x - np.rint(x)
    below = np.where(off == 0, np.inf, np.square(np.pi / np.sin(np.pi * off)) - above)
    return np.where(x <= 0, below, above).astype(x.dtype)


def _logaddexp_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    """The share of each: halves where both are equal, since infinite ones have no difference."""
    x, y = inputs
    same = elemwise(eq, x, y)
    return [
        g * elemwise(where, same, 0.5, elemwise(sigmoid, x - y)),
        g * elemwise(where, same, 0.5, elemwise(sigmoid, y - x)),
    ]


sigmoid = function("sigmoid", _sigmoid, lambda inputs, output, g: [g * output * (1 - output)])
logaddexp = function("logaddexp", np.logaddexp, _logaddexp_gradient, nin=2, commutative=True)
softplus = function(
    "softplus", _softplus, lambda inputs, output, g: [g * elemwise(sigmoid, inputs[0])]
)
log_sigmoid = define(
    "log_sigmoid",
    "float",
    of_scipy("log_expit"),
    c="-{softplus}(-{0})",
    gradient=lambda inputs, output, g: [g * elemwise(sigmoid, -inputs[0])],
)
log1mexp: Elementary = function(
    "log1mexp", _log1mexp, lambda inputs, output, g: [-g / elemwise(expm1, -inputs[0])]
)
erf = function(
    "erf",
    of_scipy("erf"),
    lambda inputs, output, g: [
        g * (elemwise(exp, -inputs[0] * inputs[0]) * (2 / math.sqrt(math.pi)))
    ],
)
erfc = function(
    "erfc",
    erfc_values,
    lambda inputs, output, g: [
        g * (elemwise(exp, -inputs[0] * inputs[0]) * (-2 / math.sqrt(math.pi)))
    ],
)
erfcx: Elementary = scipy_function(
    "erfcx",
    lambda inputs, output, g: [
        g * (2 * inputs[0] * output - 2 / math.sqrt(math.pi)),
    ],
)
gammaln = function("gammaln", _gammaln, lambda inputs, output, g: [g * elemwise(psi, inputs[0])])
psi: Elementary = function(
    "psi", psi_values, lambda inputs, output, g: [g * elemwise(tri_gamma, inputs[0])]
)
tri_gamma: Elementary = function(
    "tri_gamma", _tri_gamma, lambda inputs, output, g: [g * elemwise(polygamma, 2, inputs[0])]
)
polygamma: Elementary = function(
    "polygamma",
    polygamma_values,
    lambda inputs, output, g: [
        UnknownPartial("the order is an integer"),
        lambda: g * elemwise(polygamma, inputs[0] + 1, inputs[1]),
    ],
    nin=2,
)
