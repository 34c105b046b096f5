"""Where updates are done: in which order a graph runs so that they need no copy.

An update, such as :class:`~frazil.tensor.indexing.IncSubtensor`, gives a new tensor, and so does a
factor or what is added to a product; but where nobody needs the old one any more its buffer can be
written over. The core's planner says which updates can have that and what must run before them; the
runtime does in place what then follows the last reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from frazil._core import FrozenApply, FrozenFunctionGraph, FunctionGraph, Variable
from frazil.graph import inplace
from frazil.tensor.updates import updated_operand


@dataclass(frozen=True)
class Placement:
    """An order to run a graph in, and what is written over in it.

    Attributes
    ----------
    order : sequence of FrozenApply
        The nodes.
    before : mapping of FrozenApply to sequence of FrozenApply
        For each node that writes over an operand, the other readers of that memory.
    written : collection of Variable
        The variables whose memory is written over, views of it included.
    """

    order: Sequence[FrozenApply]
    before: Mapping[FrozenApply, Sequence[FrozenApply]] = field(default_factory=dict)
    written: Collection[Variable] = ()


def place(
    graph: FrozenFunctionGraph | FunctionGraph, donated: Sequence[Variable] = ()
) -> Placement:
    """The placement in which as many updates as can be are done in place.

    Parameters
    ----------
    graph : FrozenFunctionGraph or FunctionGraph
        What is to run.
    donated : sequence of Variable
        The inputs whose memory may be used up.
    """
    order = graph.toposort()
    candidates = [
        (node, 0, position) for node in order if (position := updated_operand(node.op)) is not None
    ]
    if not candidates:
        return Placement(order)
    schedule = inplace.plan(graph, candidates, donated=donated)
    return Placement(schedule.order, schedule.orderings, frozenset(schedule.destroyed))
