"""From a frozen graph to a program: the state of lowering, and a rule for every native op."""

from frazil.link.lowering import buffers, products, views  # noqa: F401  (they register rules)
from frazil.link.lowering.graph import lower as lower
