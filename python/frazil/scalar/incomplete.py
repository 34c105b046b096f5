"""The incomplete gamma and beta functions and their inverses, with gradients in all parameters.

The derivative in a parameter has no closed form. It is the integral of the density times the
derivative of its logarithm, ``log(t)`` less a mean: below ``x``, or above it with the other sign.
The side is taken on which this factor keeps its sign, so that nothing cancels. For small
parameters the recurrence ``P(k, x) = P(k + 1, x) + x**k * exp(-x) / gamma(k + 1)``, and that of the
beta function, takes the pole out of the mean.
"""

from __future__ import annotations

import math

from frazil._core import Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.arithmetic import maximum, minimum
from frazil.scalar.elementary import Elementary
from frazil.scalar.exponential import exp, expm1, log, log1p, sqrt
from frazil.scalar.gamma import betaln
from frazil.scalar.logic import and_, cast, eq, gt, le, lt, where
from frazil.scalar.op import Partial
from frazil.scalar.quadrature import integral
from frazil.scalar.scipy_functions import scipy_function
from frazil.scalar.special import gammaln, psi

STIRLING_FROM = 10.0
"""From here on Stirling's series is exact with four terms."""

LOG_2_PI = math.log(2 * math.pi)


def _wide(inputs: Variables) -> list[Variable]:
    return [elemwise(cast("float64"), x) for x in inputs]


def _stirling(a: Variable) -> Variable:
    """``log(gamma(a + 1))`` less Stirling's formula for it, for ``a`` that is large."""
    square = 1 / (a * a)
    return (1 - square * (1 - square * (1 - square * 0.75) * (2 / 7)) / 30) / (a * 12)


def _log_ratio(difference: Variable, ratio: Variable) -> Variable:
    """``log(ratio)``, given ``ratio - 1``, which is exact near 0."""
    near = elemwise(gt, difference, -0.9)
    close = elemwise(log1p, elemwise(where, near, difference, 0))
    return elemwise(where, near, close, elemwise(log, elemwise(where, near, 1, ratio)))


# ---------------------------------------------------------------- gamma


def _gamma_weight(k: Variable, x: Variable) -> Variable:
    """``x**k * exp(-x) / gamma(k + 1)``, whose factors may overflow."""
    large = elemwise(gt, k, STIRLING_FROM)
    few, many = elemwise(where, large, 1, k), elemwise(where, large, k, STIRLING_FROM)
    plain = few * elemwise(log, x) - x - elemwise(gammaln, few + 1)
    off = (x - many) / many
    root = (elemwise(log, many) + LOG_2_PI) * 0.5
    asymptotic = many * (_log_ratio(off, x / many) - off) - root - _stirling(many)
    return elemwise(exp, elemwise(where, large, asymptotic, plain))


def gamma_density(k: Variable, x: Variable) -> Variable:
    """The derivative of ``gammainc(k, x)`` in ``x``."""
    k, x = _wide([k, x])
    inside = elemwise(and_, elemwise(gt, x, 0), elemwise(lt, x, math.inf))
    at = elemwise(where, inside, x, 1)
    edge = elemwise(where, elemwise(lt, k, 1), math.inf, elemwise(where, elemwise(eq, k, 1), 1, 0))
    beyond = elemwise(where, elemwise(eq, x, 0), edge, elemwise(where, elemwise(gt, x, 0), 0, x))
    return elemwise(where, inside, _gamma_weight(k, at) * (k / at), beyond)


def gamma_by_shape(k: Variable, x: Variable) -> Variable:
    """The derivative of ``gammainc(k, x)`` in ``k``; NaN where ``k`` is not above 0."""
    k, x = _wide([k, x])
    proper = elemwise(and_, elemwise(gt, k, 0), elemwise(lt, k, math.inf))
    inside = elemwise(and_, elemwise(gt, x, 0), elemwise(lt, x, math.inf))
    inside = elemwise(and_, inside, proper)
    k_in, at = elemwise(where, inside, k, 1), elemwise(where, inside, x, 1)
    low = elemwise(le, at, elemwise(maximum, k_in, 1))
    value = elemwise(where, low, _gamma_below(k_in, at, low), _gamma_above(k_in, at, low))
    zero = elemwise(where, proper, x * 0, math.nan)
    zero = elemwise(where, elemwise(eq, x, math.inf), elemwise(where, proper, 0, math.nan), zero)
    return elemwise(where, inside, value, zero)


