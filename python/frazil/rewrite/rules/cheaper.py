"""Forms that cost less: whole powers, constants gathered, signs saved."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

import frazil.scalar as scalar
import frazil.tensor as ft
from frazil._core import Constant, FrozenApply, Variable, elemwise
from frazil.rewrite.analysis import is_nonnegative
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import holds, not_constant, same_dtype
from frazil.rewrite.rules.folding import is_folded
from frazil.rewrite.sort import FLOATS, Float, KnownFloat, KnownInteger, Number, Sort
from frazil.tensor.products import BatchedDot

FloatMatrices: TypeAlias = Annotated[
    Variable, Sort("float matrices", FLOATS, "float64", ndim=3, any_rank=True)
]
"""A float with the dimensions of a stack of matrices."""

MAX_EXPONENT = 16
"""Larger whole powers cost more products than a power, and more rounding."""

MAX_NEGATIVE = 4
"""Powers of 1 / x are off by its rounding, the more the larger n is."""


def _whole_power(x: Variable, exponent: int) -> Variable:
    """``x`` to a positive power by squaring."""
    square = x
    power: Variable | None = None
    while True:
        if exponent & 1:
            power = square if power is None else elemwise(scalar.mul, power, square)
        exponent >>= 1
        if not exponent:
            assert power is not None
            return power
        square = elemwise(scalar.sqr, square)


def _products(node: FrozenApply, x: Variable, c: Constant) -> Variable | None:
    if c.ndim or x.dtype != node.outputs[0].dtype:
        return None
    exponent = float(c.data)
    halves = 2 * exponent
    floating = x.type.numpy_dtype.kind == "f"
    least = -2 * MAX_NEGATIVE if floating else 2
    if not halves.is_integer() or not least <= halves <= 2 * MAX_EXPONENT or halves == 0:
        return None
    whole, half = divmod(int(abs(halves)), 2)
    if half and (whole > 1 or not floating):
        return None
    base = elemwise(scalar.sqrt, x) if half else x
    if exponent < 0:
        # 1 / x**n vanishes where x**n overflows, before (1 / x)**n does.
        base = elemwise(scalar.reciprocal, base)
        return _whole_power(base, 2 * whole + 1 if half else whole)
    if not half:
        return _whole_power(x, whole)
    return elemwise(scalar.mul, x, base) if whole else base


@rule
def whole_power(x: Float, c: KnownFloat) -> Law:
    """x**n is a product of squares, and x**0.5 a root, if not for the last digit, -0.0 and -inf."""
    return x**c, _products


@rule
def whole_power_of_integer(x: Number, c: KnownInteger) -> Law:
    """x**n is a product of squares."""
    return x**c, _products


@rule
def power_of_two(x: Float) -> Law:
    """2**x == exp2(x)."""
    return 2**x, ft.exp2(x)


def _is_ordinary(c: Constant, d: Constant) -> bool:
    """Whether products and quotients of the two neither overflow nor vanish."""
    limits = np.finfo(c.data.dtype)
    if c.dtype == "float64":  # as Python's numbers: NumPy takes ten times as long for one
        a, b = float(c.data), float(d.data)
        made = (a * b, a / b, b / a) if a and b else (0.0,)
        return all(limits.tiny < abs(value) < limits.max for value in made)
    with np.errstate(all="ignore"):
        found = np.abs([c.data * d.data, c.data / d.data, d.data / c.data])
    return bool(np.all((found > limits.tiny) & (found < limits.max)))


def _is_one_number(c: Constant) -> bool:
    return c.ndim == 0


@rule
def gather_factors(x: Float, c: KnownFloat, d: KnownFloat) -> Law:
    """(x c) d == x (c d), if not for the last digit."""
    ordinary = (holds(_is_one_number, c), holds(_is_one_number, d), holds(_is_ordinary, c, d))
    return (x * c) * d, x * (c * d), same_dtype(x, c, d), not_constant(x), *ordinary


@rule
def gather_factor_and_divisor(x: Float, c: KnownFloat, d: KnownFloat) -> Law:
    """(x c) / d == x (c / d), if not for the last digit."""
    ordinary = (holds(_is_one_number, c), holds(_is_one_number, d), holds(_is_ordinary, c, d))
    return (x * c) / d, x * (c / d), same_dtype(x, c, d), not_constant(x), *ordinary


@rule
def gather_divisor_and_factor(x: Float, c: KnownFloat, d: KnownFloat) -> Law:
    """(x / c) d == x (d / c), if not for the last digit."""
    ordinary = (holds(_is_one_number, c), holds(_is_one_number, d), holds(_is_ordinary, c, d))
    return (x / c) * d, x * (d / c), same_dtype(x, c, d), not_constant(x), *ordinary


@rule
def gather_divisors(x: Float, c: KnownFloat, d: KnownFloat) -> Law:
    """(x / c) / d == x / (c d), if not for the last digit."""
    ordinary = (holds(_is_one_number, c), holds(_is_one_number, d), holds(_is_ordinary, c, d))
    return (x / c) / d, x / (c * d), same_dtype(x, c, d), not_constant(x), *ordinary


def _by_halves(node: FrozenApply, x: Variable, y: Variable) -> Variable | None:
    """``y`` has more dimensions, so the exponential is one number for many quotients."""
    if x.ndim or not y.ndim or x.dtype != y.dtype:
        return None
    half = elemwise(scalar.exp, elemwise(scalar.mul, x, -0.5))
    return elemwise(scalar.mul, elemwise(scalar.mul, y, half), half)


@rule
def over_exp(x: Float, y: Float) -> Law:
    """y / exp(x) == (y exp(-x / 2)) exp(-x / 2): each product is between y and the result."""
    return y / ft.exp(x), _by_halves


@rule
def neg_of_scaled(x: Float, c: KnownFloat) -> Law:
    """-(x c) == x (-c)."""
    return -(x * c), x * -c, same_dtype(x, c), not_constant(x), holds(is_folded, c)


@rule
def neg_of_difference(x: Float, y: Float) -> Law:
    """-(x - y) == y - x, if not for a zero's sign."""
    return -(x - y), y - x


@rule
def plus_zero(x: Float) -> Law:
    """x + 0 == x, if not for a zero's sign."""
    return x + 0, x


@rule
def sqr_of_sqrt(x: Float) -> Law:
    """sqrt(x)**2 == x where x has no sign, if not for the last digit."""
    return ft.sqr(ft.sqrt(x)), x, holds(is_nonnegative, x)


def _outer(node: FrozenApply, x: Variable, y: Variable) -> Variable | None:
    """Columns times rows; a loop makes them, also together with what reads them."""
    if not (x.broadcastable[-1] and y.broadcastable[-2]):
        return None
    return elemwise(scalar.mul, x, y)


@rule
def products_of_columns_and_rows(x: FloatMatrices, y: FloatMatrices) -> Law:
    """A product of a column and a row has one term an element, if not for a zero's sign."""
    return BatchedDot()(x, y), _outer


RULES = (
    whole_power,
    whole_power_of_integer,
    power_of_two,
    gather_factors,
    gather_factor_and_divisor,
    gather_divisor_and_factor,
    gather_divisors,
    over_exp,
    neg_of_scaled,
    neg_of_difference,
    plus_zero,
    sqr_of_sqrt,
    products_of_columns_and_rows,
)
