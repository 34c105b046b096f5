"""Ranges of numbers (``arange``)."""

from __future__ import annotations

from frazil._core import Constant, FrozenApply
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.ranges import ARange


@lower_node.register
def _(op: ARange, node: FrozenApply, lowering: Lowering) -> None:
    builder = lowering.builder
    if op.dtype != "int64":  # sizes are 64-bit integers: the length follows from values
        first, last, distance = (lowering.slot(x) for x in node.inputs)
        count = builder.size_value(builder.count_terms(first, last, distance))
        lowering.set_slot(node.outputs[0], builder.terms(first, distance, count))
        return
    start, stop, step = lowering.sizes(node.inputs)
    zero = builder.size_literal(0)
    down = builder.size_binary("floordiv", builder.size_binary("sub", start, stop), step)
    count = builder.size_binary("maximum", builder.size_binary("sub", zero, down), zero)
    if not isinstance(node.inputs[2], Constant):  # a constant step is checked when the node is made
        other = builder.size_binary("add", step, builder.size_binary("eq", step, zero))
        builder.require_equal(step, other, "the step of a range cannot be zero, given {a}")
    lowering.set_slot(node.outputs[0], builder.range(start, step, count))
