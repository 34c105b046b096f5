"""Exponentials, logarithms and roots."""

from __future__ import annotations

import math

import numpy as np

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.elementary import function
from frazil.scalar.logic import eq, where
from frazil.scalar.op import Partial


def _hypot_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    """Zero at the origin."""
    x, y = inputs
    length = elemwise(where, elemwise(eq, output, 0), 1, output)
    return [lambda: g * (x / length), lambda: g * (y / length)]


exp = function("exp", np.exp, lambda inputs, output, g: [g * output], takes_complex=True)
expm1 = function(
    "expm1", np.expm1, lambda inputs, output, g: [g * elemwise(exp, inputs[0])], takes_complex=True
)
exp2 = function("exp2", np.exp2, lambda inputs, output, g: [g * output * math.log(2)])
log = function("log", np.log, lambda inputs, output, g: [g / inputs[0]], takes_complex=True)
log1p = function(
    "log1p", np.log1p, lambda inputs, output, g: [g / (inputs[0] + 1)], takes_complex=True
)
log2 = function(
    "log2", np.log2, lambda inputs, output, g: [g / (inputs[0] * math.log(2))], takes_complex=True
)
log10 = function(
    "log10",
    np.log10,
    lambda inputs, output, g: [g / (inputs[0] * math.log(10))],
    takes_complex=True,
)
sqrt = function("sqrt", np.sqrt, lambda inputs, output, g: [g * 0.5 / output], takes_complex=True)
cbrt = function("cbrt", np.cbrt, lambda inputs, output, g: [g / (output * output * 3)])
hypot = function("hypot", np.hypot, _hypot_gradient, nin=2, commutative=True)
