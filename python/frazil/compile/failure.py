"""One choice for a whole function: what matrices without factors lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from frazil._core import FrozenFunctionGraph
from frazil.inner.rebuild import replace_nodes
from frazil.tensor.linalg.failure import OnError, fails_otherwise


def with_on_error(graph: FrozenFunctionGraph, on_error: OnError) -> FrozenFunctionGraph:
    """Return ``graph`` with ``on_error`` in every op that has a choice.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.compile.failure import with_on_error
    >>> x = ft.matrix("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.linalg.cholesky(x)])
    >>> with_on_error(graph, "nan").outputs[0].owner.op.on_error
    'nan'
    """
    return replace_nodes(
        graph,
        lambda node: fails_otherwise(node.op, on_error),
        lambda node, inputs: (
            replace(cast(Any, node.op), on_error=on_error).make_node(*inputs).outputs
        ),
    )
