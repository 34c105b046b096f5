"""Batch rules of draws: a batch draws the numbers of all its elements from one state.

So each element gets numbers of its own; an op that ran once for each element would draw the same
numbers each time. Draws that take no batch of parameters go on from the state that the element
before left. A batch of states draws for one element after the other.
"""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.batching.registry import (
    Operand,
    Operands,
    batch_size,
    one_by_one,
    rule_of,
)
from frazil.random.draw import Draw, Drawing


@rule_of(Drawing)
def _one_after_other(node: FrozenApply, operands: Operands) -> list[Operand]:
    return one_by_one(node, operands, n_states=0 if operands[0].batched else 1)


@rule_of(Draw)
def _draw(node: FrozenApply, operands: Operands) -> list[Operand]:
    op: Draw = node.op
    state, *rest = operands
    parameters, shape = rest[: op.arity], rest[op.arity :]
    if state.batched or any(n.batched for n in shape) or op.distribution == "sample":
        return _one_after_other(node, operands)
    ndim = len(shape) - op.signature.has_rows
    values = [
        x.of_rank(ndim + is_row)
        for x, is_row in zip(parameters, op.signature.takes_rows, strict=True)
    ]
    lengths = [n.value for n in shape]
    after, drawn = op(state.value, *values, batch_size(operands), *lengths)
    return [Operand(after, False), Operand(drawn, True)]
