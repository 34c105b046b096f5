"""What ops that hold a graph have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from frazil._core import FrozenFunctionGraph
from frazil.op import Op


class HasInnerGraph(Op):
    """An op that computes by way of a graph of its own.

    It holds exactly one, frozen, as the field ``fgraph``; two ops built alike are the same object,
    and so they are compared and hashed without a look into it. The graph is made better by giving
    an outer graph another op (:func:`frazil.compile.inner.rewrite_inner_graph`), never by an edit.

    Attributes
    ----------
    fgraph : FrozenFunctionGraph
        Its inputs are nominals; what they and its outputs stand for, the op says.
    """

    fgraph: FrozenFunctionGraph

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.fgraph.digest[:8]}}}"


Holder = TypeVar("Holder", bound=HasInnerGraph)


def with_inner_graph(op: Holder, fgraph: FrozenFunctionGraph) -> Holder:
    """The op that holds ``fgraph`` and has all other parameters of ``op``."""
    if fgraph == op.fgraph:
        return op
    made: Holder = replace(op, fgraph=fgraph)  # type: ignore[type-var]
    return made
