"""Ranges of numbers."""

from __future__ import annotations

from frazil._core import Constant, FrozenApply
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.op import Op
from frazil.tensor.ranges import ARange


@lower_node.register
def _(op: ARange, node: FrozenApply, lowering: Lowering) -> None:
    if op.dtype != "int64":
        lower_node.dispatch(Op)(op, node, lowering)  # its length depends on values
        return
    builder = lowering.builder
    start, stop, step = lowering.sizes(node.inputs)
    zero = builder.size_literal(0)
    down = builder.size_binary("floordiv", builder.size_binary("sub", start, stop), step)
    count = builder.size_binary("maximum", builder.size_binary("sub", zero, down), zero)
    if not isinstance(node.inputs[2], Constant):  # which is checked when the node is made
        other = builder.size_binary("add", step, builder.size_binary("eq", step, zero))
        builder.require_equal(step, other, "the step of a range cannot be zero, given {a}")
    lowering.place(node.outputs[0], builder.range(start, step, count))
