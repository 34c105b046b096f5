"""The catalog of rules: by topic, and the sets that compilation uses."""

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
"""Constant folding."""

BLAS: tuple[Rule, ...] = blas.RULES
"""Sums of products as calls of BLAS, which adds in another order, so values may differ by rounding.
For the end of a compilation: other rules do not look into these calls."""

STRUCTURE: tuple[Rule, ...] = (
    *views.RULES,
    *ones.RULES,
    *reduction.EXACT_RULES,
    *determinant.RULES,
)
"""One view or reduction in place of several, scalars for single elements, determinants as
reductions."""

CANONICALIZE: tuple[Rule, ...] = (*CONSTANT_FOLDING, *ALGEBRA, *STRUCTURE)
"""One form for expressions that can be written in many ways. Values stay as they are."""

STABILIZE: tuple[Rule, ...] = (
    *logistic.RULES,
    *logarithm.RULES,
    *normalization.RULES,
)
"""Laws of real numbers that make values more exact."""

SPECIALIZE: tuple[Rule, ...] = (*cheaper.RULES, *reduction.RULES, *indexing.RULES)
"""Cheaper forms of the same values."""
