"""Comparisons, minima and maxima."""

from __future__ import annotations

import frazil.scalar as scalar
import frazil.tensor as ft
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.filling import truth
from frazil.rewrite.sort import Bool, Discrete, Integer, Tensor
from frazil.rewrite.wildcard import any_of

extremum = any_of("extremum", scalar.maximum, scalar.minimum)
never_of_discrete = any_of("never", scalar.isnan, scalar.isinf)


@rule
def gt_to_lt(x: Tensor, y: Tensor) -> Law:
    """x > y is y < x."""
    return x > y, y < x


@rule
def ge_to_le(x: Tensor, y: Tensor) -> Law:
    """x >= y is y <= x."""
    return x >= y, y <= x


@rule
def lt_self(x: Tensor) -> Law:
    """x < x is false."""
    return x < x, truth(x, False)


@rule
def le_self(x: Discrete) -> Law:
    """x <= x is true, but for NaN."""
    return x <= x, truth(x, True)


@rule
def eq_self(x: Discrete) -> Law:
    """x == x is true, but for NaN."""
    return ft.eq(x, x), truth(x, True)


@rule
def neq_self(x: Discrete) -> Law:
    """x != x is false, but for NaN."""
    return ft.neq(x, x), truth(x, False)


@rule
def not_lt(x: Discrete, y: Discrete) -> Law:
    """not x < y is y <= x, but for NaN."""
    return ~(x < y), y <= x


@rule
def not_le(x: Discrete, y: Discrete) -> Law:
    """not x <= y is y < x, but for NaN."""
    return ~(x <= y), y < x


@rule
def not_eq(x: Tensor, y: Tensor) -> Law:
    """not x == y is x != y."""
    return ~ft.eq(x, y), ft.neq(x, y)


@rule
def not_neq(x: Tensor, y: Tensor) -> Law:
    """not x != y is x == y."""
    return ~ft.neq(x, y), ft.eq(x, y)


@rule
def eq_true(x: Bool) -> Law:
    """x == true is x."""
    return ft.eq(x, True), x


@rule
def eq_false(x: Bool) -> Law:
    """x == false is not x."""
    return ft.eq(x, False), ~x


@rule
def neq_true(x: Bool) -> Law:
    """x != true is not x."""
    return ft.neq(x, True), ~x


@rule
def neq_false(x: Bool) -> Law:
    """x != false is x."""
    return ft.neq(x, False), x


@rule
def extremum_self(x: Tensor) -> Law:
    """max(x, x) == min(x, x) == x."""
    return extremum(x, x), x


@rule
def extremum_again(x: Tensor, y: Tensor) -> Law:
    """max(x, max(x, y)) == max(x, y), and so for min."""
    return extremum(x, extremum(x, y)), extremum(x, y)


@rule
def maximum_of_minimum(x: Integer, y: Integer) -> Law:
    """max(x, min(x, y)) == x, but for NaN."""
    return ft.maximum(x, ft.minimum(x, y)), x


@rule
def minimum_of_maximum(x: Integer, y: Integer) -> Law:
    """min(x, max(x, y)) == x, but for NaN."""
    return ft.minimum(x, ft.maximum(x, y)), x


@rule
def never_of_discretes(x: Discrete) -> Law:
    """An integer is neither NaN nor infinite."""
    return never_of_discrete(x), truth(x, False)


@rule
def isfinite_of_discrete(x: Discrete) -> Law:
    """An integer is finite."""
    return ft.isfinite(x), truth(x, True)


RULES = (
    gt_to_lt,
    ge_to_le,
    lt_self,
    le_self,
    eq_self,
    neq_self,
    not_lt,
    not_le,
    not_eq,
    not_neq,
    eq_true,
    eq_false,
    neq_true,
    neq_false,
    extremum_self,
    extremum_again,
    maximum_of_minimum,
    minimum_of_maximum,
    never_of_discretes,
    isfinite_of_discrete,
)
