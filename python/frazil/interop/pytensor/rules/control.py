"""Rules for graphs within ops, for branches, and for functions that PyTensor writes as graphs."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from pytensor.compile.builders import OpFromGraph
from pytensor.tensor.type_other import NoneTypeT

import frazil.tensor as ft
from frazil._core import Variable
from frazil.inner.ifelse import ifelse
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.translation import Results, Translation, cast, rule

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp


@rule(OpFromGraph)
def _op_from_graph(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    inner = Translation(outer=t)
    # None, as a random variable's size, is no tensor; rules look at its type.
    given = [None if isinstance(x.type, NoneTypeT) else t[x] for x in node.inputs]
    found = inner.graph(op.fgraph.inputs, op.fgraph.outputs, given)
    t.checks += inner.checks
    return found


@rule(*classes("IfElse"))
def _ifelse(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    condition, *both = node.inputs
    first = [t[x] for x in both[: op.n_outs]]
    second = [t[x] for x in both[op.n_outs :]]
    found = ifelse(cast(t[condition], "bool"), first, second)
    return found if isinstance(found, list | tuple) else [found]


@rule(*classes("LazyIfElse"))
def _branches_of_graphs(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    condition, *given = t.operands(node)

    def results(branch: Any) -> list[Variable]:
        graph = branch.fgraph
        return Translation(outer=t, local=True).graph(graph.inputs, graph.outputs, given)

    branches = results(op.true_branch), results(op.false_branch)
    found = ifelse(cast(condition, "bool"), *branches)
    return found if isinstance(found, list | tuple) else [found]


@rule(*classes("Softmax"))
def _softmax(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.softmax(t[node.inputs[0]], axis=op.axis)


@rule(*classes("SoftmaxGrad"))
def _softmax_gradient(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    gradient, result = t.operands(node)
    product = gradient * result
    return product - ft.sum(product, axis=op.axis, keepdims=True) * result


@rule(*classes("LogSoftmax"))
def _log_softmax(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.log_softmax(t[node.inputs[0]], axis=op.axis)


@rule(*classes("LogSumExp"))
def _logsumexp(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = cast(t[node.inputs[0]], node.outputs[0].type.dtype)
    return ft.logsumexp(x, axis=op.axis)


@rule(*classes("LogAddExp"))
def _logaddexp(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return reduce(ft.logaddexp, t.operands(node))
