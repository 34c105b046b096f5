"""Ops that hold graphs, and others in their place that hold better ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from frazil._core import FrozenFunctionGraph
from frazil.graph.op import Op
from frazil.inner.inner_graph import HasInnerGraph, with_inner_graph
from frazil.inner.op_from_graph import OpFromGraph
from frazil.inner.successors import Successors
from frazil.scalar import ScalarLoop
from frazil.scalar.elemwise import Elemwise


def expand_inline(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with their graphs in place of the ops that are to be inlined."""
    while True:
        order = graph.toposort()
        if not any(isinstance(node.op, OpFromGraph) and node.op.inline for node in order):
            return graph
        made = Successors()
        for node in order:
            if isinstance(node.op, OpFromGraph) and node.op.inline:
                made.put(node.outputs, node.op.expand(made.of(node.inputs)))
            else:
                made.move(node)
        graph = made.graph(graph)


Improve: TypeAlias = Callable[[FrozenFunctionGraph], FrozenFunctionGraph]


def once_each(improve: Callable[[FrozenFunctionGraph, Improve], FrozenFunctionGraph]) -> Improve:
    """Return ``improve`` with its results remembered; it is given that, for the graphs of ops.

    Ops that are applied several times hold one graph, which may hold such ops again.
    """
    known: dict[FrozenFunctionGraph, FrozenFunctionGraph] = {}

    def improved(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        found = known.get(graph)
        if found is None:
            found = known[graph] = improve(graph, improved)
        return found

    return improved


def rewrite_inner_graphs(graph: FrozenFunctionGraph, improve: Improve) -> FrozenFunctionGraph:
    """Return ``graph`` with ops that hold what ``improve`` makes of the graphs that they hold.

    A loop for each element is such an op, too; a composite is not: it is what it holds.
    """
    order = graph.toposort()
    if not any(isinstance(node.op, HasInnerGraph) or _element_loop(node.op) for node in order):
        return graph
    made = Successors()
    for node in order:
        op = node.op
        if isinstance(op, HasInnerGraph):
            op = with_inner_graph(op, improve(op.fgraph))
        elif (loop := _element_loop(op)) is not None:
            op = Elemwise(with_inner_graph(loop, improve(loop.fgraph)))
        if op is node.op:
            made.move(node)
        else:
            made.put(node.outputs, op.make_node(*made.of(node.inputs)).outputs)
    return made.graph(graph)


def _element_loop(op: Op) -> ScalarLoop | None:
    """The loop that ``op`` runs for each element, if it does."""
    held = op.scalar_op if isinstance(op, Elemwise) else None
    return held if isinstance(held, ScalarLoop) else None
