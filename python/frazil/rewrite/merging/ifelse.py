"""Merging of ifelses of one condition, so that work common to their branches is done once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.containers import in_container_of
from frazil.inner.ifelse import IfElse, branch_over
from frazil.inner.ops import ops_of
from frazil.inner.successors import Successors
from frazil.rewrite.merging.grouping import in_groups


def merge_ifelses(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with one ifelse in place of those that have the same condition.

    One may use the results of another, also by way of nodes that only it uses. All ifelses of a
    graph run in any call; those that run in some calls only are in branches of others.

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
        if not any(isinstance(op, IfElse) for op in ops_of(graph)):
            return graph
        order = graph.toposort()
        conditions = _conditions(order)
        if not conditions:
            return graph
        with in_container_of(graph.inputs):
            inside = _movable_between(order, conditions, graph.outputs)
            whole = {node: choice for choice, nodes in inside.items() for node in nodes}
            groups = in_groups(order, conditions, whole)
            if all(len(group) == 1 for group in groups):
                return graph
            graph = _merged(graph, groups, inside)


def _conditions(order: Iterable[FrozenApply]) -> dict[FrozenApply, Variable]:
    """The conditions of the ifelses that share theirs with others."""
    found = {
        node: node.inputs[0]
        for node in order
        if isinstance(node.op, IfElse) and all(map(_is_pure, node.op.fgraph.toposort()))
    }
    count = Counter(found.values())
    return {node: condition for node, condition in found.items() if count[condition] > 1}


def _is_pure(node: FrozenApply) -> bool:
    return bool(node.op.pure)


def _movable_between(
    order: Iterable[FrozenApply],
    conditions: Mapping[FrozenApply, Variable],
    outputs: Iterable[Variable],
) -> dict[FrozenApply, list[FrozenApply]]:
    """For each ifelse: the nodes between it and others of its condition that it alone uses.

    These nodes can move into its branches. An ifelse has none if its branches have no work in
    common with the others.
    """
    uses = Counter(x.owner for node in order for x in node.inputs)
    uses.update(y.owner for y in outputs)
    found: dict[FrozenApply, list[FrozenApply]] = {}
    for choice, condition in conditions.items():
        between: dict[FrozenApply, None] = {}
        others: dict[FrozenApply, None] = {}
        for node in _only_used_by(choice, uses, conditions):
            owners = [x.owner for x in node.inputs if x.owner is not None]
            alike = [owner for owner in owners if conditions.get(owner) is condition]
            others.update(dict.fromkeys(alike))
            if alike or any(owner in between for owner in owners):
                between[node] = None
        if any(_have_work_in_common(other, choice) for other in others):
            found[choice] = list(between)
    return found


def _only_used_by(
    choice: FrozenApply,
    uses: Mapping[FrozenApply | None, int],
    conditions: Mapping[FrozenApply, Variable],
) -> list[FrozenApply]:
    """The nodes that only ``choice`` uses, up to ifelses that may be merged, operands first."""
    private: list[FrozenApply] = []
    left: dict[FrozenApply, int] = {}
    pending = [choice.inputs[1:]]
    for inputs in pending:
        for x in inputs:
            owner = x.owner
            if owner is None or owner in conditions:
                continue
            left[owner] = left.get(owner, uses[owner]) - 1
            if not left[owner] and _is_pure(owner):
                private.append(owner)
                pending.append(owner.inputs)
    return private[::-1]


def _have_work_in_common(first: FrozenApply, second: FrozenApply) -> bool:
    """Whether equal branches of two ifelses have nodes in common."""
    for arm in (0, 1):
        nodes = [
            set(_core.toposort(_arm(node, node.inputs[1:], arm), list(node.inputs[1:])))
            for node in (first, second)
        ]
        if nodes[0] & nodes[1]:
            return True
    return False


def _merged(
    graph: FrozenFunctionGraph,
    groups: Iterable[Sequence[FrozenApply]],
    inside: Mapping[FrozenApply, Sequence[FrozenApply]],
) -> FrozenFunctionGraph:
    """``graph`` with one ifelse for each group."""
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
    """The outputs of one branch of an ifelse on ``inputs``, as nodes outside of it."""
    bound = node.op.expand(inputs)
    half = len(bound) // 2
    return list(bound[arm * half : (arm + 1) * half])
