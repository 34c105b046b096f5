"""Batch rules of ops that hold a graph: the graph itself is taken over the batch."""

from __future__ import annotations

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable, elemwise
from frazil.batching.registry import BatchRule, Operand, Operands, batch_rule, batch_size, batched
from frazil.batching.walk import over_batch
from frazil.inner.ifelse import IfElse, branch_over
from frazil.inner.inner_graph import with_inner_graph
from frazil.inner.op_from_graph import OpFromGraph
from frazil.scalar.logic import disconnected_grad
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
        if condition.batched:
            chosen = [_masked(condition, x, chosen=True) for x in rest]
            other = [_masked(condition, x, chosen=False) for x in rest]
            half = len(node.outputs)
            thens = over_batch(op.fgraph, chosen)[:half]
            others = over_batch(op.fgraph, other)[half:]
            return batched(*(_chosen(condition, a, b) for a, b in zip(thens, others, strict=True)))
        outputs = over_batch(op.fgraph, rest)
        half = len(outputs) // 2
        pairs = list(zip(outputs[:half], outputs[half:], strict=True))
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


def _masked(condition: Operand, x: Operand, *, chosen: bool) -> Operand:
    """An operand of a branch, whose derivative is zero where the other branch is chosen.

    The derivatives of this branch may be infinite or NaN there, as that of a root is at zero, and
    zero times these is NaN. Rules make the operand itself of it when derivatives are taken.
    """
    if x.value.type.numpy_dtype.kind not in "fc" or isinstance(x.value, Constant):
        return x
    value = x.of_rank(x.ndim)
    constant = elemwise(disconnected_grad, value)
    either = (value, constant) if chosen else (constant, value)
    return Operand(where(condition.of_rank(x.ndim), *either), True)


def _chosen(condition: Operand, then: Operand, otherwise: Operand) -> Variable:
    ndim = max(then.ndim, otherwise.ndim)
    return where(condition.of_rank(ndim), then.of_rank(ndim), otherwise.of_rank(ndim))
