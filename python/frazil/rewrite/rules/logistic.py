"""The logistic function and its logarithms, found in expressions that do not name them."""

from __future__ import annotations

import numpy as np

import frazil.tensor as ft
from frazil._core import Constant
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import holds
from frazil.rewrite.sort import Float, KnownFloat


@rule
def log1p_of_exp(x: Float) -> Law:
    """log1p(exp(x)) == softplus(x), where exp overflows too."""
    return ft.log1p(ft.exp(x)), ft.softplus(x)


@rule
def logaddexp_of_zero(x: Float) -> Law:
    """logaddexp(0, x) == softplus(x)."""
    return ft.logaddexp(0, x), ft.softplus(x)


@rule
def one_over_one_plus_exp(x: Float) -> Law:
    """1 / (1 + exp(x)) == sigmoid(-x)."""
    return ft.reciprocal(1 + ft.exp(x)), ft.sigmoid(-x)


@rule
def exp_over_one_plus_exp(x: Float) -> Law:
    """exp(x) / (1 + exp(x)) == sigmoid(x), which is 1, not NaN, where exp overflows."""
    return ft.exp(x) / (1 + ft.exp(x)), ft.sigmoid(x)


@rule
def over_one_plus_exp(x: Float, y: Float) -> Law:
    """y / (1 + exp(x)) == y sigmoid(-x)."""
    return y / (1 + ft.exp(x)), y * ft.sigmoid(-x)


@rule
def over_sqr_of_one_plus_exp(x: Float, y: Float) -> Law:
    """y / (1 + exp(x))**2 == y sigmoid(-x)**2, where the square overflows first."""
    return y / ft.sqr(1 + ft.exp(x)), y * ft.sqr(ft.sigmoid(-x))


@rule
def one_over_sqr_of_one_plus_exp(x: Float) -> Law:
    """1 / (1 + exp(x))**2 == sigmoid(-x)**2."""
    return ft.reciprocal(ft.sqr(1 + ft.exp(x))), ft.sqr(ft.sigmoid(-x))


@rule
def one_minus_sigmoid(x: Float) -> Law:
    """1 - sigmoid(x) == sigmoid(-x), which keeps small values."""
    return 1 - ft.sigmoid(x), ft.sigmoid(-x)


def _are_ordered(low: Constant, high: Constant) -> bool:
    return bool(np.all(low.data <= high.data))


@rule
def one_minus_clipped_sigmoid(x: Float, low: KnownFloat, high: KnownFloat) -> Law:
    """1 - clip(sigmoid(x), low, high) == clip(sigmoid(-x), 1 - high, 1 - low) if low <= high."""
    ordered = holds(_are_ordered, low, high)
    clipped = ft.clip(ft.sigmoid(-x), 1 - high, 1 - low)
    return 1 - ft.clip(ft.sigmoid(x), low, high), clipped, ordered


@rule
def less_its_share(x: Float, y: Float) -> Law:
    """y - y sigmoid(x) == y sigmoid(-x)."""
    return y - y * ft.sigmoid(x), y * ft.sigmoid(-x)


@rule
def log_of_sigmoid(x: Float) -> Law:
    """log(sigmoid(x)) == -softplus(-x), where the function vanishes too."""
    return ft.log(ft.sigmoid(x)), -ft.softplus(-x)


@rule
def log_of_scaled_sigmoid(x: Float, y: Float) -> Law:
    """log(sigmoid(x) y) == log(y) - softplus(-x), where the function vanishes too."""
    return ft.log(ft.sigmoid(x) * y), ft.log(y) - ft.softplus(-x)


@rule
def log_of_divided_sigmoid(x: Float, y: Float) -> Law:
    """log(sigmoid(x) / y) == -softplus(-x) - log(y)."""
    return ft.log(ft.sigmoid(x) / y), -ft.softplus(-x) - ft.log(y)


@rule
def log1p_of_minus_sigmoid(x: Float) -> Law:
    """log1p(-sigmoid(x)) == -softplus(x), where the function rounds to 1 too."""
    return ft.log1p(-ft.sigmoid(x)), -ft.softplus(x)


@rule
def odds(x: Float) -> Law:
    """sigmoid(x) / sigmoid(-x) == exp(x)."""
    return ft.sigmoid(x) / ft.sigmoid(-x), ft.exp(x)


@rule
def odds_against(x: Float) -> Law:
    """sigmoid(-x) / sigmoid(x) == exp(-x)."""
    return ft.sigmoid(-x) / ft.sigmoid(x), ft.exp(-x)


@rule
def expm1_of_softplus(x: Float) -> Law:
    """expm1(softplus(x)) == exp(x)."""
    return ft.expm1(ft.softplus(x)), ft.exp(x)


RULES = (
    log1p_of_exp,
    logaddexp_of_zero,
    one_over_one_plus_exp,
    exp_over_one_plus_exp,
    over_one_plus_exp,
    over_sqr_of_one_plus_exp,
    one_over_sqr_of_one_plus_exp,
    one_minus_sigmoid,
    one_minus_clipped_sigmoid,
    less_its_share,
    log_of_sigmoid,
    log_of_scaled_sigmoid,
    log_of_divided_sigmoid,
    log1p_of_minus_sigmoid,
    odds,
    odds_against,
    expm1_of_softplus,
)
