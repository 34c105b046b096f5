"""Every scalar op, by its name."""

from __future__ import annotations

from frazil.scalar import (
    arithmetic,
    bessel,
    exponential,
    floating,
    gamma,
    hypergeometric,
    incomplete,
    logic,
    normal,
    special,
    trigonometric,
)
from frazil.scalar.elementary import Row, rows

THEMES = (
    *(arithmetic, exponential, trigonometric, special, gamma, incomplete, normal, bessel),
    *(hypergeometric, floating, logic),
)
"""The modules that hold the rows."""

TABLE: dict[str, Row] = dict(sorted(rows().items()))
