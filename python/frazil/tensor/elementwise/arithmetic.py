"""Sums, products, powers, signs and rounding."""

from __future__ import annotations

import builtins
from operator import index

import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.casting import cast
from frazil.tensor.elementwise.definition import binary, unary

add = binary("add", scalar.add, "the sum ``x1 + x2``", "[1.0, 2.0], [3.0, 4.0] -> [4., 6.]")
subtract = binary(
    "subtract",
    scalar.sub,
    "the difference ``x1 - x2``; bool raises TypeError",
    "[1.0, 2.0], [3.0, 5.0] -> [-2., -3.]",
)
multiply = binary(
    "multiply", scalar.mul, "the product ``x1 * x2``", "[1.0, 2.0], [3.0, 4.0] -> [3., 8.]"
)
divide = binary(
    "divide", scalar.truediv, "the quotient ``x1 / x2``", "[1.0, 2.0], [2.0, 4.0] -> [0.5, 0.5]"
)
floor_divide = binary(
    "floor_divide",
    scalar.floordiv,
    "the quotient rounded down, ``x1 // x2``; its gradient is zero",
    "[7.0, -7.0], [2.0, 2.0] -> [ 3., -4.]",
)
remainder = binary(
    "remainder",
    scalar.mod,
    "the remainder ``x1 % x2``, which has the sign of ``x2``",
    "[7.0, -7.0], [3.0, 3.0] -> [1., 2.]",
)
power = binary("power", scalar.pow, "the power ``x1 ** x2``", "[2.0, 3.0], [3.0, 2.0] -> [8., 9.]")
negative = unary(
    "negative",
    scalar.neg,
    "the negative ``-x``; bool raises TypeError",
    "[1.0, -2.0] -> [-1.,  2.]",
)
reciprocal = unary(
    "reciprocal",
    scalar.reciprocal,
    "``1 / x``, a floating-point number for integers too",
    "[2.0, 4.0] -> [0.5 , 0.25]",
)
square = unary("square", scalar.sqr, "the square ``x * x``", "[2.0, 3.0] -> [4., 9.]")
sqrt = unary("sqrt", scalar.sqrt, "the square root", "[4.0, 9.0] -> [2., 3.]")
absolute = unary("absolute", scalar.abs, "the absolute value", "[1.0, -2.0] -> [1., 2.]")
sign = unary(
    "sign",
    scalar.sign,
    "-1, 0 or 1, as the number is negative, zero or positive; its gradient is zero",
    "[3.0, -2.0, 0.0] -> [ 1., -1.,  0.]",
)
minimum = binary(
    "minimum",
    scalar.minimum,
    "the smaller of two numbers; NaN if either is",
    "[1.0, 4.0], [3.0, 2.0] -> [1., 2.]",
)
maximum = binary(
    "maximum",
    scalar.maximum,
    "the larger of two numbers; NaN if either is",
    "[1.0, 4.0], [3.0, 2.0] -> [3., 4.]",
)
floor = unary(
    "floor",
    scalar.floor,
    "the largest integer that is not larger; its gradient is zero",
    "[1.5, -1.5] -> [ 1., -2.]",
)
ceil = unary(
    "ceil",
    scalar.ceil,
    "the smallest integer that is not smaller; its gradient is zero",
    "[1.5, -1.5] -> [ 2., -1.]",
)
trunc = unary(
    "trunc",
    scalar.trunc,
    "the number without its fraction; its gradient is zero",
    "[1.5, -1.5] -> [ 1., -1.]",
)
rint = unary(
    "rint",
    scalar.rint,
    "the nearest integer, the even one of two; its gradient is zero",
    "[1.4, 2.5] -> [1., 2.]",
)
sub = subtract
mul = multiply
true_divide = divide
true_div = divide
floor_div = floor_divide
int_div = floor_divide
mod = remainder
pow = power
neg = negative
sqr = square
abs = absolute
sgn = sign


def round(a: TensorLike, decimals: int = 0) -> Variable:
    """Return the nearest numbers with so many decimals, the even one of two.

    Parameters
    ----------
    a : tensor_like
        Any tensor.
    decimals : int, default 0
        How many; negative ones count to the left of the point.

    Returns
    -------
    Variable
        Of the dtype of ``a``, as :func:`numpy.round` gives; its gradient is zero.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.round([1.25, 12.34], 1).eval()
    array([ 1.2, 12.3])
    """
    a, decimals = as_tensor(a), index(decimals)
    if a.type.numpy_dtype.kind in "iu":
        return a if decimals >= 0 else cast(round(cast(a, "float64"), decimals), a.dtype)
    if decimals == 0:
        return rint(a)
    scale = 10.0 ** builtins.abs(decimals)
    return rint(a * scale) / scale if decimals > 0 else rint(a / scale) * scale
