"""What becomes of matrices without factors in all of a function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from frazil._core import FrozenFunctionGraph
from frazil.inner.rebuild import Improve, once_each, rewrite_inner_graphs
from frazil.inner.successors import Successors
from frazil.tensor.linalg.failure import OnError, is_failing


def failing(graph: FrozenFunctionGraph, on_error: OnError) -> FrozenFunctionGraph:
    """Return ``graph`` with ops that fail as ``on_error`` says, in the graphs of ops, too.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.compile.failure import failing
    >>> x = ft.matrix("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.linalg.cholesky(x)])
    >>> failing(graph, "nan").outputs[0].owner.op.on_error
    'nan'
    """

    def improve(graph: FrozenFunctionGraph, inward: Improve) -> FrozenFunctionGraph:
        order = graph.toposort()
        if any(is_failing(node.op, on_error) for node in order):
            made = Successors()
            for node in order:
                if is_failing(node.op, on_error):
                    op = replace(cast(Any, node.op), on_error=on_error)
                    made.put(node.outputs, op.make_node(*made.of(node.inputs)).outputs)
                else:
                    made.move(node)
            graph = made.graph(graph)
        return rewrite_inner_graphs(graph, inward)

    return once_each(improve)(graph)
