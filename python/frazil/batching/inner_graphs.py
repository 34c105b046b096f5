"""Batch rules of ops that hold a graph: the graph itself is taken over the batch."""

from __future__ import annotations

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.batching.registry import BatchRule, Operand, Operands, batch_rule, batch_size, batched
from frazil.batching.walk import over_batch
from frazil.inner.ifelse import IfElse, branch_over
from frazil.inner.inner_graph import with_inner_graph
from frazil.inner.op_from_graph import OpFromGraph
from frazil.tensor.elementwise.choice import where


@batch_rule.register
def _(op: OpFromGraph) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand] | None:
        if op.pullback is not None or op.pushforward is not None:
            return None  # derivatives of the user's own hold for one element
        inner = [Operand(x.value.type(None), x.batched) for x in operands]
        outputs = over_batch(op.fgraph, inner)
        graph = FrozenFunctionGraph([x.value for x in inner], [y.value for y in outputs])
        made = with_inner_graph(op, graph).make_node(*(x.value for x in operands)).outputs
        return [Operand(z, y.batched) for z, y in zip(made, outputs, strict=True)]

    return rule


@batch_rule.register
def _(op: IfElse) -> BatchRule:
    """If elements differ in their condition, both branches are computed for all of them."""

    def rule(node: FrozenApply, operands: Operands) -> list[Operand]:
        condition, *rest = operands
        size = batch_size(operands)
        outputs = over_batch(op.fgraph, rest)
        half = len(outputs) // 2
        pairs = list(zip(outputs[:half], outputs[half:], strict=True))
        if condition.batched:
            return batched(*(_chosen(condition, then, other) for then, other in pairs))
        either = [then.batched or other.batched for then, other in pairs]

        def branch(side: Operands) -> list[Variable]:
            return [
                y.spread(size) if wide else y.value for y, wide in zip(side, either, strict=True)
            ]

        made = branch_over(
            condition.value,
            branch(outputs[:half]),
            branch(outputs[half:]),
            op.name,
            [x.value for x in rest],
        )
        return [Operand(y, wide) for y, wide in zip(made, either, strict=True)]

    return rule


def _chosen(condition: Operand, then: Operand, otherwise: Operand) -> Variable:
    ndim = max(then.ndim, otherwise.ndim)
    return where(condition.of_rank(ndim), then.of_rank(ndim), otherwise.of_rank(ndim))
