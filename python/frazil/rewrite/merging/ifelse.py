"""Choices by the same condition as one, so that what both need in a branch is computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.containers import in_container_of
from frazil.inner.ifelse import IfElse, branch_over
from frazil.inner.successors import Successors
from frazil.rewrite.merging.grouping import in_groups


def merge_ifelses(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with one choice in place of those by the same condition.

    One may need the results of another, and what is made of them for nobody else. All choices of a
    graph are made in any case; those that are not are within branches of others.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.merging.ifelse import merge_ifelses
    >>> c, x = ft.iscalar("c"), ft.vector("x")
    >>> y = fz.ifelse(c, x, 2 * x)
    >>> graph = fz.FrozenFunctionGraph([c, x], [y, fz.ifelse(c, y, x)])
    >>> [len(node.outputs) for node in merge_ifelses(graph).toposort()[-1:]]
    [2]
    """
    while True:
        order = graph.toposort()
        conditions = _conditions(order)
        if not conditions:
            return graph
        with in_container_of(graph.inputs):
            inside = _made_for_one(order, conditions, graph.outputs)
            whole = {node: choice for choice, nodes in inside.items() for node in nodes}
            groups = in_groups(order, conditions, whole)
            if all(len(group) == 1 for group in groups):
                return graph
            graph = _joined(graph, groups, inside)


def _conditions(order: Iterable[FrozenApply]) -> dict[FrozenApply, Variable]:
    """The conditions of the choices that have the same one as others."""
    found = {
        node: node.inputs[0]
        for node in order
        if isinstance(node.op, IfElse) and all(map(_may_move, node.op.fgraph.toposort()))
    }
    count = Counter(found.values())
    return {node: condition for node, condition in found.items() if count[condition] > 1}


def _may_move(node: FrozenApply) -> bool:
    return bool(node.op.pure)


def _made_for_one(
    order: Iterable[FrozenApply],
    conditions: Mapping[FrozenApply, Variable],
    outputs: Iterable[Variable],
) -> dict[FrozenApply, list[FrozenApply]]:
    """What choices alone need that is made of the results of others by the same condition, so that
    it can be in their branches: for those that compute something in a branch as the others do.
    """
    uses = Counter(x.owner for node in order for x in node.inputs)
    uses.update(y.owner for y in outputs)
    found: dict[FrozenApply, list[FrozenApply]] = {}
    for choice, condition in conditions.items():
        between: dict[FrozenApply, None] = {}
        others: dict[FrozenApply, None] = {}
        for node in _private(choice, uses, conditions):
            owners = [x.owner for x in node.inputs if x.owner is not None]
            alike = [owner for owner in owners if conditions.get(owner) is condition]
            others.update(dict.fromkeys(alike))
            if alike or any(owner in between for owner in owners):
                between[node] = None
        if any(_share(other, choice) for other in others):
            found[choice] = list(between)
    return found


def _private(
    choice: FrozenApply,
    uses: Mapping[FrozenApply | None, int],
    conditions: Mapping[FrozenApply, Variable],
) -> list[FrozenApply]:
    """What nobody but a choice needs, as far as other choices that may become one with others; each
    node after those that it needs.
    """
    private: list[FrozenApply] = []
    left: dict[FrozenApply, int] = {}
    pending = [choice.inputs[1:]]
    for inputs in pending:
        for x in inputs:
            owner = x.owner
            if owner is None or owner in conditions:
                continue
            left[owner] = left.get(owner, uses[owner]) - 1
            if not left[owner] and _may_move(owner):
                private.append(owner)
                pending.append(owner.inputs)
    return private[::-1]


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
    graph: FrozenFunctionGraph,
    groups: Iterable[Sequence[FrozenApply]],
    inside: Mapping[FrozenApply, Sequence[FrozenApply]],
) -> FrozenFunctionGraph:
    """``graph`` with one choice for each group."""
    made = Successors()
    for group in groups:
        nodes = {choice: [*inside.get(choice, ()), choice] for choice in group}
        if len(group) == 1:
            for node in nodes[group[0]]:
                made.apply(node)
            continue
        branches: list[list[Variable]] = []
        for arm in (0, 1):
            known = Successors(after=made)
            branches.append([])
            for choice in group:
                for node in nodes[choice][:-1]:
                    known.apply(node)
                results = _arm(choice, known.of(choice.inputs[1:]), arm)
                known.put(choice.outputs, results)
                branches[-1] += results
        together = {node for own in nodes.values() for node in own}
        reads = [x for own in nodes.values() for node in own for x in node.inputs[node in nodes :]]
        boundary = dict.fromkeys(
            made[x] for x in reads if x.owner not in together and not isinstance(x, Constant)
        )
        condition = group[0].inputs[0]
        name = next((choice.op.name for choice in group if choice.op.name), None)
        then, otherwise = branches
        chosen = branch_over(made[condition], then, otherwise, name, list(boundary))
        made.put([y for choice in group for y in choice.outputs], chosen)
    return made.graph(graph)


def _arm(node: FrozenApply, inputs: Sequence[Variable], arm: int) -> list[Variable]:
    """What a choice computes of ``inputs`` in one of its branches, as if outside of it."""
    bound = node.op.expand(inputs)
    half = len(bound) // 2
    return list(bound[arm * half : (arm + 1) * half])
