"""Functions of each element.

Binary functions take two arrays, or an array and a number; shapes broadcast.
"""

from __future__ import annotations

from collections.abc import Callable

import frazil.tensor as ft
from frazil.array_api import special_cases
from frazil.array_api.array import Array, Number, lifted


def _unary(of: Callable[..., object], name: str | None = None) -> Callable[[Array], Array]:
    def function(x: Array, /) -> Array:
        return lifted(of, x)

    _name(function, name or of.__name__)
    return function


def _binary(
    of: Callable[..., object], name: str | None = None
) -> Callable[[Array | Number, Array | Number], Array]:
    def function(x1: Array | Number, x2: Array | Number, /) -> Array:
        return lifted(of, x1, x2)

    _name(function, name or of.__name__)
    return function


def _name(function: Callable[..., Array], name: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return ``{name}`` of each element, as :func:`frazil.tensor.{name}` does."


def clip(
    x: Array, /, min: Array | Number | None = None, max: Array | Number | None = None
) -> Array:
    """Return the elements of ``x``, at least ``min`` and at most ``max``; of the dtype of ``x``."""
    return lifted(lambda *limits: ft.astype(ft.clip(*limits), x.dtype), x, min, max)


abs = _unary(ft.abs, "abs")
acos = _unary(ft.acos, "acos")
acosh = _unary(ft.acosh, "acosh")
asin = _unary(ft.asin, "asin")
asinh = _unary(ft.asinh, "asinh")
atan = _unary(ft.atan, "atan")
atanh = _unary(ft.atanh, "atanh")
bitwise_invert = _unary(ft.bitwise_invert, "bitwise_invert")
ceil = _unary(ft.ceil)
conj = _unary(ft.conj)
cos = _unary(ft.cos)
cosh = _unary(ft.cosh)
exp = _unary(ft.exp)
expm1 = _unary(special_cases.expm1, "expm1")
floor = _unary(ft.floor)
imag = _unary(ft.imag)
isfinite = _unary(ft.isfinite)
isinf = _unary(ft.isinf)
isnan = _unary(ft.isnan)
log = _unary(ft.log)
log10 = _unary(ft.log10)
log1p = _unary(ft.log1p)
log2 = _unary(ft.log2)
logical_not = _unary(ft.logical_not)
negative = _unary(ft.negative, "negative")
positive = _unary(ft.positive)
real = _unary(ft.real)
reciprocal = _unary(ft.reciprocal)
round = _unary(ft.round, "round")
sign = _unary(ft.sign)
signbit = _unary(ft.signbit)
sin = _unary(ft.sin)
sinh = _unary(ft.sinh)
sqrt = _unary(ft.sqrt)
square = _unary(ft.square)
tan = _unary(ft.tan)
tanh = _unary(ft.tanh)
trunc = _unary(ft.trunc)

add = _binary(ft.add, "add")
atan2 = _binary(ft.atan2, "atan2")
bitwise_and = _binary(ft.bitwise_and, "bitwise_and")
bitwise_left_shift = _binary(ft.bitwise_left_shift, "bitwise_left_shift")
bitwise_or = _binary(ft.bitwise_or, "bitwise_or")
bitwise_right_shift = _binary(ft.bitwise_right_shift, "bitwise_right_shift")
bitwise_xor = _binary(ft.bitwise_xor, "bitwise_xor")
copysign = _binary(ft.copysign)
divide = _binary(ft.divide, "divide")
equal = _binary(ft.equal, "equal")
floor_divide = _binary(special_cases.floor_divide, "floor_divide")
greater = _binary(ft.greater, "greater")
greater_equal = _binary(ft.greater_equal, "greater_equal")
hypot = _binary(ft.hypot)
less = _binary(ft.less, "less")
less_equal = _binary(ft.less_equal, "less_equal")
logaddexp = _binary(ft.logaddexp)
logical_and = _binary(ft.logical_and)
logical_or = _binary(ft.logical_or)
logical_xor = _binary(ft.logical_xor)
maximum = _binary(ft.maximum)
minimum = _binary(ft.minimum)
multiply = _binary(ft.multiply, "multiply")
nextafter = _binary(ft.nextafter)
not_equal = _binary(ft.not_equal, "not_equal")
pow = _binary(ft.pow, "pow")
remainder = _binary(ft.remainder, "remainder")
subtract = _binary(ft.subtract, "subtract")
