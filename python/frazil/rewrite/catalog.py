"""The rules that there are, by topic, and the sets that compilation uses."""

from __future__ import annotations

from frazil.rewrite.definition import Rule
from frazil.rewrite.rules import (
    boolean,
    choice,
    folding,
    magnitude,
    negation,
    neutral,
    order,
    power,
    ring,
)

ALGEBRA: tuple[Rule, ...] = (
    *neutral.RULES,
    *negation.RULES,
    *magnitude.RULES,
    *ring.RULES,
    *power.RULES,
    *order.RULES,
    *boolean.RULES,
    *choice.RULES,
)
"""Laws of arithmetic, order, truth values and choice."""

CONSTANT_FOLDING: tuple[Rule, ...] = folding.RULES
"""What depends on constants only becomes one."""

CANONICALIZE: tuple[Rule, ...] = (*CONSTANT_FOLDING, *ALGEBRA)
"""One form for what is written in many ways. Values stay as they are."""
