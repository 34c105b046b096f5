"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from frazil._core import elemwise
from frazil.scalar.elementary import Elementary, define
from frazil.scalar.exponential import sqrt


def _arctan2_gradient(inputs: Any, output: Any, g: Any) -> list[Any]:
    y, x = inputs
    scaled = g / (x * x + y * y)
    return [scaled * x, -scaled * y]


sin = define(
    "sin",
    "float",
    np.sin,
    c="{sin}({0})",
    numba="{sin}({0})",
    gradient=lambda inputs, output, g: [g * elemwise(cos, inputs[0])],
)
cos: Elementary = define(
    "cos",
    "float",
    np.cos,
    c="{cos}({0})",
    numba="{cos}({0})",
    gradient=lambda inputs, output, g: [-g * elemwise(sin, inputs[0])],
)
tan = define(
    "tan",
    "float",
    np.tan,
    c="{tan}({0})",
    numba="{tan}({0})",
    gradient=lambda inputs, output, g: [g * (output * output + 1)],
)
arcsin = define(
    "arcsin",
    "float",
    np.arcsin,
    c="{asin}({0})",
    numba="{asin}({0})",
    gradient=lambda inputs, output, g: [g / elemwise(sqrt, 1 - inputs[0] * inputs[0])],
)
arccos = define(
    "arccos",
    "float",
    np.arccos,
    c="{acos}({0})",
    numba="{acos}({0})",
    gradient=lambda inputs, output, g: [-g / elemwise(sqrt, 1 - inputs[0] * inputs[0])],
)
arctan = define(
    "arctan",
    "float",
    np.arctan,
    c="{atan}({0})",
    numba="{atan}({0})",
    gradient=lambda inputs, output, g: [g / (inputs[0] * inputs[0] + 1)],
)
arctan2 = define(
    "arctan2",
    "float",
    np.arctan2,
    nin=2,
    c="{atan2}({0}, {1})",
    numba="{atan2}({0}, {1})",
    gradient=_arctan2_gradient,
)
sinh = define(
    "sinh",
    "float",
    np.sinh,
    c="{sinh}({0})",
    numba="{sinh}({0})",
    gradient=lambda inputs, output, g: [g * elemwise(cosh, inputs[0])],
)
cosh: Elementary = define(
    "cosh",
    "float",
    np.cosh,
    c="{cosh}({0})",
    numba="{cosh}({0})",
    gradient=lambda inputs, output, g: [g * elemwise(sinh, inputs[0])],
)
tanh = define(
    "tanh",
    "float",
    np.tanh,
    c="{tanh}({0})",
    numba="{tanh}({0})",
    gradient=lambda inputs, output, g: [g * (1 - output * output)],
)
arcsinh = define(
    "arcsinh",
    "float",
    np.arcsinh,
    c="{asinh}({0})",
    numba="{asinh}({0})",
    gradient=lambda inputs, output, g: [g / elemwise(sqrt, inputs[0] * inputs[0] + 1)],
)
arccosh = define(
    "arccosh",
    "float",
    np.arccosh,
    c="{acosh}({0})",
    numba="{acosh}({0})",
    gradient=lambda inputs, output, g: [g / elemwise(sqrt, (inputs[0] - 1) * (inputs[0] + 1))],
)
arctanh = define(
    "arctanh",
    "float",
    np.arctanh,
    c="{atanh}({0})",
    numba="{atanh}({0})",
    gradient=lambda inputs, output, g: [g / ((1 - inputs[0]) * (1 + inputs[0]))],
)
