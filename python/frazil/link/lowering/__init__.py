"""From a frozen graph to a program: the state of lowering, and a rule for every native op."""

from frazil.link.lowering import (  # noqa: F401  (they register rules)
    buffers,
    calls,
    diagonals,
    linalg,
    products,
    ranges,
    searches,
    views,
)
from frazil.link.lowering.graph import lower as lower
