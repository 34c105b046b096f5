"""Ops on elements opened: native linkers run what they hold, each op in the loop that suits it."""

from __future__ import annotations

from collections.abc import Callable

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.inner.rebuild import Improve, once_each, rewrite_inner_graphs
from frazil.inner.successors import Successors
from frazil.link.fusion.registry import Fusion
from frazil.scalar import Composite, ScalarLoop
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.loop import LoopResult


def prepared(graph: FrozenFunctionGraph, fusion: Fusion) -> FrozenFunctionGraph:
    """``graph``, and the graphs of its ops, with ops on elements opened for ``fusion``."""

    def open_all(graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        opened = rewrite_inner_graphs(inline_composites(graph), inner)
        return split_loops(opened, fusion.fuses)

    return once_each(open_all)(graph)


def inline_composites(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with elementwise ops in place of every composite, nested ones included."""
    while True:
        opened = _replaced(
            graph, _is_composite, lambda node, inputs: node.op.scalar_op.expand(inputs)
        )
        if opened is graph:
            return graph
        graph = opened


def split_loops(
    graph: FrozenFunctionGraph, fuses: Callable[[FrozenApply], bool]
) -> FrozenFunctionGraph:
    """``graph`` with a node for each result of those loops of elements that ``fuses`` takes so.

    Nodes of one result share kernels with others; in a kernel the results of one loop are one loop
    again.
    """

    def split(node: FrozenApply, inputs: list[Variable]) -> list[Variable]:
        loop = node.op.scalar_op
        parts = [Elemwise(LoopResult(loop, at)).make_node(*inputs) for at in range(loop.nout)]
        if not all(map(fuses, parts)):
            return list(Elemwise(loop).make_node(*inputs).outputs)
        return [part.outputs[0] for part in parts]

    return _replaced(graph, _has_results, split)


def _replaced(
    graph: FrozenFunctionGraph,
    chosen: Callable[[FrozenApply], bool],
    replace: Callable[[FrozenApply, list[Variable]], list[Variable]],
) -> FrozenFunctionGraph:
    """``graph`` with what ``replace`` gives for nodes and their new inputs; itself if for none."""
    order = graph.toposort()
    if not any(map(chosen, order)):
        return graph
    made = Successors()
    for node in order:
        if chosen(node):
            made.put(node.outputs, replace(node, made.of(node.inputs)))
        else:
            made.move(node)
    return made.graph(graph)


def _is_composite(node: FrozenApply) -> bool:
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite)


def _has_results(node: FrozenApply) -> bool:
    """Whether it is a loop of elements that has several results."""
    return len(node.output_types) > 1 and (
        isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ScalarLoop)
    )
