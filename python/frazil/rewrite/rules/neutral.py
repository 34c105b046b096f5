"""Neutral and absorbing elements of arithmetic."""

from __future__ import annotations

import math

import frazil.tensor as ft
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.filling import fill
from frazil.rewrite.sort import Float, Integer, Number, Tensor


@rule
def add_zero(x: Integer) -> Law:
    """x + 0 == x for integers; -0.0 + 0.0 is 0.0."""
    return x + 0, x


@rule
def add_negative_zero(x: Float) -> Law:
    """x + -0.0 == x for floats of either sign."""
    return x + -0.0, x


@rule
def sub_zero(x: Number) -> Law:
    """x - 0 == x, and -0.0 - 0.0 is -0.0."""
    return x - 0, x


@rule
def zero_sub(x: Integer) -> Law:
    """0 - x == -x for integers; 0.0 - 0.0 is 0.0."""
    return 0 - x, -x


@rule
def negative_zero_sub(x: Float) -> Law:
    """-0.0 - x == -x for floats of either sign."""
    return -0.0 - x, -x


@rule
def mul_one(x: Tensor) -> Law:
    """x * 1 == x."""
    return x * 1, x


@rule
def mul_zero(x: Integer) -> Law:
    """x * 0 == 0 for integers; inf * 0 is NaN, -1 * 0.0 is -0.0."""
    return x * 0, fill(x, 0)


@rule
def div_one(x: Float) -> Law:
    """x / 1 == x."""
    return x / 1, x


@rule
def floordiv_one(x: Integer) -> Law:
    """x // 1 == x for integers."""
    return x // 1, x


@rule
def mod_one(x: Integer) -> Law:
    """x % 1 == 0 for integers."""
    return x % 1, fill(x, 0)


@rule
def maximum_with_least(x: Float) -> Law:
    """max(x, -inf) == x, NaN too."""
    return ft.maximum(x, -math.inf), x


@rule
def minimum_with_greatest(x: Float) -> Law:
    """min(x, inf) == x, NaN too."""
    return ft.minimum(x, math.inf), x


RULES = (
    add_zero,
    add_negative_zero,
    sub_zero,
    zero_sub,
    negative_zero_sub,
    mul_one,
    mul_zero,
    div_one,
    floordiv_one,
    mod_one,
    maximum_with_least,
    minimum_with_greatest,
)
