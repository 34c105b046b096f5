"""The ops of a graph, listed once: most passes look for ops that a graph does not have."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from frazil._core import FrozenFunctionGraph
from frazil.graph.op import Op

_known: WeakKeyDictionary[FrozenFunctionGraph, frozenset[Op]] = WeakKeyDictionary()


def ops_of(graph: FrozenFunctionGraph) -> frozenset[Op]:
    """The ops of a graph's nodes. A walk through the graph finds them once for all passes.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.inner.ops import ops_of
    >>> x = ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.exp(ft.exp(x)) + x])
    >>> sorted(map(str, ops_of(graph)))
    ['add', 'exp']
    """
    found = _known.get(graph)
    if found is None:
        found = _known[graph] = frozenset(graph.ops())
    return found
