"""The rules that there are, by topic, and the sets that compilation uses."""

from __future__ import annotations

from frazil.rewrite.definition import Rule
from frazil.rewrite.rules import (
    blas,
    boolean,
    cheaper,
    choice,
    determinant,
    folding,
    indexing,
    logarithm,
    logistic,
    magnitude,
    negation,
    neutral,
    normalization,
    ones,
    order,
    power,
    reduction,
    ring,
    views,
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

BLAS: tuple[Rule, ...] = blas.RULES
"""Sums of products as calls of BLAS, which adds in an order of its own, so values may differ by
rounding. For the end of a compilation: other rules do not see through these calls."""

STRUCTURE: tuple[Rule, ...] = (
    *views.RULES,
    *ones.RULES,
    *reduction.EXACT_RULES,
    *determinant.RULES,
)
"""One view for several, one reduction for several, numbers for single elements, determinants as
reductions."""

CANONICALIZE: tuple[Rule, ...] = (*CONSTANT_FOLDING, *ALGEBRA, *STRUCTURE)
"""One form for what is written in many ways. Values stay as they are."""

STABILIZE: tuple[Rule, ...] = (
    *logistic.RULES,
    *logarithm.RULES,
    *normalization.RULES,
)
"""Laws of real numbers by which values come nearer to what is meant."""

SPECIALIZE: tuple[Rule, ...] = (*cheaper.RULES, *reduction.RULES, *indexing.RULES)
"""Cheaper forms of the same values."""
