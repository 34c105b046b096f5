"""Conditions that stop a run if they do not hold."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.checks import Check


@lower_node.register
def _(op: Check, node: FrozenApply, lowering: Lowering) -> None:
    x, condition = node.inputs
    lowering.builder.check(lowering.size(condition), op.message, op.asserted)
    view = lowering.builder.transpose(lowering.slot(x), range(x.ndim))
    lowering.set_slot(node.outputs[0], view)
