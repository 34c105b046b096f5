"""Lowering: from a frozen graph to a program, by a rule for every op with native instructions.

May import ``link/fusion``, ``link/toolchain``, ``link/kernel`` and what lies below. Start reading
at :mod:`frazil.link.lowering.graph`.
"""

from frazil.link.lowering import (  # noqa: F401  (they register rules)
    buffers,
    calls,
    checks,
    diagonals,
    draws,
    linalg,
    polynomials,
    products,
    ranges,
    searches,
    views,
)
from frazil.link.lowering.graph import lower as lower
