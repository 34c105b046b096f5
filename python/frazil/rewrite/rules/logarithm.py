"""Logarithms and exponentials near their zeros, of one another, and of products."""

from __future__ import annotations

import numpy as np

import frazil.tensor as ft
from frazil._core import Constant, Variable
from frazil.rewrite.analysis import is_nonnegative
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import holds
from frazil.rewrite.sort import Float, KnownFloat


@rule
def log_of_one_plus(x: Float) -> Law:
    """log(1 + x) == log1p(x), which keeps an x that vanishes beside 1."""
    return ft.log(1 + x), ft.log1p(x)


@rule
def log_of_one_minus(x: Float) -> Law:
    """log(1 - x) == log1p(-x)."""
    return ft.log(1 - x), ft.log1p(-x)


@rule
def exp_minus_one(x: Float) -> Law:
    """exp(x) - 1 == expm1(x), which keeps an x near 0."""
    return ft.exp(x) - 1, ft.expm1(x)


@rule
def exp_plus_minus_one(x: Float) -> Law:
    """exp(x) + -1 == expm1(x)."""
    return ft.exp(x) + -1, ft.expm1(x)


@rule
def one_minus_exp(x: Float) -> Law:
    """1 - exp(x) == -expm1(x)."""
    return 1 - ft.exp(x), -ft.expm1(x)


@rule
def one_plus_expm1(x: Float) -> Law:
    """expm1(x) + 1 == exp(x), where it vanishes too."""
    return ft.expm1(x) + 1, ft.exp(x)


@rule
def log_of_minus_expm1(x: Float) -> Law:
    """log(-expm1(x)) == log(1 - exp(x)), precise at both ends."""
    return ft.log(-ft.expm1(x)), ft.log1mexp(x)


@rule
def one_minus_erf(x: Float) -> Law:
    """1 - erf(x) == erfc(x), which keeps small values."""
    return 1 - ft.erf(x), ft.erfc(x)


@rule
def one_plus_erf(x: Float) -> Law:
    """1 + erf(x) == erfc(-x), which keeps small values."""
    return 1 + ft.erf(x), ft.erfc(-x)


def _log_erfc(x: Variable) -> Variable:
    return ft.where(x > 1, ft.log(ft.erfcx(x)) - ft.sqr(x), ft.log1p(-ft.erf(x)))


@rule
def log_of_erfc(x: Float) -> Law:
    """log(erfc(x)) == log(erfcx(x)) - x**2, where erfc vanishes too; below 1 log1p(-erf(x))."""
    return ft.log(ft.erfc(x)), _log_erfc(x)


@rule
def log_of_scaled_erfc(x: Float, y: Float) -> Law:
    """log(erfc(x) y) == log(erfc(x)) + log(y), where erfc vanishes too."""
    return ft.log(ft.erfc(x) * y), _log_erfc(x) + ft.log(y)


@rule
def log1p_of_minus_exp(x: Float) -> Law:
    """log1p(-exp(x)) == log(1 - exp(x)), precise near 0 too."""
    return ft.log1p(-ft.exp(x)), ft.log1mexp(x)


@rule
def log_of_exp(x: Float) -> Law:
    """log(exp(x)) == x, where exp overflows or vanishes too."""
    return ft.log(ft.exp(x)), x


@rule
def exp_of_log(x: Float) -> Law:
    """exp(log(x)) == x where x has no sign."""
    return ft.exp(ft.log(x)), x, holds(is_nonnegative, x)


@rule
def log1p_of_expm1(x: Float) -> Law:
    """log1p(expm1(x)) == x."""
    return ft.log1p(ft.expm1(x)), x


@rule
def expm1_of_log1p(x: Float) -> Law:
    """expm1(log1p(x)) == x where x has no sign."""
    return ft.expm1(ft.log1p(x)), x, holds(is_nonnegative, x)


@rule
def exp_of_log1p(x: Float) -> Law:
    """exp(log1p(x)) == 1 + x where x has no sign."""
    return ft.exp(ft.log1p(x)), 1 + x, holds(is_nonnegative, x)


