"""Choices for a whole function: the effect of failures, and whether conditions are checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from frazil._core import FrozenFunctionGraph
from frazil.inner.rebuild import replace_ops
from frazil.tensor.checks import Check
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
    return replace_ops(
        graph,
        lambda op: fails_otherwise(op, on_error),
        lambda node, inputs: (
            replace(cast(Any, node.op), on_error=on_error).make_node(*inputs).outputs
        ),
    )


def without_checks(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` without the conditions that its users wrote.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.compile.failure import without_checks
    >>> x = ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.sqrt(ft.assert_(x, x >= 0))])
    >>> print(fz.pp(without_checks(graph)))
    sqrt(*0)
    """
    return replace_ops(graph, lambda op: isinstance(op, Check), lambda node, inputs: inputs[:1])
