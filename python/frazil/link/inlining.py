"""Composites opened: native linkers run what one holds, each op in the loop that suits it."""

from __future__ import annotations

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.elemwise import Elemwise
from frazil.scalar import Composite


def inline_composites(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with elementwise ops in place of every composite, nested ones included."""
    while True:
        order = graph.toposort()
        if not any(_is_composite(node) for node in order):
            return graph
        made: dict[Variable, Variable] = {}
        for node in order:
            inputs = [made.get(x, x) for x in node.inputs]
            if _is_composite(node):
                results = node.op.scalar_op.expand(inputs)
            elif inputs != list(node.inputs):
                results = node.clone_with_new_inputs(inputs).outputs
            else:
                continue
            made.update(zip(node.outputs, results, strict=True))
        graph = FrozenFunctionGraph(graph.inputs, [made.get(x, x) for x in graph.outputs])


def _is_composite(node: FrozenApply) -> bool:
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite)
