"""Inner graphs made better: by other ops in the outer graph, before a linker sees it."""

from __future__ import annotations

from collections.abc import Callable

from frazil._core import FrozenFunctionGraph, Variable
from frazil.inner_graph import HasInnerGraph, Holder, with_inner_graph


def rewrite_inner_graph(op: Holder, excluded: frozenset[str] = frozenset()) -> Holder:
    """Return the op that holds what the phases make of the graph of ``op``, which stays as it is.

    Parameters
    ----------
    op : HasInnerGraph
        Ops within its graph that hold graphs are made better, too.
    excluded : frozenset of str
        Names of phases and rules that are left out.
    """
    from frazil.compile.phases import optimize

    return with_inner_graph(op, optimize(op.fgraph, excluded))


def rewrite_inner_graphs(
    graph: FrozenFunctionGraph, improve: Callable[[FrozenFunctionGraph], FrozenFunctionGraph]
) -> FrozenFunctionGraph:
    """Return ``graph`` with ops that hold what ``improve`` makes of the graphs that they hold."""
    order = graph.toposort()
    if not any(isinstance(node.op, HasInnerGraph) for node in order):
        return graph
    made: dict[Variable, Variable] = {}
    for node in order:
        inputs = [made.get(x, x) for x in node.inputs]
        op = node.op
        if isinstance(op, HasInnerGraph):
            op = with_inner_graph(op, improve(op.fgraph))
        if op is node.op:
            if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
                new = node.clone_with_new_inputs(inputs)
                made.update(zip(node.outputs, new.outputs, strict=True))
            continue
        made.update(zip(node.outputs, op.make_node(*inputs).outputs, strict=True))
    outputs = [made.get(output, output) for output in graph.outputs]
    return FrozenFunctionGraph(list(graph.inputs), outputs)
