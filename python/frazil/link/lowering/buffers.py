"""Ops that make or change a buffer."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.link.lowering.index import sized_index
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.basic_indexing import IncSubtensor, part_lengths
from frazil.tensor.buffers import Distinct
from frazil.tensor.creation import Full
from frazil.tensor.cumulation import CumOp
from frazil.tensor.joining import Join


@lower_node.register
def _(op: Full, node: FrozenApply, lowering: Lowering) -> None:
    (value, *lengths), (y,) = node.inputs, node.outputs
    sizes, slot = lowering.sizes(lengths), lowering.slot(value)
    if lowering.needs_buffer(y):
        lowering.set_slot(y, lowering.builder.full(value.dtype, slot, sizes))
    else:
        lowering.set_slot(y, lowering.builder.broadcast_to(slot, sizes))


@lower_node.register
def _(op: Distinct, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    slot = lowering.slot(x)
    # Memory that nothing writes to needs no copy.
    apart = lowering.needs_buffer(y) or x in lowering.schedule.written
    lowering.set_slot(y, lowering.builder.copy(slot) if apart else slot)


@lower_node.register
def _(op: Join, node: FrozenApply, lowering: Lowering) -> None:
    slot = lowering.builder.join([lowering.slot(x) for x in node.inputs], op.axis)
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: IncSubtensor, node: FrozenApply, lowering: Lowering) -> None:
    x, y, *dynamic = node.inputs
    index = sized_index(op.template, x.ndim, dynamic, lowering)
    lowering.require_broadcast(y, part_lengths(op.template, lowering.shapes.lengths(x), dynamic))
    slot = lowering.builder.update(lowering.slot(x), index, lowering.slot(y), accumulate=not op.set)
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: CumOp, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    # The axis has length 1; other cumulations are in loops.
    lowering.set_slot(y, lowering.builder.copy(lowering.slot(x)))