@rule
def log_of_scaled_exp(x: Float, y: Float) -> Law:
    """log(exp(x) * y) == x + log(y), where exp overflows or vanishes too."""
    return ft.log(ft.exp(x) * y), x + ft.log(y)


@rule
def log_of_divided_exp(x: Float, y: Float) -> Law:
    """log(exp(x) / y) == x - log(y)."""
    return ft.log(ft.exp(x) / y), x - ft.log(y)


@rule
def log_of_quotient_by_exp(x: Float, y: Float) -> Law:
    """log(y / exp(x)) == log(y) - x."""
    return ft.log(y / ft.exp(x)), ft.log(y) - x


@rule
def log_of_sqr(x: Float) -> Law:
    """log(x**2) == 2 log|x|, where x**2 overflows or vanishes too."""
    return ft.log(ft.sqr(x)), 2 * ft.log(abs(x))


@rule
def log_of_sqrt(x: Float) -> Law:
    """log(sqrt(x)) == log(x) / 2, and the root is saved."""
    return ft.log(ft.sqrt(x)), 0.5 * ft.log(x)


@rule
def log_of_reciprocal(x: Float) -> Law:
    """log(1 / x) == -log(x), where 1 / x overflows or vanishes too."""
    return ft.log(ft.reciprocal(x)), -ft.log(x)


def _is_ordinary_exponent(c: Constant) -> bool:
    return bool((np.isfinite(c.data) & (c.data != 0)).all())


@rule
def log_of_pow(x: Float, c: KnownFloat) -> Law:
    """log(x**c) == c log(x) where x has no sign and c is finite and not 0."""
    ordinary = holds(_is_ordinary_exponent, c)
    return ft.log(x**c), c * ft.log(x), holds(is_nonnegative, x), ordinary


@rule
def sqrt_of_sqr(x: Float) -> Law:
    """sqrt(x**2) == |x|, where x**2 overflows or vanishes too."""
    return ft.sqrt(ft.sqr(x)), abs(x)


@rule
def over_sqr_times_root(x: Float, y: Float, z: Float) -> Law:
    """(y / x**2) (x z) == (y / x) z, where x**2 overflows or vanishes first."""
    return (y / ft.sqr(x)) * (x * z), (y / x) * z


@rule
def one_over_sqr_times_root(x: Float, z: Float) -> Law:
    """(1 / x**2) (x z) == z / x, where x**2 overflows or vanishes first."""
    return ft.reciprocal(ft.sqr(x)) * (x * z), z / x


@rule
def exp_is_positive(x: Float) -> Law:
    """0 < exp(x) wherever x is a number but -inf, where exp vanishes too."""
    return ft.lt(0, ft.exp(x)), ft.lt(-np.inf, x)


@rule
def exp_is_not_positive(x: Float) -> Law:
    """exp(x) <= 0 where x is -inf, not where exp vanishes."""
    return ft.exp(x) <= 0, x <= -np.inf


@rule
def sign_of_exp(x: Float) -> Law:
    """sign(exp(x)) == 1, where exp vanishes too, but 0 at -inf."""
    return ft.sign(ft.exp(x)), ft.where(ft.eq(x, -np.inf), 0.0, ft.where(ft.isnan(x), x, 1.0))


RULES = (
    log_of_one_plus,
    log_of_one_minus,
    exp_minus_one,
    exp_plus_minus_one,
    one_minus_exp,
    one_plus_expm1,
    log_of_minus_expm1,
    one_minus_erf,
    one_plus_erf,
    log_of_erfc,
    log_of_scaled_erfc,
    log1p_of_minus_exp,
    log_of_exp,
    exp_of_log,
    log1p_of_expm1,
    expm1_of_log1p,
    exp_of_log1p,
    log_of_scaled_exp,
    log_of_divided_exp,
    log_of_quotient_by_exp,
    log_of_sqr,
    log_of_sqrt,
    log_of_reciprocal,
    log_of_pow,
    sqrt_of_sqr,
    over_sqr_times_root,
    one_over_sqr_times_root,
    exp_is_positive,
    exp_is_not_positive,
    sign_of_exp,
)
