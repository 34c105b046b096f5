"""Graphs built anew with other nodes in place of some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.op import Op
from frazil.inner.inner_graph import HasInnerGraph, with_inner_graph
from frazil.inner.op_from_graph import OpFromGraph
from frazil.inner.ops import ops_of
from frazil.inner.successors import Successors
from frazil.scalar import ScalarLoop
from frazil.scalar.elemwise import Elemwise


def replace_nodes(
    graph: FrozenFunctionGraph,
    chosen: Callable[[FrozenApply], bool],
    replacement: Callable[[FrozenApply, list[Variable]], Sequence[Variable]],
) -> FrozenFunctionGraph:
    """Return ``graph`` with other variables in place of the outputs of some nodes.

    Parameters
    ----------
    graph : FrozenFunctionGraph
        The graph; returned as it is if no node is chosen.
    chosen : callable
        Whether the outputs of a node are replaced.
    replacement : callable
        Called with a chosen node and its new inputs; returns what replaces its outputs.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.inner.rebuild import replace_nodes
    >>> x = ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.exp(ft.sin(x))])
    >>> with_cos = replace_nodes(
    ...     graph, lambda node: str(node.op) == "sin", lambda node, inputs: [ft.cos(inputs[0])]
    ... )
    >>> fz.pp(with_cos)
    'exp(cos(*0))'
    """
    order = graph.toposort()
    replaced = set(filter(chosen, order))
    if not replaced:
        return graph
    made = Successors()
    for node in order:
        if node in replaced:
            made.put(node.outputs, replacement(node, made.of(node.inputs)))
        else:
            made.move(node)
    return made.graph(graph)


def replace_ops(
    graph: FrozenFunctionGraph,
    chosen: Callable[[Op], bool],
    replacement: Callable[[FrozenApply, list[Variable]], Sequence[Variable]],
) -> FrozenFunctionGraph:
    """Return ``graph`` with other variables in place of the outputs of nodes with chosen ops.

    It is :func:`replace_nodes` where the op alone says which nodes are replaced. ``chosen`` is
    asked once for each op.
    """
    ops = frozenset(filter(chosen, ops_of(graph)))
    return replace_nodes(graph, lambda node: node.op in ops, replacement) if ops else graph


def expand_inline(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with the inner graphs of inline ops in place of these ops."""
    while True:
        expanded = replace_ops(
            graph,
            lambda op: isinstance(op, OpFromGraph) and op.inline,
            lambda node, inputs: node.op.expand(inputs),
        )
        if expanded is graph:
            return graph
        graph = expanded


Improve: TypeAlias = Callable[[FrozenFunctionGraph], FrozenFunctionGraph]
"""A graph to a graph that computes the same."""


def rewrite_inner_graphs(graph: FrozenFunctionGraph, improve: Improve) -> FrozenFunctionGraph:
    """Return ``graph`` with ``improve`` applied to the graphs that its ops hold.

    The graph of a ScalarLoop is one of these; a Composite's is not, as its nodes take the
    place of the Composite before anything is compiled.
    """

    def replacement(node: FrozenApply, inputs: list[Variable]) -> Sequence[Variable]:
        op: Op = node.op
        if isinstance(op, HasInnerGraph):
            op = with_inner_graph(op, improve(op.fgraph))
        elif (loop := _scalar_loop(op)) is not None:
            op = Elemwise(with_inner_graph(loop, improve(loop.fgraph)))
        changed = op is not node.op
        return (op.make_node(*inputs) if changed else node.clone_with_new_inputs(inputs)).outputs

    return replace_ops(
        graph,
        lambda op: isinstance(op, HasInnerGraph) or _scalar_loop(op) is not None,
        replacement,
    )


def _scalar_loop(op: Op) -> ScalarLoop | None:
    """The scalar loop that ``op`` runs for each element, if it does."""
    held = op.scalar_op if isinstance(op, Elemwise) else None
    return held if isinstance(held, ScalarLoop) else None
