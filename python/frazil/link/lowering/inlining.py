"""Inlining of scalar ops that hold a graph, so that fusion sees each op of the graph."""

from __future__ import annotations

from collections.abc import Callable

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.op import Op
from frazil.inner.rebuild import Improve, replace_ops, rewrite_inner_graphs
from frazil.link.fusion.registry import Fusion
from frazil.scalar import Composite, ScalarLoop
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.loop import LoopResult


def inline_scalar_graphs(
    graph: FrozenFunctionGraph, inner: Improve, fusion: Fusion
) -> FrozenFunctionGraph:
    """``graph`` with composites inlined and scalar loops split, and ``inner`` of its inner graphs.

    A scalar loop of a composite is among the nodes whose graphs ``inner`` takes.
    """
    inlined = rewrite_inner_graphs(inline_composites(graph), inner)
    return split_scalar_loops(inlined, fusion.fuses)


def inline_composites(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with the elementwise ops of every composite, nested ones included."""
    while True:
        opened = replace_ops(
            graph, _is_composite, lambda node, inputs: node.op.scalar_op.expand(inputs)
        )
        if opened is graph:
            return graph
        graph = opened


def split_scalar_loops(
    graph: FrozenFunctionGraph, fuses: Callable[[FrozenApply], bool]
) -> FrozenFunctionGraph:
    """``graph`` with one node for each result of a scalar loop, if ``fuses`` accepts these nodes.

    A node of one result can be fused with others; in a kernel the results of one loop are one loop
    again.
    """

    def split(node: FrozenApply, inputs: list[Variable]) -> list[Variable]:
        loop = node.op.scalar_op
        parts = [Elemwise(LoopResult(loop, at)).make_node(*inputs) for at in range(loop.nout)]
        if not all(map(fuses, parts)):
            return list(Elemwise(loop).make_node(*inputs).outputs)
        return [part.outputs[0] for part in parts]

    return replace_ops(graph, _is_scalar_loop_of_several, split)


def _is_composite(op: Op) -> bool:
    return isinstance(op, Elemwise) and isinstance(op.scalar_op, Composite)


def _is_scalar_loop_of_several(op: Op) -> bool:
    """Whether the op is a scalar loop with several results."""
    held = op.scalar_op if isinstance(op, Elemwise) else None
    return isinstance(held, ScalarLoop) and held.nout > 1
