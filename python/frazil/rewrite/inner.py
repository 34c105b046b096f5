"""Ops that hold graphs, and others in their place that hold better ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from frazil._core import FrozenFunctionGraph, Variable
from frazil.elemwise import Elemwise
from frazil.inner_graph import HasInnerGraph, with_inner_graph
from frazil.op import Op
from frazil.op_from_graph import OpFromGraph
from frazil.scalar import ScalarLoop
from frazil.tensor.broadcasting import with_lengths


def expand_inline(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with their graphs in place of the ops that are to be inlined."""
    while True:
        order = graph.toposort()
        if not any(isinstance(node.op, OpFromGraph) and node.op.inline for node in order):
            return graph
        made: dict[Variable, Variable] = {}
        for node in order:
            inputs = [made.get(x, x) for x in node.inputs]
            if isinstance(node.op, OpFromGraph) and node.op.inline:
                made |= _as_typed(node.outputs, node.op.expand(inputs))
            elif any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
                new = node.clone_with_new_inputs(inputs)
                made.update(zip(node.outputs, new.outputs, strict=True))
        graph = FrozenFunctionGraph(graph.inputs, [made.get(y, y) for y in graph.outputs])


def rewrite_inner_graphs(
    graph: FrozenFunctionGraph, improve: Callable[[FrozenFunctionGraph], FrozenFunctionGraph]
) -> FrozenFunctionGraph:
    """Return ``graph`` with ops that hold what ``improve`` makes of the graphs that they hold.

    A loop for each element is such an op, too; a composite is not: it is what it holds.
    """
    order = graph.toposort()
    if not any(isinstance(node.op, HasInnerGraph) or _element_loop(node.op) for node in order):
        return graph
    made: dict[Variable, Variable] = {}
    for node in order:
        inputs = [made.get(x, x) for x in node.inputs]
        op = node.op
        if isinstance(op, HasInnerGraph):
            op = with_inner_graph(op, improve(op.fgraph))
        elif (loop := _element_loop(op)) is not None:
            op = Elemwise(with_inner_graph(loop, improve(loop.fgraph)))
        if op is node.op:
            if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
                new = node.clone_with_new_inputs(inputs)
                made.update(zip(node.outputs, new.outputs, strict=True))
            continue
        made |= _as_typed(node.outputs, op.make_node(*inputs).outputs)
    outputs = [made.get(output, output) for output in graph.outputs]
    return FrozenFunctionGraph(list(graph.inputs), outputs)


def _as_typed(old: Sequence[Variable], new: Sequence[Variable]) -> dict[Variable, Variable]:
    """For old variables the new ones in their place.

    What was known of lengths stays so, even if other nodes within an op tell less.
    """
    return {y: with_lengths(x, y.type) for y, x in zip(old, new, strict=True)}


def _element_loop(op: Op) -> ScalarLoop | None:
    """The loop that ``op`` runs for each element, if it does."""
    held = op.scalar_op if isinstance(op, Elemwise) else None
    return held if isinstance(held, ScalarLoop) else None
