"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.elementary import Elementary, function
from frazil.scalar.exponential import sqrt
from frazil.scalar.op import Partial


def _arctan2_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    y, x = inputs
    scaled = g / (x * x + y * y)
    return [scaled * x, -scaled * y]


sin = function(
    "sin", np.sin, lambda inputs, output, g: [g * elemwise(cos, inputs[0])], takes_complex=True
)
cos: Elementary = function(
    "cos", np.cos, lambda inputs, output, g: [-g * elemwise(sin, inputs[0])], takes_complex=True
)
tan = function(
    "tan", np.tan, lambda inputs, output, g: [g * (output * output + 1)], takes_complex=True
)
arcsin = function(
    "arcsin",
    np.arcsin,
    lambda inputs, output, g: [g / elemwise(sqrt, 1 - inputs[0] * inputs[0])],
    call="asin",
    takes_complex=True,
)
arccos = function(
    "arccos",
    np.arccos,
    lambda inputs, output, g: [-g / elemwise(sqrt, 1 - inputs[0] * inputs[0])],
    call="acos",
    takes_complex=True,
)
arctan = function(
    "arctan",
    np.arctan,
    lambda inputs, output, g: [g / (inputs[0] * inputs[0] + 1)],
    call="atan",
    takes_complex=True,
)
arctan2 = function("arctan2", np.arctan2, _arctan2_gradient, call="atan2", nin=2)
sinh = function(
    "sinh", np.sinh, lambda inputs, output, g: [g * elemwise(cosh, inputs[0])], takes_complex=True
)
cosh: Elementary = function(
    "cosh", np.cosh, lambda inputs, output, g: [g * elemwise(sinh, inputs[0])], takes_complex=True
)
tanh = function(
    "tanh", np.tanh, lambda inputs, output, g: [g * (1 - output * output)], takes_complex=True
)
arcsinh = function(
    "arcsinh",
    np.arcsinh,
    lambda inputs, output, g: [g / elemwise(sqrt, inputs[0] * inputs[0] + 1)],
    call="asinh",
    takes_complex=True,
)
arccosh = function(
    "arccosh",
    np.arccosh,
    lambda inputs, output, g: [g / elemwise(sqrt, (inputs[0] - 1) * (inputs[0] + 1))],
    call="acosh",
    takes_complex=True,
)
arctanh = function(
    "arctanh",
    np.arctanh,
    lambda inputs, output, g: [g / ((1 - inputs[0]) * (1 + inputs[0]))],
    call="atanh",
    takes_complex=True,
)
