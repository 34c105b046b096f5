"""The Boolean algebra of truth values and of the bits of integers."""

from __future__ import annotations

from frazil.rewrite.definition import Law, rule
from frazil.rewrite.filling import fill
from frazil.rewrite.guard import same_dtype
from frazil.rewrite.sort import Bool, Discrete, Integer, SignedInteger


@rule
def invert_invert(x: Discrete) -> Law:
    """~~x == x."""
    return ~~x, x


@rule
def and_self(x: Discrete) -> Law:
    """x & x == x."""
    return x & x, x


@rule
def or_self(x: Discrete) -> Law:
    """x | x == x."""
    return x | x, x


@rule
def xor_self(x: Discrete) -> Law:
    """x ^ x == 0."""
    return x ^ x, fill(x, False)


@rule
def and_not_self(x: Discrete) -> Law:
    """x & ~x == 0."""
    return x & ~x, fill(x, False)


@rule
def and_of_and(x: Discrete, y: Discrete) -> Law:
    """x & (x & y) == x & y."""
    return x & (x & y), x & y


@rule
def or_of_or(x: Discrete, y: Discrete) -> Law:
    """x | (x | y) == x | y."""
    return x | (x | y), x | y


@rule
def or_of_and(x: Discrete, y: Discrete) -> Law:
    """x | (x & y) == x."""
    return x | (x & y), x


@rule
def and_of_or(x: Discrete, y: Discrete) -> Law:
    """x & (x | y) == x."""
    return x & (x | y), x


@rule
def not_and_not(x: Discrete, y: Discrete) -> Law:
    """~x & ~y == ~(x | y)."""
    return ~x & ~y, ~(x | y), same_dtype(x, y)


@rule
def not_or_not(x: Discrete, y: Discrete) -> Law:
    """~x | ~y == ~(x & y)."""
    return ~x | ~y, ~(x & y), same_dtype(x, y)


@rule
def and_zero(x: Integer) -> Law:
    """x & 0 == 0."""
    return x & 0, fill(x, 0)


@rule
def or_zero(x: Integer) -> Law:
    """x | 0 == x."""
    return x | 0, x


@rule
def xor_zero(x: Integer) -> Law:
    """x ^ 0 == x."""
    return x ^ 0, x


@rule
def and_minus_one(x: SignedInteger) -> Law:
    """x & -1 == x, as -1 has all bits set."""
    return x & -1, x


@rule
def and_false(x: Bool) -> Law:
    """x and false is false."""
    return x & False, fill(x, False)


@rule
def and_true(x: Bool) -> Law:
    """x and true is x."""
    return x & True, x


@rule
def or_false(x: Bool) -> Law:
    """x or false is x."""
    return x | False, x


@rule
def or_true(x: Bool) -> Law:
    """x or true is true."""
    return x | True, fill(x, True)


@rule
def xor_false(x: Bool) -> Law:
    """x != false is x."""
    return x ^ False, x


@rule
def xor_true(x: Bool) -> Law:
    """x != true is not x."""
    return x ^ True, ~x


RULES = (
    invert_invert,
    and_self,
    or_self,
    xor_self,
    and_not_self,
    and_of_and,
    or_of_or,
    or_of_and,
    and_of_or,
    not_and_not,
    not_or_not,
    and_zero,
    or_zero,
    xor_zero,
    and_minus_one,
    and_false,
    and_true,
    or_false,
    or_true,
    xor_false,
    xor_true,
)
