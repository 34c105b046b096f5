"""Exponentials, logarithms and roots."""

from __future__ import annotations

import math

import numpy as np

from frazil._core import elemwise
from frazil.scalar.elementary import define

exp = define(
    "exp",
    "float",
    np.exp,
    c="{exp}({0})",
    numba="{exp}({0})",
    gradient=lambda inputs, output, g: [g * output],
)
expm1 = define(
    "expm1",
    "float",
    np.expm1,
    c="{expm1}({0})",
    numba="{expm1}({0})",
    gradient=lambda inputs, output, g: [g * elemwise(exp, inputs[0])],
)
exp2 = define(
    "exp2",
    "float",
    np.exp2,
    c="{exp2}({0})",
    numba="{exp2}({0})",
    gradient=lambda inputs, output, g: [g * output * math.log(2)],
)
log = define(
    "log",
    "float",
    np.log,
    c="{log}({0})",
    numba="{log}({0})",
    gradient=lambda inputs, output, g: [g / inputs[0]],
)
log1p = define(
    "log1p",
    "float",
    np.log1p,
    c="{log1p}({0})",
    numba="{log1p}({0})",
    gradient=lambda inputs, output, g: [g / (inputs[0] + 1)],
)
# 1 - e**x is small near 0, and close to 1 far below: each has its precise form.
log2 = define(
    "log2",
    "float",
    np.log2,
    c="{log2}({0})",
    numba="{log2}({0})",
    gradient=lambda inputs, output, g: [g / (inputs[0] * math.log(2))],
)
log10 = define(
    "log10",
    "float",
    np.log10,
    c="{log10}({0})",
    numba="{log10}({0})",
    gradient=lambda inputs, output, g: [g / (inputs[0] * math.log(10))],
)
sqrt = define(
    "sqrt",
    "float",
    np.sqrt,
    c="{sqrt}({0})",
    numba="{sqrt}({0})",
    gradient=lambda inputs, output, g: [g * 0.5 / output],
)
