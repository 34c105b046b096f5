"""From a node outside loops to instructions: a rule for each op, else a call of ``perform``."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op
from frazil.link.fusion.operands import length_operands, value_operands
from frazil.link.lowering.perform import call_perform
from frazil.link.lowering.state import Lowering


@singledispatch
def lower_node(op: Op, node: FrozenApply, lowering: Lowering) -> None:
    """Add the instructions that compute ``node``; a call of ``perform`` if its op has no rule."""
    call_op(op, node, lowering)


def call_op(op: Op, node: FrozenApply, lowering: Lowering) -> None:
    """Add a call of the ``perform`` of ``op``."""
    only_lengths = {*length_operands(node)} - {*value_operands(node)}
    inputs = [
        lowering.builder.size_scalar(lowering.size(x)) if x in only_lengths else lowering.slot(x)
        for x in node.inputs
    ]
    slots = call_perform(lowering.builder, node, inputs, checked=lowering.checked)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)
