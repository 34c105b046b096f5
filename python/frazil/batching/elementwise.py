"""Batch rules of elementwise ops."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.batching.registry import Operand, Operands, batched, rule_of
from frazil.scalar.elemwise import Elemwise


@rule_of(Elemwise)
def _elemwise(node: FrozenApply, operands: Operands) -> list[Operand]:
    ndim = node.outputs[0].ndim
    return batched(*node.op.make_node(*(x.of_rank(ndim) for x in operands)).outputs)
