"""Gauss' hypergeometric function, and Hurwitz' zeta function."""

from __future__ import annotations

import math

from frazil._core import TensorType, Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.arithmetic import abs as absolute
from frazil.scalar.elementary import Elementary, function
from frazil.scalar.exponential import exp, log1p
from frazil.scalar.logic import and_, cast, gt, le, lt, where
from frazil.scalar.loop import ScalarLoop
from frazil.scalar.op import Partial, UnknownPartial
from frazil.scalar.scipy_functions import scipy_function
from frazil.scalar.zeta import zeta_values

TERMS = 200_000
"""The number of terms of a series that are added before it counts as not converging."""


def _series(a: Variable, b: Variable, c: Variable, z: Variable, *, below: bool) -> Variable:
    """The derivative in ``a``, or in ``c`` which stands below, of the series for 0 <= z < 1.

    Terms follow each other by a ratio, and so do their derivatives; none is infinite where a
    factor of the terms is zero. NaN where the series does not converge in :data:`TERMS` terms.
    """
    number = TensorType("float64", ())
    n, term, slope, total = (Variable(number, name) for name in ("n", "term", "slope", "total"))
    own = [Variable(number, name) for name in "abcz"]
    late = Variable(number, "late")
    rest = (own[1] + n) / ((own[2] + n) * (n + 1)) * own[3]
    ratio = (own[0] + n) * rest
    by_parameter = -ratio / (own[2] + n) if below else rest
    following = slope * ratio + term * by_parameter
    small = elemwise(le, elemwise(absolute, following), elemwise(absolute, total) * 2.0**-55)
    loop = ScalarLoop(
        [n, term, slope, total],
        [n + 1, term * ratio, following, total + following],
        [*own, late],
        until=elemwise(and_, small, elemwise(gt, n, late)),
        name="hyp2f1_by_c" if below else "hyp2f1_by_a",
    )
    sizes = [elemwise(absolute, x) for x in (a, b, c)]
    inside = elemwise(and_, elemwise(lt, z, 1), elemwise(le, 0, z))
    steps = elemwise(where, inside, TERMS, 0)
    *_, found, done = loop(steps, 0.0, 1.0, 0.0, 0.0, a, b, c, z, sizes[0] + sizes[1] + sizes[2])
    return elemwise(where, done, found, math.nan)


def _hyp2f1_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    """In the parameters by series; Pfaff's transformation takes negative arguments to (0, 1)."""
    a, b, c, z = (elemwise(cast("float64"), x) for x in inputs)
    negative = elemwise(lt, z, 0)
    at = elemwise(where, negative, z / (z - 1), z)
    first = elemwise(where, negative, c - a, a)
    logarithm = elemwise(log1p, -elemwise(where, negative, z, 0))
    factor = g * elemwise(exp, -b * logarithm)
    sign = elemwise(where, negative, -1.0, 1.0)

    def by_a() -> Variable:
        return factor * sign * _series(first, b, c, at, below=False)

    def by_b() -> Variable:
        return factor * _series(b, first, c, at, below=False) - g * logarithm * output

    def by_c() -> Variable:
        moved = elemwise(where, negative, _series(first, b, c, at, below=False), 0)
        return factor * (moved + _series(first, b, c, at, below=True))

    def by_z() -> Variable:
        return g * (a * b / c) * elemwise(hyp2f1, a + 1, b + 1, c + 1, z)

    return [by_a, by_b, by_c, by_z]


def _zeta_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    x, q = inputs
    unknown = UnknownPartial("the derivative in the exponent is no sum of zeta functions")
    return [unknown, lambda: g * (-x * elemwise(zeta, x + 1, q))]


hyp2f1: Elementary = scipy_function("hyp2f1", _hyp2f1_gradient, nin=4)
zeta: Elementary = function("zeta", zeta_values, _zeta_gradient, nin=2)
