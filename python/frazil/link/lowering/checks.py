"""Conditions that stop a run if they do not hold."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import FrozenApply, Variable
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.checks import Check
from frazil.tensor.lengths import literal
from frazil.tensor.shapes import is_size_arithmetic


@lower_node.register
def _(op: Check, node: FrozenApply, lowering: Lowering) -> None:
    x, condition = node.inputs
    builder = lowering.builder
    if op.error == "IndexError":
        a, b = _compared(condition, lowering)
        if a is not b:
            builder.require_indices(lowering.size(a), lowering.size(b), op.message)
    else:
        builder.check(lowering.size(condition), op.message, op.error == "AssertionError")
    view = builder.transpose(lowering.slot(x), range(x.ndim))
    lowering.set_slot(node.outputs[0], view)


def _compared(condition: Variable, lowering: Lowering) -> tuple[Variable, Variable]:
    """The lengths that a condition compares, or itself and one that is true."""
    node = condition.owner
    if node is None or not is_size_arithmetic(condition) or node.op.scalar_op is not scalar.eq:
        return condition, literal(1)
    a, b = map(lowering.shapes.canonical, node.inputs)
    return a, b
