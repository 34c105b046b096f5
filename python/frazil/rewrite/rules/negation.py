"""Signs: they cancel, or move out of products and quotients to where sums take them up."""

from __future__ import annotations

import frazil.scalar as scalar
import frazil.tensor as ft
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import one_ring
from frazil.rewrite.sort import Float, Integer, Number, Signed
from frazil.rewrite.wildcard import any_of

odd = any_of(
    "odd",
    *(scalar.sin, scalar.tan, scalar.arcsin, scalar.arctan),
    *(scalar.sinh, scalar.tanh, scalar.arcsinh, scalar.arctanh, scalar.erf),
)
even = any_of("even", scalar.cos, scalar.cosh)


@rule
def neg_neg(x: Number) -> Law:
    """-(-x) == x, where integers wrap around too."""
    return ft.neg(-x), x


@rule
def add_neg(x: Number, y: Number) -> Law:
    """x + -y == x - y."""
    return x + -y, x - y, one_ring(x, y)


@rule
def sub_neg(x: Number, y: Number) -> Law:
    """x - -y == x + y."""
    return x - -y, x + y, one_ring(x, y)


@rule
def neg_sub(x: Integer, y: Integer) -> Law:
    """-(x - y) == y - x for integers; for equal floats one is -0.0, the other 0.0."""
    return -(x - y), y - x, one_ring(x, y)


@rule
def mul_neg(x: Number, y: Number) -> Law:
    """x * -y == -(x * y)."""
    return x * -y, -(x * y), one_ring(x, y)


@rule
def mul_minus_one(x: Signed) -> Law:
    """x * -1 == -x."""
    return x * -1, -x


@rule
def div_minus_one(x: Float) -> Law:
    """x / -1 == -x."""
    return x / -1, -x


@rule
def div_of_neg(x: Float, y: Float) -> Law:
    """-x / y == -(x / y)."""
    return -x / y, -(x / y)


@rule
def div_by_neg(x: Float, y: Float) -> Law:
    """x / -y == -(x / y)."""
    return x / -y, -(x / y)


@rule
def reciprocal_of_neg(x: Float) -> Law:
    """1 / -x == -(1 / x)."""
    return ft.reciprocal(-x), -ft.reciprocal(x)


@rule
def odd_of_neg(x: Float) -> Law:
    """f(-x) == -f(x) where f is odd."""
    return odd(-x), -odd(x)


@rule
def even_of_neg(x: Float) -> Law:
    """f(-x) == f(x) where f is even."""
    return even(-x), even(x)


RULES = (
    neg_neg,
    add_neg,
    sub_neg,
    neg_sub,
    mul_neg,
    mul_minus_one,
    div_minus_one,
    div_of_neg,
    div_by_neg,
    reciprocal_of_neg,
    odd_of_neg,
    even_of_neg,
)
