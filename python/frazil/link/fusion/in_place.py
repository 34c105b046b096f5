"""In-place updates: an order of the nodes in which as many updates as possible need no copy.

An update, such as :class:`~frazil.tensor.basic_indexing.IncSubtensor`, gives a new tensor. So do a
factorization and a product with an addend. Where nothing reads the old tensor afterwards, its
buffer can be written over. The core's planner says which updates can be in place, and which nodes
must run before them; the runtime updates in place after the last reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from frazil._core import (
    FrozenApply,
    FrozenFunctionGraph,
    FunctionGraph,
    Variable,
    first_alike,
)
from frazil.graph import inplace
from frazil.graph.dataclass import dataclass
from frazil.tensor.updates import updated_operand


@dataclass(frozen=True)
class InPlaceSchedule:
    """An order of a graph's nodes, and the memory that is written over in it."""

    order: Sequence[FrozenApply]
    """The nodes."""
    before: Mapping[FrozenApply, Sequence[FrozenApply]]
    """For each node that writes over an operand, the other readers of that memory."""
    written: Collection[Variable]
    """The variables whose memory is written over, views of it included."""


def schedule_in_place(
    graph: FrozenFunctionGraph | FunctionGraph, donated: Sequence[Variable] = ()
) -> InPlaceSchedule:
    """The schedule in which as many updates as can be are done in place.

    Parameters
    ----------
    graph : FrozenFunctionGraph or FunctionGraph
        The graph to run.
    donated : sequence of Variable
        The inputs whose memory may be used up.
    """
    order = graph.toposort()
    alike = first_alike(order)
    updated = {first: updated_operand(order[first].op) for first in set(alike)}
    if not any(position is not None for position in updated.values()):
        return InPlaceSchedule(order, {}, ())
    candidates = [
        (node, 0, position)
        for node, first in zip(order, alike, strict=True)
        if (position := updated[first]) is not None
    ]
    schedule = inplace.plan(graph, candidates, donated=donated)
    return InPlaceSchedule(schedule.order, schedule.orderings, frozenset(schedule.destroyed))
