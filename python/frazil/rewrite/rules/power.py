"""Powers and quotients with constants that have a cheaper form."""

from __future__ import annotations

import math

import numpy as np

import frazil.tensor as ft
from frazil._core import Constant, FrozenApply, Variable
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.filling import fill
from frazil.rewrite.guard import holds
from frazil.rewrite.sort import Float, KnownFloat, Number


@rule
def mul_self(x: Number) -> Law:
    """x * x == sqr(x)."""
    return x * x, ft.sqr(x)


@rule
def pow_two(x: Number) -> Law:
    """x ** 2 == sqr(x)."""
    return x**2, ft.sqr(x)


@rule
def pow_one(x: Number) -> Law:
    """x ** 1 == x."""
    return x**1, x


@rule
def pow_zero(x: Number) -> Law:
    """x ** 0 == 1, for 0 and NaN too."""
    return x**0, fill(x, 1)


@rule
def pow_minus_one(x: Float) -> Law:
    """x ** -1 == 1 / x."""
    return x**-1, ft.reciprocal(x)


@rule
def one_div(x: Float) -> Law:
    """1 / x == reciprocal(x)."""
    return 1 / x, ft.reciprocal(x)


def _is_power_of_two(c: Constant) -> bool:
    """Whether each element and its reciprocal are powers of two, both represented exactly."""
    if c.ndim == 0:  # most often: NumPy takes ten times as long for one number
        half, power = math.frexp(c.data)
        if abs(half) != 0.5:
            return False
        limits = np.finfo(c.data.dtype)
        return bool(limits.minexp + 2 < power < limits.maxexp - 2)
    limits = np.finfo(c.data.dtype)
    mantissa, exponent = np.frexp(c.data)
    exact = (
        (np.abs(mantissa) == 0.5) & (exponent > limits.minexp + 2) & (exponent < limits.maxexp - 2)
    )
    return bool(exact.all())


def _by_reciprocal(node: FrozenApply, x: Variable, c: Constant) -> Variable:
    return x * ft.constant(1 / c.data, c.dtype)


@rule
def div_by_power_of_two(x: Float, c: KnownFloat) -> Law:
    """x / 2**k == x * 2**-k, as long as 2**-k is exact."""
    return x / c, _by_reciprocal, holds(_is_power_of_two, c)


RULES = (
    mul_self,
    pow_two,
    pow_one,
    pow_zero,
    pow_minus_one,
    one_div,
    div_by_power_of_two,
)
