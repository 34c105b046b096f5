"""Divisors and multiples of integers."""

from __future__ import annotations

from functools import cache

import frazil.scalar as scalar
from frazil._core import TensorType, Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.scalar.loop import ScalarLoop
from frazil.tensor.elementwise.definition import elementwise

_STEPS = 94
"""More than Euclid's algorithm takes for any two integers of 64 bits."""


@elementwise
def gcd(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return greatest common divisors, which are not negative; the one of zeros is 0.

    x1, x2 (tensor_like): Integers; the shapes broadcast.
    returns: As :func:`numpy.gcd` gives, in the dtype that the operands promote to.
    example: [12, -8, 0], [18, 12, 5] -> [6, 4, 5]
    """
    dtype, a, b = _sizes("gcd", x1, x2)
    return as_tensor(_divisor(a, b), dtype)


@elementwise
def lcm(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return least common multiples, which are not negative; 0 where an operand is 0.

    x1, x2 (tensor_like): Integers; the shapes broadcast.
    returns: As :func:`numpy.lcm` gives, in the dtype that the operands promote to; what does not
        fit wraps around.
    example: [12, -8, 0], [18, 12, 5] -> [36, 24,  0]
    """
    dtype, a, b = _sizes("lcm", x1, x2)
    # Integers divided by zero give zero.
    return as_tensor(elemwise(scalar.floordiv, a, _divisor(a, b)) * b, dtype)


def _sizes(name: str, x1: TensorLike, x2: TensorLike) -> tuple[str, Variable, Variable]:
    """Return the dtype of the result, and the absolute values without a sign.

    That of the least integer has no place among those with one.
    """
    a, b = as_operand(x1), as_operand(x2)
    dtype = elemwise(scalar.add, a, b).dtype
    if not dtype.lstrip("u").startswith("int"):
        given = " and ".join(str(as_tensor(x).type) for x in (x1, x2))
        raise TypeError(f"{name} takes integers that promote to integers; given {given}")
    unsigned = dtype if dtype.startswith("u") else f"u{dtype}"
    sizes = (elemwise(scalar.abs, as_tensor(x, dtype)) for x in (a, b))
    first, second = (as_tensor(x, unsigned) for x in sizes)
    return dtype, first, second


def _divisor(a: Variable, b: Variable) -> Variable:
    steps = elemwise(scalar.where, elemwise(scalar.eq, b, 0), 0, _STEPS)
    found, _, _ = _euclid(a.dtype)(steps, a, b)
    divisor: Variable = found
    return divisor


@cache
def _euclid(dtype: str) -> ScalarLoop:
    """Return the loop in which two numbers become their divisor and 0; it starts with no 0."""
    number = TensorType(dtype, ())
    a, b = Variable(number, "a"), Variable(number, "b")
    rest = elemwise(scalar.mod, a, b)
    return ScalarLoop([a, b], [b, rest], until=elemwise(scalar.eq, rest, 0), name="gcd")
