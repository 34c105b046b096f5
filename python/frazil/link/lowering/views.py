"""Views: ops whose output shares the memory of an operand."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.link.lowering.index import sized_index
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.basic_indexing import Subtensor
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose


@lower_node.register
def _(op: Transpose | ExpandDims | DropDims, node: FrozenApply, lowering: Lowering) -> None:
    builder = lowering.builder
    match op:
        case Transpose():
            view = builder.transpose
        case ExpandDims():
            view = builder.expand_dims
        case DropDims():
            view = builder.drop_dims
    lowering.set_slot(node.outputs[0], view(lowering.slot(node.inputs[0]), op.axes))


@lower_node.register
def _(op: BroadcastTo, node: FrozenApply, lowering: Lowering) -> None:
    x, *lengths = node.inputs
    lowering.require_broadcast(x, lengths)
    slot = lowering.builder.broadcast_to(lowering.slot(x), lowering.sizes(lengths))
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: Reshape, node: FrozenApply, lowering: Lowering) -> None:
    x, *lengths = node.inputs
    slot = lowering.builder.reshape(lowering.slot(x), lowering.sizes(lengths))
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: Subtensor, node: FrozenApply, lowering: Lowering) -> None:
    x, *dynamic = node.inputs
    index = sized_index(op.template, x.ndim, dynamic, lowering)
    lowering.set_slot(node.outputs[0], lowering.builder.slice(lowering.slot(x), index))
