"""Passes over scalar loops: loops with common work are merged, and unused states are removed.

The loops of a value and of its gradients do the same work in each step: they become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import frazil._core as _core
from frazil._core import Container, FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.op import Op
from frazil.inner.ops import ops_of
from frazil.inner.successors import Successors
from frazil.rewrite.merging.grouping import in_groups
from frazil.scalar import ScalarLoop
from frazil.scalar.elemwise import Elemwise


def optimize_scalar_loops(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with merged scalar loops, without the states that no used result needs.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.merging.scalar_loops import optimize_scalar_loops
    >>> from frazil.scalar import ScalarLoop
    >>> s, t, x = ft.scalar(), ft.scalar(), ft.vector("x")
    >>> one, both = ScalarLoop([s], [s / 2]), ScalarLoop([s, t], [s / 2, s + t])
    >>> graph = fz.FrozenFunctionGraph([x], [one(3, x), both(3, x, x)[1]])
    >>> len(graph.toposort()), len(optimize_scalar_loops(graph).toposort())
    (2, 1)
    """
    if not any(map(_is_loop, ops_of(graph))):
        return graph
    while (merged := _merged(graph)) is not graph:
        graph = merged
    return _without_unused(graph)


def _is_loop(op: Op) -> bool:
    return isinstance(op, Elemwise) and isinstance(op.scalar_op, ScalarLoop)


@dataclass
class _LoopBody:
    """A step of one or more scalar loops.

    States that are equal in all steps of several loops are one variable, so that common work is the
    same nodes.
    """

    condition: Variable | None
    updates: dict[Variable, Variable] = field(default_factory=dict)  # of each state
    starts: dict[Variable, Variable] = field(default_factory=dict)  # of each state
    constants: dict[Variable, Variable] = field(default_factory=dict)  # each with its operand
    work: dict[FrozenApply, None] = field(default_factory=dict)

    def joins(self, other: _LoopBody) -> bool:
        """Whether two have states in common, and half of the work of the smaller one."""
        if self.condition is not other.condition or self.updates.keys().isdisjoint(other.updates):
            return False
        # With less in common, they may share a counter of steps only.
        common = self.work.keys() & other.work.keys()
        return 2 * len(common) >= min(len(self.work), len(other.work))

    def add(self, other: _LoopBody) -> None:
        """Add the work of another one."""
        for own, more in (
            (self.updates, other.updates),
            (self.starts, other.starts),
            (self.constants, other.constants),
        ):
            for x, meaning in more.items():
                own.setdefault(x, meaning)
        self.work.update(other.work)


