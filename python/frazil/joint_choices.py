"""Choices by the same condition as one, so that what both need in a branch is computed once."""

from __future__ import annotations

from collections.abc import Sequence

from frazil import _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.company import in_company_of
from frazil.ifelse import IfElse, branch_over
from frazil.tensor.broadcasting import with_lengths


def join_choices(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with one choice in place of those by the same condition.

    One may need the results of another, and what is made of them for nobody else. All choices of a
    graph are made in any case; those that are not are within branches of others.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.joint_choices import join_choices
    >>> c, x = ft.iscalar("c"), ft.vector("x")
    >>> y = fz.ifelse(c, x, 2 * x)
    >>> graph = fz.FrozenFunctionGraph([c, x], [y, fz.ifelse(c, y, x)])
    >>> [len(node.outputs) for node in join_choices(graph).toposort()[-1:]]
    [2]
    """
    while True:
        pair = _joinable(graph)
        if pair is None:
            return graph
        with in_company_of(graph.inputs):
            graph = _joined(graph, *pair)


def _joinable(graph: FrozenFunctionGraph) -> tuple[FrozenApply, FrozenApply] | None:
    """The first two choices that can be one."""
    order = graph.toposort()
    earlier: dict[Variable, list[FrozenApply]] = {}
    for node in order:
        if not isinstance(node.op, IfElse) or not all(map(_may_move, node.op.fgraph.toposort())):
            continue
        alike = earlier.setdefault(node.inputs[0], [])
        for other in alike:
            between = _between(order, other, node)
            if not between or (_is_private(graph, between, node) and _share(other, node)):
                return other, node
        alike.append(node)
    return None


def _may_move(node: FrozenApply) -> bool:
    return node.distinct is None and bool(node.op.pure)


def _between(
    order: Sequence[FrozenApply], first: FrozenApply, second: FrozenApply
) -> list[FrozenApply]:
    """What makes something for ``second`` of the results of ``first``, and is neither of them."""
    follows = set(first.outputs)
    after = []
    for node in order[: order.index(second)]:
        if any(x in follows for x in node.inputs):
            follows.update(node.outputs)
            after.append(node)
    needed = set(second.inputs)
    between = []
    for node in reversed(after):
        if any(y in needed for y in node.outputs):
            needed.update(node.inputs)
            between.append(node)
    return between


def _is_private(
    graph: FrozenFunctionGraph, between: Sequence[FrozenApply], second: FrozenApply
) -> bool:
    """Whether nobody but ``second`` needs what lies between, which can be in a branch, too."""
    results = {y for node in between for y in node.outputs}
    inside = {*between, second}
    users = [node for node in graph.toposort() if node not in inside]
    return (
        all(map(_may_move, between))
        and second.inputs[0] not in results
        and not any(y in results for y in graph.outputs)
        and not any(x in results for node in users for x in node.inputs)
    )


def _share(first: FrozenApply, second: FrozenApply) -> bool:
    """Whether the same branches of two choices compute anything alike."""
    for arm in (0, 1):
        nodes = [
            set(_core.toposort(_arm(node, node.inputs[1:], arm), list(node.inputs[1:])))
            for node in (first, second)
        ]
        if nodes[0] & nodes[1]:
            return True
    return False


def _joined(
    graph: FrozenFunctionGraph, first: FrozenApply, second: FrozenApply
) -> FrozenFunctionGraph:
    condition = first.inputs[0]
    branches: list[list[Variable]] = []
    for arm in (0, 1):
        own = _arm(first, first.inputs[1:], arm)
        given = list(zip(first.outputs, own, strict=True))
        inputs = _core.graph_replace(list(second.inputs[1:]), given)
        branches.append([*own, *_arm(second, inputs, arm)])
    between = _between(graph.toposort(), first, second)
    inside = {first, *between}
    reads = [*first.inputs[1:], *second.inputs[1:]]
    reads += [x for node in reversed(between) for x in node.inputs]
    boundary = [
        x for x in dict.fromkeys(reads) if x.owner not in inside and not isinstance(x, Constant)
    ]
    then, otherwise = branches
    made = branch_over(condition, then, otherwise, first.op.name or second.op.name, boundary)
    old = [*first.outputs, *second.outputs]
    replaced = [(y, with_lengths(x, y.type)) for y, x in zip(old, made, strict=True)]
    return FrozenFunctionGraph(
        list(graph.inputs), _core.graph_replace(list(graph.outputs), replaced)
    )


def _arm(node: FrozenApply, inputs: Sequence[Variable], arm: int) -> list[Variable]:
    """What a choice computes of ``inputs`` in one of its branches, as if outside of it."""
    bound = node.op.expand(inputs)
    half = len(bound) // 2
    return list(bound[arm * half : (arm + 1) * half])
