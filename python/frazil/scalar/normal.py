"""The normal distribution, inverses of the error functions, and Owen's T."""

from __future__ import annotations

import math

import numpy as np

from frazil._core import Variable, elemwise
from frazil.graph.op import Array, Variables
from frazil.scalar.elementary import Elementary
from frazil.scalar.exponential import exp
from frazil.scalar.logic import lt, where
from frazil.scalar.op import Partial
from frazil.scalar.scipy_functions import of_scipy, scipy_function
from frazil.scalar.special import erf, erfc_values, erfcx

PART, REST, LAST = 0.7071067690849304, 1.2101617152815436e-08, -4.833646656726457e-17
"""The root of 1/2 in three parts. Products of the first two with 24 bits are exact."""


def ndtr_values(x: Array) -> Array:
    """By the error function, which falls off so fast that its argument has twice the digits."""
    x = np.asarray(x)
    wide = x.astype("float64")
    with np.errstate(all="ignore"):
        t = np.where(wide > 40, 40.0, np.where(wide < -40, -40.0, wide))
        high = t.astype("float32").astype("float64")
        low, z = t - high, t * math.sqrt(0.5)
        off = ((high * PART - z) + (high * REST + low * PART)) + low * REST + t * LAST
        values: Array = 0.5 * (erfc_values(-z) + 2 / math.sqrt(math.pi) * np.exp(-z * z) * off)
    return values.astype(x.dtype)


def log_ndtr_values(x: Array) -> Array:
    """Each of two forms where it keeps its precision: by the scaled error function far below."""
    x = np.asarray(x)
    wide = x.astype("float64")
    with np.errstate(all="ignore"):
        scaled = of_scipy("erfcx")(wide * -math.sqrt(0.5))
        values = np.where(
            wide < -1, np.log(scaled / 2) - wide * wide / 2, np.log1p(-ndtr_values(-wide))
        )
    return values.astype(x.dtype)


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


ndtr: Elementary = scipy_function(
    "ndtr", lambda inputs, output, g: [g * density(inputs[0])], reference=ndtr_values
)
log_ndtr: Elementary = scipy_function("log_ndtr", _log_ndtr_gradient, reference=log_ndtr_values)
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