def _merged(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with loops merged that have much in common; ``graph`` itself if none have."""
    order = graph.toposort()
    alike: dict[Hashable, list[FrozenApply]] = {}
    for node in (node for node in order if _is_loop(node.op)):
        kind = (node.inputs[0], node.op.scalar_op.is_while, node.output_types[0].shape)
        alike.setdefault(kind, []).append(node)
    steps: dict[FrozenApply, _LoopBody] = {}
    state_variables: dict[FrozenApply, list[Variable]] = {}
    mergeable: dict[FrozenApply, FrozenApply] = {}
    for loops in alike.values():
        if len(loops) > 1:
            own = _bodies(loops, state_variables)
            steps.update(own)
            mergeable.update(_mergeable(own))
    groups = [part for group in in_groups(order, mergeable) for part in _independent(group)]
    if all(len(group) == 1 for group in groups):
        return graph
    made = Successors()
    for group in groups:
        if len(group) == 1:
            made.apply(group[0])
            continue
        together = _LoopBody(steps[group[0]].condition)
        for loop in group:
            together.add(steps[loop])
        names = {loop.op.scalar_op.name for loop in group}
        op = ScalarLoop(
            list(together.updates),
            list(together.updates.values()),
            list(together.constants),
            together.condition,
            names.pop() if len(names) == 1 else None,
        )
        operands = [group[0].inputs[0], *together.starts.values(), *together.constants.values()]
        results = op.make_node(*made.of(operands)).outputs
        result = dict(zip(together.updates, results, strict=False))
        for loop in group:
            ended = results[len(result) :]
            made.put(loop.outputs, [*(result[x] for x in state_variables[loop]), *ended])
    return made.graph(graph)


def _bodies(
    loops: Sequence[FrozenApply], state_variables: dict[FrozenApply, list[Variable]]
) -> dict[FrozenApply, _LoopBody]:
    """The body of each loop; ``state_variables`` gets the variables of its states in it."""
    with Container.default():
        nominals = {loop: [x.type() for x in loop.op.scalar_op.fgraph.inputs] for loop in loops}
        constants: dict[tuple[Variable, str], Variable] = {}
        fixed: dict[FrozenApply, list[Variable]] = {}
        for loop in loops:
            count = loop.op.scalar_op.n_states
            numbered = zip(loop.inputs[1 + count :], nominals[loop][count:], strict=True)
            fixed[loop] = [constants.setdefault((x, own.dtype), own) for x, own in numbered]
        # States with equal initial values count as equal until a step computes different ones.
        classes: dict[tuple[FrozenApply, int], Hashable] = {
            (loop, at): (loop.inputs[1 + at], state.dtype)
            for loop in loops
            for at, state in enumerate(loop.op.scalar_op.states)
        }
        known = len(set(classes.values()))
        while True:
            first: dict[Hashable, Variable] = {}
            for (loop, at), kind in classes.items():
                first.setdefault(kind, nominals[loop][at])
            outputs: dict[FrozenApply, list[Variable]] = {}
            for loop in loops:
                count = loop.op.scalar_op.n_states
                state_variables[loop] = [first[classes[loop, at]] for at in range(count)]
                outputs[loop] = loop.op.scalar_op.fgraph.bind(
                    [*state_variables[loop], *fixed[loop]]
                )
            numbers: dict[Hashable, int] = {}
            for (loop, at), kind in classes.items():
                refined = (kind, outputs[loop][at])
                classes[loop, at] = numbers.setdefault(refined, len(numbers))
            if len(numbers) == known:
                break
            known = len(numbers)
    steps = {}
    for loop in loops:
        count = loop.op.scalar_op.n_states
        steps[loop] = _LoopBody(
            outputs[loop][-1] if loop.op.scalar_op.is_while else None,
            dict(zip(state_variables[loop], outputs[loop], strict=False)),
            dict(zip(state_variables[loop], loop.inputs[1 : 1 + count], strict=True)),
            dict(zip(fixed[loop], loop.inputs[1 + count :], strict=True)),
            dict.fromkeys(_core.toposort(list(outputs[loop]))),
        )
    return steps


def _mergeable(steps: Mapping[FrozenApply, _LoopBody]) -> dict[FrozenApply, FrozenApply]:
    """For each loop that can be merged with others: the first of these loops.

    If two loops have half of the nodes of one in common, then a node of the rarer half of that one
    is in the other. So only loops with a rare node in common are compared.
    """
    count = Counter(node for own in steps.values() for node in own.work)
    rank = {node: at for at, node in enumerate(sorted(count, key=count.__getitem__))}
    found: dict[FrozenApply, FrozenApply] = {}
    members: Counter[FrozenApply] = Counter()
    mergeable: dict[FrozenApply, _LoopBody] = {}
    with_any: dict[FrozenApply | Variable, dict[FrozenApply, None]] = {}
    with_rare: dict[FrozenApply | Variable, dict[FrozenApply, None]] = {}
    for loop, own in steps.items():
        every: list[FrozenApply | Variable] = [*own.work, *own.updates]
        rarer = sorted(own.work, key=rank.__getitem__)[: len(own.work) // 2 + 1]
        # A loop without work is found by its states.
        rare: list[FrozenApply | Variable] = [*rarer] or [*own.updates]
        near = [with_any.get(one, {}) for one in rare] + [with_rare.get(one, {}) for one in every]
        candidates = dict.fromkeys(first for some in near for first in some)
        first = next((first for first in candidates if mergeable[first].joins(own)), loop)
        found[loop] = first
        members[first] += 1
        mergeable.setdefault(first, _LoopBody(own.condition)).add(own)
        for one in every:
            with_any.setdefault(one, {})[first] = None
        for one in rare:
            with_rare.setdefault(one, {})[first] = None
    return {loop: first for loop, first in found.items() if members[first] > 1}


def _independent(group: Sequence[FrozenApply]) -> list[list[FrozenApply]]:
    """A group in parts, each without a loop that uses results of another one."""
    part: dict[FrozenApply, int] = {}
    parts: list[list[FrozenApply]] = []
    for loop in group:
        after = [part[x.owner] for x in loop.inputs if x.owner in part]
        part[loop] = max(after, default=-1) + 1
        if part[loop] == len(parts):
            parts.append([])
        parts[part[loop]].append(loop)
    return parts


def _without_unused(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` without the states of loops that no used result needs."""
    order = graph.toposort()
    used = {x for node in order for x in node.inputs}.union(graph.outputs)
    kept = {
        node: states
        for node in order
        if _is_loop(node.op) and len(states := _needed(node, used)) < node.op.scalar_op.n_states
    }
    if not kept:
        return graph
    made = Successors()
    for node in order:
        if node not in kept:
            made.apply(node)
            continue
        op, states = node.op.scalar_op, kept[node]
        with Container.default():
            inputs = [x.type() for x in op.fgraph.inputs]
            outputs = op.fgraph.bind(inputs)
        n_states = op.n_states
        # The results may take their lengths from an initial value that is not a scalar.
        dropped = [at for at in range(n_states) if at not in states]
        others = [at for at in dropped if node.inputs[1 + at].ndim]
        constants = [*range(n_states, len(inputs)), *others]
        loop = ScalarLoop(
            [inputs[at] for at in states],
            [outputs[at] for at in states],
            [inputs[at] for at in constants],
            outputs[-1] if op.is_while else None,
            op.name,
        )
        operands = [node.inputs[0], *(node.inputs[1 + at] for at in (*states, *constants))]
        results = loop.make_node(*made.of(operands)).outputs
        place = dict(zip(states, results, strict=False))
        # No node uses the other results.
        ended = results[len(states) :]
        made.put([node.outputs[at] for at in states], [place[at] for at in states])
        made.put(node.outputs[n_states:], ended)
    return made.graph(graph)


def _needed(node: FrozenApply, used: set[Variable]) -> list[int]:
    """The states that the used results of a loop need, or the first if it needs none."""
    op: ScalarLoop = node.op.scalar_op
    number = {x: at for at, x in enumerate(op.states)}
    targets = [
        *(y for x, y in zip(node.outputs, op.updates, strict=False) if x in used),
        *([] if op.condition is None else [op.condition]),
    ]
    needed = {at for at in range(op.n_states) if node.outputs[at] in used}
    while True:
        order = _core.toposort(targets)
        read = {*targets, *(x for inner in order for x in inner.inputs)}
        more = {number[x] for x in read if x in number} - needed
        if not more:
            return sorted(needed) or [0]
        needed |= more
        targets += [op.updates[at] for at in more]
