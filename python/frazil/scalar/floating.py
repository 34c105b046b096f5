"""Parts of floating numbers: signs, and the numbers beside them."""

from __future__ import annotations

import numpy as np

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.elementary import define, function
from frazil.scalar.logic import eq, second, where
from frazil.scalar.op import Partial


def _copysign_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    same = elemwise(eq, *(elemwise(signbit, x) for x in inputs))
    return [lambda: elemwise(where, same, g, -g), lambda: elemwise(second, g, 0)]


signbit = define(
    "signbit",
    "predicate",
    np.signbit,
    c={"f": "{copysign}(1, {0}) < 0", "i": "{0} < 0", "ub": "0"},
    numba={"f": "{copysign}({T}(1), {0}) < 0", "i": "{0} < 0", "ub": "False"},
)
copysign = function("copysign", np.copysign, _copysign_gradient, nin=2)
nextafter = function(
    "nextafter",
    np.nextafter,
    lambda inputs, output, g: [g, lambda: elemwise(second, g, 0)],
    nin=2,
)
