"""Batch rules of draws: from one state a batch draws as much as all of its elements need.

So each element gets numbers of its own, where an op that ran once for each of them would draw the
same from that state. A batch of states draws for one element after the other.
"""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.batching.registry import BatchRule, Operand, Operands, batch_rule, batch_size
from frazil.random.draw import Draw


@batch_rule.register
def _(op: Draw) -> BatchRule:
    return _draw


def _draw(node: FrozenApply, operands: Operands) -> list[Operand] | None:
    op: Draw = node.op
    state, *rest = operands
    parameters, shape = rest[: op.arity], rest[op.arity :]
    if state.batched or any(n.batched for n in shape) or op.distribution == "sample":
        return None
    ndim = len(shape) - op.form.has_rows
    values = [
        x.of_rank(ndim + is_row) for x, is_row in zip(parameters, op.form.takes_rows, strict=True)
    ]
    lengths = [n.value for n in shape]
    after, drawn = op(state.value, *values, batch_size(operands), *lengths)
    return [Operand(after, False), Operand(drawn, True)]