def _gamma_below(k: Variable, x: Variable, low: Variable) -> Variable:
    """By the integral over ``t = x * exp(-u)``."""
    at = elemwise(where, low, x, 1)
    small = elemwise(lt, k, 1)
    a = elemwise(where, small, k + 1, k)
    slope = elemwise(maximum, a - at, 0)
    scale = 1 / (slope + elemwise(sqrt, elemwise(minimum, a, at)))
    start = elemwise(log, at) - elemwise(psi, a)

    def integrand(u: Variable, a: Variable, x: Variable, start: Variable) -> Variable:
        exponent = (x - a) * u - x * (elemwise(expm1, -u) + u)
        return elemwise(exp, exponent) * (start - u)

    area = integral("gammainc_below", integrand, [a, at, start], scale, low)
    first = _gamma_weight(k, at) * (elemwise(log, at) - elemwise(psi, k + 1))
    return area * (_gamma_weight(a, at) * a) + elemwise(where, small, first, 0)


def _gamma_above(k: Variable, x: Variable, low: Variable) -> Variable:
    """By the integral over ``t = x + u``."""
    at, k = elemwise(where, low, 2, x), elemwise(where, low, 1, k)
    more = elemwise(maximum, k - 1, 0)
    scale = 1 / (elemwise(maximum, 1 - (k - 1) / at, 0) + elemwise(sqrt, more) / at)
    start = elemwise(log, at) - elemwise(psi, k)

    def integrand(u: Variable, k: Variable, x: Variable, start: Variable) -> Variable:
        ratio = elemwise(log1p, u / x)
        return elemwise(exp, (k - 1) * ratio - u) * (start + ratio)

    wanted = elemwise(eq, low, False)
    area = integral("gammainc_above", integrand, [k, at, start], scale, wanted)
    return -area * (_gamma_weight(k, at) * (k / at))


def _gammainc_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [lambda: g * gamma_by_shape(*inputs), lambda: g * gamma_density(*inputs)]


def _gammaincc_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [lambda: -g * gamma_by_shape(*inputs), lambda: -g * gamma_density(*inputs)]


def _gammaincinv_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    k, x = inputs[0], output
    slope = g / gamma_density(k, x)
    return [lambda: -slope * gamma_by_shape(k, x), slope]


def _gammainccinv_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    k, x = inputs[0], output
    slope = g / gamma_density(k, x)
    return [lambda: -slope * gamma_by_shape(k, x), lambda: -slope]


gammainc: Elementary = scipy_function("gammainc", _gammainc_gradient, nin=2)
gammaincc: Elementary = scipy_function("gammaincc", _gammaincc_gradient, nin=2)
gammaincinv: Elementary = scipy_function("gammaincinv", _gammaincinv_gradient, nin=2)
gammainccinv: Elementary = scipy_function("gammainccinv", _gammainccinv_gradient, nin=2)


# ---------------------------------------------------------------- beta


def _beta_weight(a: Variable, b: Variable, x: Variable, y: Variable) -> Variable:
    """``x**a * y**b / beta(a, b)``, whose factors may overflow; ``y`` is ``1 - x``."""
    large = elemwise(gt, elemwise(minimum, a, b), STIRLING_FROM)
    few = [elemwise(where, large, 1, parameter) for parameter in (a, b)]
    plain = few[0] * elemwise(log, x) + few[1] * elemwise(log, y) - elemwise(betaln, *few)
    a, b = (elemwise(where, large, parameter, STIRLING_FROM) for parameter in (a, b))
    whole, off = a + b, b * x - a * y
    ratios = a * _log_ratio(off / a, x * (whole / a)) + b * _log_ratio(-off / b, y * (whole / b))
    root = (elemwise(log, a * (b / whole)) - LOG_2_PI) * 0.5
    asymptotic = ratios + root + _stirling(whole) - _stirling(a) - _stirling(b)
    return elemwise(exp, elemwise(where, large, asymptotic, plain))


def beta_density(a: Variable, b: Variable, x: Variable) -> Variable:
    """The derivative of ``betainc(a, b, x)`` in ``x``."""
    a, b, x = _wide([a, b, x])
    inside = elemwise(and_, elemwise(gt, x, 0), elemwise(lt, x, 1))
    at = elemwise(where, inside, x, 0.5)
    value = _beta_weight(a, b, at, 1 - at) / (at * (1 - at))
    power = elemwise(where, elemwise(le, x, 0), a, b)
    edge = elemwise(where, elemwise(eq, power, 1), a * b, 0)
    edge = elemwise(where, elemwise(lt, power, 1), math.inf, edge)
    outside = elemwise(where, elemwise(eq, x * (1 - x), 0), edge, math.nan)
    return elemwise(where, inside, value, outside)


