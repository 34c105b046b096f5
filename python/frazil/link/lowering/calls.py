"""OpFromGraph and IfElse: instructions that run other programs."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.inner.ifelse import IfElse
from frazil.inner.op_from_graph import OpFromGraph
from frazil.link.lowering.inner import Inner, inner_graphs
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.lengths import Shape_i


@inner_graphs.register
def _(op: OpFromGraph) -> Sequence[Inner]:
    return [(op.fgraph, ())]


@lower_node.register
def _(op: OpFromGraph, node: FrozenApply, lowering: Lowering) -> None:
    ((graph, donated),) = inner_graphs(op)
    slots = lowering.builder.call_program(
        lowering.inner_program(graph, donated), [lowering.slot(x) for x in node.inputs]
    )
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)


@inner_graphs.register
def _(op: IfElse) -> Sequence[Inner]:
    return [(arm, ()) for arm in op.branch_graphs]


@lower_node.register
def _(op: IfElse, node: FrozenApply, lowering: Lowering) -> None:
    then, otherwise = (lowering.inner_program(*arm) for arm in inner_graphs(op))
    condition, *inputs = (lowering.slot(x) for x in node.inputs)
    lengths = [
        None if _is_open(lengths, node) else lowering.sizes(lengths)
        for lengths in map(lowering.shapes.lengths, node.outputs)
    ]
    slots = lowering.builder.branch(condition, then, otherwise, inputs, inputs, lengths)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)


def _is_open(lengths: Sequence[Variable], node: FrozenApply) -> bool:
    """Whether one of ``lengths`` is known only when ``node`` has run."""
    return any(
        length.owner is not None
        and isinstance(length.owner.op, Shape_i)
        and length.owner.inputs[0].owner is node
        for length in lengths
    )
