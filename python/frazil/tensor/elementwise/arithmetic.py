"""Sums, products, powers, signs and rounding."""

from __future__ import annotations

import builtins
from operator import index

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.complex import is_complex
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.casting import cast
from frazil.tensor.elementwise.definition import binary, unary

add = binary(scalar.add, "the sum ``x1 + x2``", "[1.0, 2.0], [3.0, 4.0] -> [4., 6.]")
subtract = binary(
    scalar.sub,
    "the difference ``x1 - x2``; bool raises TypeError",
    "[1.0, 2.0], [3.0, 5.0] -> [-2., -3.]",
)
multiply = binary(scalar.mul, "the product ``x1 * x2``", "[1.0, 2.0], [3.0, 4.0] -> [3., 8.]")
divide = binary(scalar.truediv, "the quotient ``x1 / x2``", "[1.0, 2.0], [2.0, 4.0] -> [0.5, 0.5]")
floor_divide = binary(
    scalar.floordiv,
    "the quotient rounded down, ``x1 // x2``; its gradient is zero",
    "[7.0, -7.0], [2.0, 2.0] -> [ 3., -4.]",
)
remainder = binary(
    scalar.mod,
    "the remainder ``x1 % x2``, which has the sign of ``x2``",
    "[7.0, -7.0], [3.0, 3.0] -> [1., 2.]",
)
fmod = binary(
    scalar.fmod,
    "the remainder of a division rounded towards zero, which has the sign of ``x1``",
    "[7.0, -7.0], [3.0, 3.0] -> [ 1., -1.]",
)
power = binary(scalar.pow, "the power ``x1 ** x2``", "[2.0, 3.0], [3.0, 2.0] -> [8., 9.]")
negative = unary(
    scalar.neg, "the negative ``-x``; bool raises TypeError", "[1.0, -2.0] -> [-1.,  2.]"
)
reciprocal = unary(
    scalar.reciprocal,
    "``1 / x``, a floating-point number for integers too",
    "[2.0, 4.0] -> [0.5 , 0.25]",
)
square = unary(scalar.sqr, "the square ``x * x``", "[2.0, 3.0] -> [4., 9.]")
sqrt = unary(scalar.sqrt, "the square root", "[4.0, 9.0] -> [2., 3.]")
absolute = unary(scalar.abs, "the absolute value", "[1.0, -2.0] -> [1., 2.]")
sign = unary(
    scalar.sign,
    "-1, 0 or 1, as the number is negative, zero or positive; its gradient is zero",
    "[3.0, -2.0, 0.0] -> [ 1., -1.,  0.]",
)
minimum = binary(
    scalar.minimum,
    "the smaller of two numbers; NaN if either is",
    "[1.0, 4.0], [3.0, 2.0] -> [1., 2.]",
)
maximum = binary(
    scalar.maximum,
    "the larger of two numbers; NaN if either is",
    "[1.0, 4.0], [3.0, 2.0] -> [3., 4.]",
)
fmin = binary(
    scalar.fmin,
    "the smaller of two numbers; where one is NaN, the other. Of equal ones the gradient goes to "
    "``x1``",
    "[1.0, ft.nan], [3.0, 2.0] -> [1., 2.]",
)
fmax = binary(
    scalar.fmax,
    "the larger of two numbers; where one is NaN, the other. Of equal ones the gradient goes to "
    "``x1``",
    "[1.0, ft.nan], [3.0, 2.0] -> [3., 2.]",
)
copysign = binary(
    scalar.copysign,
    "``x1`` with the sign of ``x2``",
    "[1.0, -2.0], [-3.0, 0.0] -> [-1.,  2.]",
)
signbit = unary(
    scalar.signbit,
    "whether the number has a sign, which -0.0 has",
    "[1.0, -2.0, -0.0] -> [False,  True,  True]",
)
nextafter = binary(
    scalar.nextafter,
    "the number next to ``x1`` towards ``x2``; its gradient goes to ``x1``",
    "[1.0], [2.0] -> [1.]",
)
floor = unary(
    scalar.floor,
    "the largest integer that is not larger; its gradient is zero",
    "[1.5, -1.5] -> [ 1., -2.]",
)
ceil = unary(
    scalar.ceil,
    "the smallest integer that is not smaller; its gradient is zero",
    "[1.5, -1.5] -> [ 2., -1.]",
)
trunc = unary(
    scalar.trunc,
    "the number without its fraction; its gradient is zero",
    "[1.5, -1.5] -> [ 1., -1.]",
)
rint = unary(
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


@described
def round(a: TensorLike, decimals: int = 0) -> Variable:
    """Return the nearest numbers with so many decimals, the even one of two.

    a (tensor_like): Any tensor.
    decimals (int): The number of digits; negative ones count to the left of the point.
    returns: Of the dtype of ``a``, as :func:`numpy.round` gives; its gradient is zero.
    example: [1.25, 12.34], 1 -> [ 1.2, 12.3]
    """
    a, decimals = as_tensor(a), index(decimals)
    if a.type.numpy_dtype.kind in "iu":
        return a if decimals >= 0 else cast(round(cast(a, "float64"), decimals), a.dtype)
    if decimals == 0:
        return rint(a)
    if is_complex(a):
        # A product of complex numbers would mix an infinite part with the other one.
        parts = (round(_core.elemwise(part, a), decimals) for part in (scalar.real, scalar.imag))
        return _core.elemwise(scalar.complex, *parts)
    scale = _power_of_ten(builtins.abs(decimals))
    return rint(a * scale) / scale if decimals > 0 else rint(a / scale) * scale


def _power_of_ten(exponent: int) -> float:
    """Return the power with NumPy's rounding: of 1e9, multiplied; inf where it is too large."""
    if exponent < 9:
        return 10.0**exponent
    power = 1e9
    for _ in range(min(exponent, 400) - 9):
        power *= 10.0
    return power
