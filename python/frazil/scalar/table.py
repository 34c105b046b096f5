"""Every scalar op, by its name."""

from __future__ import annotations

from frazil.scalar import arithmetic, exponential, floating, logic, special, trigonometric
from frazil.scalar.elementary import Row, rows

THEMES = (arithmetic, exponential, trigonometric, special, floating, logic)
"""The modules that hold the rows."""

TABLE: dict[str, Row] = dict(sorted(rows().items()))
