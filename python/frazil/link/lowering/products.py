"""Products, computed by BLAS."""

from __future__ import annotations

import numpy as np

from frazil._core import FrozenApply
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.link.toolchain import blas
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.products import BatchedDot, Dot


@lower_node.register
def _(op: Dot, node: FrozenApply, lowering: Lowering) -> None:
    a, b = node.inputs
    if np.dtype(a.dtype).kind == "f":
        blas.install()
    slot = lowering.builder.dot(lowering.slot(a), lowering.slot(b))
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: BatchedDot, node: FrozenApply, lowering: Lowering) -> None:
    if node.output_types[0].numpy_dtype.kind == "f":
        blas.install()
    (product,) = node.outputs
    batch = lowering.shapes.lengths(product)[:-2]
    slots = []
    for x in node.inputs:
        target = (*batch, *lowering.shapes.lengths(x)[-2:])
        lowering.require_broadcast(x, target)
        slot = lowering.slot(x)
        if any(x.broadcastable[:-2]):
            slot = lowering.builder.broadcast_to(slot, lowering.sizes(target))
        slots.append(slot)
    lowering.set_slot(product, lowering.builder.dot(*slots))


@lower_node.register
def _(op: Gemm | Gemv, node: FrozenApply, lowering: Lowering) -> None:
    blas.install()
    slots = [lowering.slot(x) for x in node.inputs]
    lowering.set_slot(node.outputs[0], lowering.builder.gemm(*slots))


@lower_node.register
def _(op: Ger, node: FrozenApply, lowering: Lowering) -> None:
    blas.install()
    A, alpha, x, y = (lowering.slot(operand) for operand in node.inputs)
    builder = lowering.builder
    column, row = builder.expand_dims(x, [1]), builder.expand_dims(y, [0])
    one = builder.constant(np.ones((), node.outputs[0].dtype))
    lowering.set_slot(node.outputs[0], builder.gemm(A, alpha, column, row, one))