def beta_by_first(a: Variable, b: Variable, x: Variable, y: Variable) -> Variable:
    """The derivative of ``betainc(a, b, x)`` in ``a``, given ``y = 1 - x``."""
    proper = elemwise(gt, elemwise(minimum, a, b), 0)
    proper = elemwise(and_, proper, elemwise(lt, elemwise(maximum, a, b), math.inf))
    inside = elemwise(gt, elemwise(minimum, x, y), 0)
    inside = elemwise(and_, inside, proper)
    edge = elemwise(and_, proper, elemwise(eq, x * y, 0))
    a, b, x, y = (elemwise(where, inside, value, 0.5) for value in (a, b, x, y))
    first = elemwise(where, elemwise(lt, a, 1), a + 1, a)
    mean = elemwise(psi, first) - elemwise(psi, first + b)
    low = elemwise(le, elemwise(log, x), mean)
    below, above = _beta_below(a, b, x, y, low), _beta_above(a, b, x, y, low)
    value = elemwise(where, low, below, above)
    return elemwise(where, inside, value, elemwise(where, edge, 0, math.nan))


def _beta_below(a: Variable, b: Variable, x: Variable, y: Variable, low: Variable) -> Variable:
    """By the integral over ``t = x * exp(-u)``."""
    x, y = elemwise(where, low, x, 0.5), elemwise(where, low, y, 0.5)
    small = elemwise(lt, a, 1)
    first = elemwise(where, small, a + 1, a)
    pull = elemwise(maximum, b - 1, 0) * x
    root = elemwise(sqrt, elemwise(minimum, pull, first * y)) / y
    scale = 1 / (elemwise(maximum, first - pull / y, 0) + root)
    start = elemwise(log, x) - elemwise(psi, first) + elemwise(psi, first + b)

    def integrand(u: Variable, *parameters: Variable) -> Variable:
        a, b, odds, start = parameters
        return elemwise(exp, (b - 1) * _log_rest(odds, u) - a * u) * (start - u)

    area = integral("betainc_below", integrand, [first, b, x / y, start], scale, low)
    steep = elemwise(log, x) + elemwise(psi, a + b) - elemwise(psi, a + 1)
    more = _beta_weight(a, b, x, y) / a * steep
    return area * (_beta_weight(first, b, x, y) / y) + elemwise(where, small, more, 0)


def _log_rest(odds: Variable, u: Variable) -> Variable:
    """The logarithm of the other factor of the integrand, by that at ``u = 0``."""
    return elemwise(log1p, -odds * elemwise(expm1, -u))


def _beta_above(a: Variable, b: Variable, x: Variable, y: Variable, low: Variable) -> Variable:
    """By the integral over ``1 - t = y * exp(-u)``."""
    x, y = elemwise(where, low, 0.5, x), elemwise(where, low, 0.5, y)
    pull = elemwise(maximum, a - 1, 0) * y
    root = elemwise(sqrt, elemwise(minimum, pull, b * x)) / x
    # A root below 1 is of a bend that ends before the integrand has fallen off.
    bend = elemwise(where, elemwise(gt, root, 1), root, elemwise(minimum, root, b))
    scale = 1 / (elemwise(maximum, b - pull / x, 0) + bend)
    start = elemwise(log, x) - elemwise(psi, a) + elemwise(psi, a + b)

    def integrand(u: Variable, *parameters: Variable) -> Variable:
        a, b, odds, start = parameters
        rest = _log_rest(odds, u)
        return elemwise(exp, (a - 1) * rest - b * u) * (start + rest)

    wanted = elemwise(eq, low, False)
    area = integral("betainc_above", integrand, [a, b, y / x, start], scale, wanted)
    return -area * (_beta_weight(a, b, x, y) / x)


def beta_by_parameter(position: int, inputs: Variables, x: Variable) -> Variable:
    """The derivative of ``betainc(a, b, x)`` in ``a`` or in ``b``."""
    a, b, at = _wide([inputs[0], inputs[1], x])
    if position == 0:
        return beta_by_first(a, b, at, 1 - at)
    return -beta_by_first(b, a, 1 - at, at)


def _betainc_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [
        lambda: g * beta_by_parameter(0, inputs, inputs[2]),
        lambda: g * beta_by_parameter(1, inputs, inputs[2]),
        lambda: g * beta_density(*inputs),
    ]


def _betaincinv_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    slope = g / beta_density(inputs[0], inputs[1], output)
    return [
        lambda: -slope * beta_by_parameter(0, inputs, output),
        lambda: -slope * beta_by_parameter(1, inputs, output),
        slope,
    ]


betainc: Elementary = scipy_function("betainc", _betainc_gradient, nin=3)
betaincinv: Elementary = scipy_function("betaincinv", _betaincinv_gradient, nin=3)
