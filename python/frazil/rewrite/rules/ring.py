"""The ring of the integers modulo 2**n, in which nothing is rounded, as floats are."""

from __future__ import annotations

from frazil.rewrite.definition import Law, rule
from frazil.rewrite.filling import fill
from frazil.rewrite.guard import not_constant, same_dtype
from frazil.rewrite.sort import Integer, KnownInteger


@rule
def sub_self(x: Integer) -> Law:
    """x - x == 0; inf - inf is NaN."""
    return x - x, fill(x, 0)


@rule
def add_then_sub(x: Integer, y: Integer) -> Law:
    """(x + y) - y == x."""
    return (x + y) - y, x, same_dtype(x, y)


@rule
def sub_then_add(x: Integer, y: Integer) -> Law:
    """(x - y) + y == x."""
    return (x - y) + y, x, same_dtype(x, y)


@rule
def add_constants(x: Integer, c: KnownInteger, d: KnownInteger) -> Law:
    """(x + c) + d == x + (c + d)."""
    return (x + c) + d, x + (c + d), same_dtype(x, c, d), not_constant(x)


@rule
def sub_constants(x: Integer, c: KnownInteger, d: KnownInteger) -> Law:
    """(x - c) - d == x - (c + d)."""
    return (x - c) - d, x - (c + d), same_dtype(x, c, d), not_constant(x)


@rule
def add_sub_constants(x: Integer, c: KnownInteger, d: KnownInteger) -> Law:
    """(x + c) - d == x + (c - d)."""
    return (x + c) - d, x + (c - d), same_dtype(x, c, d), not_constant(x)


@rule
def sub_add_constants(x: Integer, c: KnownInteger, d: KnownInteger) -> Law:
    """(x - c) + d == x + (d - c)."""
    return (x - c) + d, x + (d - c), same_dtype(x, c, d), not_constant(x)


@rule
def mul_constants(x: Integer, c: KnownInteger, d: KnownInteger) -> Law:
    """(x * c) * d == x * (c * d)."""
    return (x * c) * d, x * (c * d), same_dtype(x, c, d), not_constant(x)


@rule
def factor_constants(x: Integer, c: KnownInteger, d: KnownInteger) -> Law:
    """x * c + x * d == x * (c + d)."""
    return x * c + x * d, x * (c + d), same_dtype(x, c, d), not_constant(x)


RULES = (
    sub_self,
    add_then_sub,
    sub_then_add,
    add_constants,
    sub_constants,
    add_sub_constants,
    sub_add_constants,
    mul_constants,
    factor_constants,
)
