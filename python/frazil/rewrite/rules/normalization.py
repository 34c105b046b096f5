"""Sums of exponentials, their logarithms, and quotients by them."""

from __future__ import annotations

import frazil.scalar as scalar
import frazil.tensor as ft
from frazil._core import FrozenApply, Variable, elemwise
from frazil.rewrite.analysis import is_nonnegative
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.factors import cancelled, weighted
from frazil.rewrite.guard import holds
from frazil.rewrite.matched import application
from frazil.rewrite.shift import is_shifted, shift
from frazil.rewrite.sort import Float
from frazil.rewrite.wildcard import any_kind
from frazil.tensor.dims import ExpandDims
from frazil.tensor.reductions import Prod, Sum

total = any_kind(Sum)
product = any_kind(Prod)
kept = any_kind(ExpandDims)


def _log_of_total(node: FrozenApply, *_: Variable) -> Variable | None:
    """The largest exponent, and the logarithm of the sum over the others less it."""
    summed = application(node.inputs[0])
    expand = summed.op if isinstance(summed.op, ExpandDims) else None
    if expand is not None:
        summed = application(summed.inputs[0])
    axes = summed.op.axes
    weights, exponent = weighted(summed.inputs[0])
    if exponent is None or is_shifted(exponent, axes):
        return None
    top = shift(exponent, axes, weights)
    small = elemwise(scalar.exp, elemwise(scalar.sub, exponent, ExpandDims(axes)(top)))
    terms = small if weights is None else elemwise(scalar.mul, weights, small)
    less = summed.op(terms)
    if expand is not None:
        top, less = expand(top), expand(less)
    result: Variable = elemwise(scalar.add, elemwise(scalar.log, less), top)
    return result


@rule
def log_of_total(x: Float) -> Law:
    """log(sum(exp(x))) == log(sum(exp(x - m))) + m for any finite m: no term overflows."""
    return ft.log(total(ft.exp(x))), _log_of_total


@rule
def log_of_kept_total(x: Float) -> Law:
    """log(sum(exp(x))) == log(sum(exp(x - m))) + m, with the axes summed over kept."""
    return ft.log(kept(total(ft.exp(x)))), _log_of_total


@rule
def log_of_weighted_total(x: Float, y: Float) -> Law:
    """log(sum(y exp(x))) == log(sum(y exp(x - m))) + m."""
    return ft.log(total(ft.exp(x) * y)), _log_of_total


@rule
def log_of_kept_weighted_total(x: Float, y: Float) -> Law:
    """log(sum(y exp(x))) == log(sum(y exp(x - m))) + m, with the axes summed over kept."""
    return ft.log(kept(total(ft.exp(x) * y))), _log_of_total


@rule
def log_of_mean(x: Float, y: Float) -> Law:
    """log(sum(exp(x)) / y) == log(sum(exp(x))) - log(y)."""
    return ft.log(total(ft.exp(x)) / y), ft.log(total(ft.exp(x))) - ft.log(y)


@rule
def log_of_scaled_total(x: Float, y: Float) -> Law:
    """log(sum(exp(x)) * y) == log(sum(exp(x))) + log(y)."""
    return ft.log(total(ft.exp(x)) * y), ft.log(total(ft.exp(x))) + ft.log(y)


@rule
def log_of_two(x: Float, y: Float) -> Law:
    """log(exp(x) + exp(y)) == logaddexp(x, y), where either overflows or both vanish."""
    return ft.log(ft.exp(x) + ft.exp(y)), ft.logaddexp(x, y)


def _sum_of_logs(node: FrozenApply, x: Variable) -> Variable:
    result: Variable = Sum(application(node.inputs[0]).op.axes)(elemwise(scalar.log, x))
    return result


@rule
def log_of_product(x: Float) -> Law:
    """log(prod(x)) == sum(log(x)) where x has no sign: the product overflows or vanishes first."""
    return ft.log(product(x)), _sum_of_logs, holds(is_nonnegative, x)


def _cancelled(node: FrozenApply, *_: Variable) -> Variable | None:
    return cancelled(node.outputs[0])


@rule
def one_over_exp(x: Float) -> Law:
    """1 / exp(x) == exp(-x)."""
    return ft.reciprocal(ft.exp(x)), ft.exp(-x)


@rule
def factors_over_exp(x: Float, y: Float) -> Law:
    """exp(x) among the factors of y cancels exp(x); other laws hold for sigmoid(x) and sums."""
    return y / ft.exp(x), _cancelled


@rule
def factors_over_scaled_exp(x: Float, y: Float, z: Float) -> Law:
    """exp(x) among the factors of y cancels exp(x) beside other divisors."""
    return y / (ft.exp(x) * z), _cancelled


@rule
def factors_over_divided_exp(x: Float, y: Float, z: Float) -> Law:
    """exp(x) among the factors of y cancels exp(x) in a divisor that is divided."""
    return y / (ft.exp(x) / z), _cancelled


@rule
def quotient_by_exp_among_factors(x: Float, y: Float, z: Float) -> Law:
    """exp(x) among the factors of z cancels exp(x) in the divisor."""
    return (y / ft.exp(x)) * z, _cancelled


@rule
def exp_among_factors(x: Float, y: Float) -> Law:
    """exp(x) exp(-x) == 1 and exp(x) sigmoid(-x) == sigmoid(x), wherever in y the factor is."""
    return ft.exp(x) * y, _cancelled


@rule
def exp_among_farther_factors(x: Float, y: Float, z: Float) -> Law:
    """exp(x) cancels factors of y and z."""
    return (ft.exp(x) * y) * z, _cancelled


@rule
def exp_over_factors(x: Float, y: Float) -> Law:
    """exp(x) / sum(exp(x)) == exp(x - m) / sum(exp(x - m)) for any finite m."""
    return ft.exp(x) / y, _cancelled


@rule
def scaled_exp_over_factors(x: Float, y: Float, z: Float) -> Law:
    """exp(x) y / sum(exp(x)) == exp(x - m) y / sum(exp(x - m)) for any finite m."""
    return (ft.exp(x) * y) / z, _cancelled


@rule
def divided_exp_among_factors(x: Float, y: Float, z: Float) -> Law:
    """exp(x) in a numerator cancels factors of z."""
    return (ft.exp(x) / y) * z, _cancelled


@rule
def sigmoid_among_factors(x: Float, y: Float) -> Law:
    """sigmoid(x) / sigmoid(x) == 1, wherever in y the divisor is."""
    return ft.sigmoid(x) * y, _cancelled


@rule
def one_plus_exp_among_factors(x: Float, y: Float) -> Law:
    """1 + exp(x) cancels sigmoid(-x)."""
    return (1 + ft.exp(x)) * y, _cancelled


@rule
def scaled_one_plus_exp_among_factors(x: Float, y: Float, z: Float) -> Law:
    """1 + exp(x) cancels sigmoid(-x), farther in a product, too."""
    return ((1 + ft.exp(x)) * y) * z, _cancelled


RULES = (
    log_of_total,
    log_of_kept_total,
    log_of_weighted_total,
    log_of_kept_weighted_total,
    log_of_mean,
    log_of_scaled_total,
    log_of_two,
    log_of_product,
    one_over_exp,
    exp_over_factors,
    scaled_exp_over_factors,
    factors_over_exp,
    factors_over_scaled_exp,
    factors_over_divided_exp,
    exp_among_factors,
    exp_among_farther_factors,
    quotient_by_exp_among_factors,
    divided_exp_among_factors,
    sigmoid_among_factors,
    one_plus_exp_among_factors,
    scaled_one_plus_exp_among_factors,
)
