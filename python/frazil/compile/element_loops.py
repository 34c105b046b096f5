"""Loops of elements made better in the graphs that use them.

A value and its gradients come from loops that take the same steps: they become one. Then states go
that no result needs which somebody uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from frazil import _core
from frazil._core import Container, FrozenApply, FrozenFunctionGraph, Variable
from frazil.elemwise import Elemwise
from frazil.inner_graph import apply_graph
from frazil.scalar import ScalarLoop


def improve_element_loops(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with loops of elements that do less."""
    loops = [node for node in graph.toposort() if _is_loop(node)]
    if not loops:
        return graph
    while (pair := _pair(loops)) is not None:
        graph = _with_one(graph, *pair)
        loops = [node for node in graph.toposort() if _is_loop(node)]
    return _without_unused(graph)


def _is_loop(node: FrozenApply) -> bool:
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ScalarLoop)


@dataclass(frozen=True)
class _States:
    """States and constants of one or two loops, each by what stands for it in a step.

    ``stands`` are, for each of the loops, what its inputs are in the common step.
    """

    states: dict[Variable, Variable]  # by what each starts from
    constants: dict[Variable, Variable]  # by what each is
    stands: tuple[list[Variable], ...]
    outputs: tuple[list[Variable], ...]


def _pair(loops: Sequence[FrozenApply]) -> tuple[FrozenApply, FrozenApply, _States] | None:
    """Two loops that take the same steps and have states in common, and what they have together."""
    for at, a in enumerate(loops):
        for b in loops[at + 1 :]:
            one, other = a.op.scalar_op, b.op.scalar_op
            if a.inputs[0] is not b.inputs[0] or one.is_while != other.is_while:
                continue
            if a.output_types[0].shape != b.output_types[0].shape:
                continue
            common = _unified(a, b)
            if common is None:
                continue
            # The later one might need what the first gives.
            if a not in _core.toposort(list(b.inputs)):
                return a, b, common
    return None


def _unified(a: FrozenApply, b: FrozenApply) -> _States | None:
    """The states of two loops, those that are always equal as one; None if there are none such, or
    if the loops end differently.
    """
    with Container.default():
        parts = [_inputs(a), _inputs(b)]
        # At first whatever starts alike is taken for equal, then what steps tell apart is not.
        groups: dict[tuple[int, int], Any] = {}
        for part, (node, n_states, _) in enumerate(parts):
            for at in range(n_states):
                start = node.inputs[1 + at]
                groups[part, at] = (start, node.op.scalar_op.states[at].dtype)
        constants: dict[tuple[Variable, str], Variable] = {}
        while True:
            stands: dict[Any, Variable] = {}
            chosen: list[list[Variable]] = []
            for part, (node, n_states, nominals) in enumerate(parts):
                own = [stands.setdefault(groups[part, at], nominals[at]) for at in range(n_states)]
                own += [
                    constants.setdefault((x, nominal.dtype), nominal)
                    for x, nominal in zip(
                        node.inputs[1 + n_states :], nominals[n_states:], strict=True
                    )
                ]
                chosen.append(own)
            outputs = [
                node.op.scalar_op.fgraph.bind(own)
                for (node, _, _), own in zip(parts, chosen, strict=True)
            ]
            refined = {key: (groups[key], outputs[key[0]][key[1]]) for key in groups}
            if len(set(refined.values())) == len(set(groups.values())):
                break
            groups = refined
    shared = {groups[key] for key in groups if key[0] == 0} & {
        groups[key] for key in groups if key[0] == 1
    }
    if not shared or (a.op.scalar_op.is_while and outputs[0][-1] is not outputs[1][-1]):
        return None
    starts: dict[Variable, Variable] = {}
    for part, (node, n_states, _) in enumerate(parts):
        for at in range(n_states):
            starts.setdefault(chosen[part][at], node.inputs[1 + at])
    return _States(
        starts,
        {nominal: x for (x, _), nominal in constants.items()},
        (chosen[0], chosen[1]),
        (outputs[0], outputs[1]),
    )


