"""Bessel functions. They have no gradient in the order: no formula of it holds everywhere."""

from __future__ import annotations

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.arithmetic import sign
from frazil.scalar.elementary import Elementary
from frazil.scalar.op import GradientFunction, Partial, UnknownPartial
from frazil.scalar.scipy_functions import scipy_function


def _of_order(name: str, slope: GradientFunction) -> Elementary:
    """The op of a row that takes an order, and an argument by which ``slope`` differentiates."""

    unknown = UnknownPartial(
        "of the derivative in the order no formula is known that holds everywhere"
    )

    def gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
        return [unknown, *slope(inputs, output, g)]

    return scipy_function(name, gradient, nin=2)


def _neighbours(op: Elementary, inputs: Variables) -> tuple[Variable, Variable]:
    """The values for the order less one, and for one more."""
    v, x = inputs
    return elemwise(op, v - 1, x), elemwise(op, v + 1, x)


def _iv_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    below, above = _neighbours(iv, inputs)
    return [g * ((below + above) * 0.5)]


def _ive_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    below, above = _neighbours(ive, inputs)
    return [g * ((below + above) * 0.5 - elemwise(sign, inputs[1]) * output)]


def _kv_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    below, above = _neighbours(kv, inputs)
    return [g * ((below + above) * -0.5)]


def _kve_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    below, above = _neighbours(kve, inputs)
    return [g * (output - (below + above) * 0.5)]


def _jv_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    below, above = _neighbours(jv, inputs)
    return [g * ((below - above) * 0.5)]


def _yv_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    below, above = _neighbours(yv, inputs)
    return [g * ((below - above) * 0.5)]


def _i1e_slope(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    (x,) = inputs
    around = elemwise(i0e, x) + elemwise(ive, 2, x)
    return [g * (around * 0.5 - elemwise(sign, x) * output)]


iv: Elementary = _of_order("iv", _iv_slope)
ive: Elementary = _of_order("ive", _ive_slope)
kv: Elementary = _of_order("kv", _kv_slope)
kve: Elementary = _of_order("kve", _kve_slope)
jv: Elementary = _of_order("jv", _jv_slope)
yv: Elementary = _of_order("yv", _yv_slope)
i0: Elementary = scipy_function("i0", lambda inputs, output, g: [g * elemwise(i1, inputs[0])])
i1: Elementary = scipy_function(
    "i1",
    lambda inputs, output, g: [
        g * ((elemwise(i0, inputs[0]) + elemwise(iv, 2, inputs[0])) * 0.5),
    ],
)
i0e: Elementary = scipy_function(
    "i0e",
    lambda inputs, output, g: [
        g * (elemwise(i1e, inputs[0]) - elemwise(sign, inputs[0]) * output),
    ],
)
i1e: Elementary = scipy_function("i1e", _i1e_slope)
k0: Elementary = scipy_function("k0", lambda inputs, output, g: [-g * elemwise(k1, inputs[0])])
k1: Elementary = scipy_function(
    "k1",
    lambda inputs, output, g: [
        g * ((elemwise(k0, inputs[0]) + elemwise(kv, 2, inputs[0])) * -0.5),
    ],
)
k0e: Elementary = scipy_function(
    "k0e", lambda inputs, output, g: [g * (output - elemwise(k1e, inputs[0]))]
)
k1e: Elementary = scipy_function(
    "k1e",
    lambda inputs, output, g: [
        g * (output - (elemwise(k0e, inputs[0]) + elemwise(kve, 2, inputs[0])) * 0.5),
    ],
)
j0: Elementary = scipy_function("j0", lambda inputs, output, g: [-g * elemwise(j1, inputs[0])])
j1: Elementary = scipy_function(
    "j1",
    lambda inputs, output, g: [
        g * ((elemwise(j0, inputs[0]) - elemwise(jv, 2, inputs[0])) * 0.5),
    ],
)
y0: Elementary = scipy_function("y0", lambda inputs, output, g: [-g * elemwise(y1, inputs[0])])
y1: Elementary = scipy_function(
    "y1",
    lambda inputs, output, g: [
        g * ((elemwise(y0, inputs[0]) - elemwise(yv, 2, inputs[0])) * 0.5),
    ],
)
