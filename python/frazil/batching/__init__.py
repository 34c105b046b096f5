"""Graphs over batches: what a graph computes, for each element of a batch at once.

May import ``scan`` and what lies below. Start reading at :mod:`frazil.batching.vectorize`.
"""

from frazil.batching import (  # noqa: F401  (they register rules)
    advanced_indexing,
    axes,
    creation,
    draws,
    elementwise,
    indexing,
    inner_graphs,
    linalg,
    polynomials,
    products,
    scan,
    transforms,
)
from frazil.batching.registry import Operand as Operand
from frazil.batching.registry import batch_rule as batch_rule
from frazil.batching.vectorize import vectorize as vectorize
from frazil.graph.namespace import publish as _publish

_publish(globals())