def _inputs(node: FrozenApply) -> tuple[FrozenApply, int, list[Variable]]:
    """A loop, the number of its states, and new variables for its inputs."""
    op = node.op.scalar_op
    return node, op.n_states, [x.type() for x in op.fgraph.inputs]


def _with_one(
    graph: FrozenFunctionGraph, a: FrozenApply, b: FrozenApply, common: _States
) -> FrozenFunctionGraph:
    """``graph`` with one loop in place of two."""
    op = a.op.scalar_op
    updates: dict[Variable, Variable] = {}
    for node, stands, outputs in zip((a, b), common.stands, common.outputs, strict=True):
        updates.update(zip(stands[: node.op.scalar_op.n_states], outputs, strict=False))
    loop: Any = ScalarLoop(
        list(common.states),
        [updates[state] for state in common.states],
        list(common.constants),
        common.outputs[0][-1] if op.is_while else None,
        op.name if op.name == b.op.scalar_op.name else None,
    )
    position = {state: at for at, state in enumerate(common.states)}

    def replace(node: FrozenApply, made: Callable[[Variable], Variable]) -> list[Variable]:
        operands = [a.inputs[0], *common.states.values(), *common.constants.values()]
        results = loop.make_node(*map(made, operands)).outputs
        at = (0, 1)[node is b]
        n_states = node.op.scalar_op.n_states
        own = [results[position[x]] for x in common.stands[at][:n_states]]
        return [*own, results[-1]] if op.is_while else own

    return _rebuilt(graph, {a, b}, replace)


def _without_unused(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with loops of the states that are needed for results that are used."""
    order = graph.toposort()
    used = {x for node in order for x in node.inputs}.union(graph.outputs)
    kept = {
        node: states
        for node in order
        if _is_loop(node) and len(states := _needed(node, used)) < node.op.scalar_op.n_states
    }

    def replace(node: FrozenApply, made: Callable[[Variable], Variable]) -> list[Variable]:
        op, states = node.op.scalar_op, kept[node]
        with Container.default():
            inputs = [x.type() for x in op.fgraph.inputs]
            outputs = op.fgraph.bind(inputs)
        n_states = op.n_states
        # What a state starts from may have the lengths that results have.
        dropped = [at for at in range(n_states) if at not in states]
        others = [at for at in dropped if node.inputs[1 + at].ndim]
        constants = [*range(n_states, len(inputs)), *others]
        loop: Any = ScalarLoop(
            [inputs[at] for at in states],
            [outputs[at] for at in states],
            [inputs[at] for at in constants],
            outputs[-1] if op.is_while else None,
            op.name,
        )
        operands = [node.inputs[0], *(node.inputs[1 + at] for at in (*states, *constants))]
        results = loop.make_node(*map(made, operands)).outputs
        place = dict(zip(states, results, strict=False))
        # Nobody uses the others.
        own = [place.get(at, results[0]) for at in range(n_states)]
        return [*own, results[-1]] if op.is_while else own

    return _rebuilt(graph, set(kept), replace) if kept else graph


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


def _rebuilt(
    graph: FrozenFunctionGraph,
    chosen: set[FrozenApply],
    replace: Callable[[FrozenApply, Callable[[Variable], Variable]], list[Variable]],
) -> FrozenFunctionGraph:
    """``graph`` with what ``replace`` gives for nodes, given what variables became."""
    made: dict[Variable, Variable] = {}
    order = graph.toposort()
    if len(chosen) > 1:
        # A loop in place of several needs the operands of all.
        first = _core.toposort([x for node in chosen for x in node.inputs])
        order = [*first, *(node for node in order if node not in set(first))]
    for node in order:
        if node in chosen:
            results = replace(node, lambda x: made.get(x, x))
            made.update(zip(node.outputs, results, strict=True))
        else:
            apply_graph([], [node], made)
    return FrozenFunctionGraph(list(graph.inputs), [made.get(y, y) for y in graph.outputs])
