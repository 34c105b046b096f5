"""Magnitudes: absolute values and squares, which forget signs."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import elemwise
from frazil.rewrite.analysis import is_nonnegative
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import holds
from frazil.rewrite.rules.negation import even
from frazil.rewrite.sort import Float, Number, Signed, Unsigned
from frazil.rewrite.wildcard import any_of

special = any_of("special", scalar.isnan, scalar.isinf, scalar.isfinite)
signless = any_of("signless", scalar.abs, scalar.sqr)


@rule
def signless_of_neg(x: Signed) -> Law:
    """|-x| == |x| and (-x)**2 == x**2 for numbers with a sign, the least integer too."""
    return signless(-x), signless(x)


@rule
def signless_of_abs(x: Number) -> Law:
    """||x|| == |x| and |x|**2 == x**2."""
    return signless(abs(x)), signless(x)


@rule
def abs_of_unsigned(x: Unsigned) -> Law:
    """|x| == x where there is no sign."""
    return abs(x), x


@rule
def abs_of_nonnegative(x: Float) -> Law:
    """|x| == x where no element can have a sign."""
    return abs(x), x, holds(is_nonnegative, x)


@rule
def even_of_abs(x: Float) -> Law:
    """f(|x|) == f(x) where f is even."""
    return even(abs(x)), even(x)


@rule
def sign_of_sign(x: Number) -> Law:
    """sign(sign(x)) == sign(x)."""
    return elemwise(scalar.sign, elemwise(scalar.sign, x)), elemwise(scalar.sign, x)


@rule
def special_of_neg(x: Float) -> Law:
    """-x is NaN, infinite or finite where x is."""
    return special(-x), special(x)


@rule
def special_of_abs(x: Float) -> Law:
    """|x| is NaN, infinite or finite where x is."""
    return special(abs(x)), special(x)


RULES = (
    signless_of_neg,
    signless_of_abs,
    abs_of_unsigned,
    abs_of_nonnegative,
    even_of_abs,
    sign_of_sign,
    special_of_neg,
    special_of_abs,
)
