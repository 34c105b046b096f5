"""Loops made better in the graphs that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.containers import in_container_of
from frazil.inner.successors import Successors
from frazil.rewrite.scan.hoisting import hoist_elements, hoist_invariants, hoist_stacked, hoist_sums
from frazil.rewrite.scan.last_rows import Part, carry, last_parts
from frazil.rewrite.scan.pruning import drop_unused, unify
from frazil.scan.body import Body
from frazil.scan.op import Scan
from frazil.tensor.lengths import Lengths, lengths


def optimize_scans(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with loops that do less.

    Loops over the same steps become one; what is the same in each step, what follows from
    sequences alone and what is only stacked is computed outside; what nobody uses is dropped; and
    of a stack of which only the last rows are used, only those are kept. A loop that is not pure
    stays: what it does in each step may tell these ways apart.
    """
    if not any(isinstance(node.op, Scan) for node in graph.toposort()):
        return graph
    with in_container_of(graph.inputs):
        graph = _merged(graph)
        return _each_improved(graph)


def _each_improved(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    uses = _Uses.of(graph)
    made = Successors()
    for node in graph.toposort():
        if node.outputs[0] in made and all(y in made or y not in uses for y in node.outputs):
            continue  # a row of a stack, which the loop has given
        if isinstance(node.op, Scan) and node.op.pure:
            _improve(node, made, uses)
        else:
            made.apply(node)
    return made.graph(graph)


@dataclass(frozen=True)
class _Uses:
    """By whom the variables of a graph are used; by None if they are outputs of it."""

    users: Mapping[Variable, list[FrozenApply | None]]

    @staticmethod
    def of(graph: FrozenFunctionGraph) -> _Uses:
        users: dict[Variable, list[FrozenApply | None]] = {}
        for node in graph.toposort():
            for x in node.inputs:
                users.setdefault(x, []).append(node)
        for x in graph.outputs:
            users.setdefault(x, []).append(None)
        return _Uses(users)

    def __contains__(self, x: Variable) -> bool:
        return x in self.users

    def users_of(self, x: Variable) -> Sequence[FrozenApply | None]:
        """By whom ``x`` is used."""
        return self.users.get(x, ())


def _improve(node: FrozenApply, made: Successors, uses: _Uses) -> None:
    """Add to ``made`` what the results of a loop become."""
    op: Scan = node.op
    inputs = made.of(node.inputs)
    body = Body.of(op, inputs)
    lasts = {at for at in range(op.n_states) if node.outputs[at] in uses}
    stacks = {at for at in range(len(op.stacked)) if node.outputs[op.n_states + at] in uses}
    parts: list[tuple[Part, Sequence[int]]] = []
    for at in sorted(stacks):
        taken = last_parts(uses.users_of(node.outputs[op.n_states + at]), backwards=op.backwards)
        if taken is None:
            continue
        count = max(part.back for part in taken)
        ends = carry(body, at, count, partial(_row_lengths, op, inputs, at))
        if ends is not None:
            parts += [(part, ends) for part in taken]
            rows = (part.back for part in taken if not part.several)
            body.require_steps(max(rows, default=0))
            lasts |= set(ends)
            stacks.discard(at)
    kept = drop_unused(body, lasts, stacks)
    unified = unify(body)
    hoist_invariants(body)
    hoist_elements(body)
    place = {at: unified[position] for position, at in enumerate(kept)}
    wanted = {place[at] for at in lasts}
    sums = {} if body.conditions or body.least else hoist_sums(body, wanted)
    gives_stacks = hoist_stacked(body)
    # Later is what a stack was made of; states that it alone needed go.
    left = [at for at in range(len(unified) and max(unified) + 1) if at not in sums]
    states = {old: new for new, old in enumerate(left)}
    still = drop_unused(
        body,
        {states[at] for at in wanted if at in states},
        set(range(len(body.stacked))),
    )
    again = {old: new for new, old in enumerate(still)}
    results = body.build()
    given = gives_stacks(results)
    results.stacks = given
    final: dict[int, Variable] = {}
    for at in lasts:
        own = place[at]
        final[at] = sums[own](results) if own in sums else results.lasts[again[states[own]]]
        if at < op.n_states:
            made.put([node.outputs[at]], [final[at]])
    for stack, at in zip(given, sorted(stacks), strict=False):
        made.put([node.outputs[op.n_states + at]], [stack])
    done = body.n_steps if results.steps is None else results.steps
    for part, states_of in parts:
        latest = [final[at] for at in states_of]
        made.put([part.result], [part.of(latest, done, backwards=op.backwards)])
    if results.steps is not None:
        made.put([node.outputs[-1]], [results.steps])


def _row_lengths(op: Scan, inputs: Sequence[Variable], stack: int) -> Lengths | None:
    """The lengths of a row of a stack, if they are known before the loop runs."""
    return op.row_lengths(inputs, [lengths(x) for x in inputs])[stack]


def _merged(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with one loop in place of those over the same steps that do not need each other."""
    while True:
        pair = _mergeable(graph)
        if pair is None:
            return graph
        graph = _with_one_loop(graph, *pair)


def _mergeable(graph: FrozenFunctionGraph) -> tuple[FrozenApply, FrozenApply] | None:
    """The first two loops that can be one."""
    order = graph.toposort()
    loops: list[FrozenApply] = []
    before: dict[Variable, int] = {}  # a bit for each loop that a variable follows from
    for node in order:
        own = 0
        for x in node.inputs:
            own |= before.get(x, 0)
        if isinstance(node.op, Scan):
            for at, other in enumerate(loops):
                if not own >> at & 1 and _alike(node, other):
                    return other, node
            own |= 1 << len(loops)
            loops.append(node)
        if own:
            before.update(dict.fromkeys(node.outputs, own))
    return None


def _alike(a: FrozenApply, b: FrozenApply) -> bool:
    return (
        a.inputs[0] is b.inputs[0]
        and a.op.backwards == b.op.backwards
        and not a.op.until
        and not b.op.until
        and a.op.pure
        and b.op.pure
    )


def _with_one_loop(
    graph: FrozenFunctionGraph, first: FrozenApply, second: FrozenApply
) -> FrozenFunctionGraph:
    one, other = Body.of(first.op, first.inputs), Body.of(second.op, second.inputs)
    n_states, n_stacks = len(one.states), len(one.stacked)
    one.sequences |= other.sequences
    one.others |= other.others
    one.states += other.states
    one.stacked += other.stacked
    one.require_steps(other.least)
    one.name = one.name or other.name
    unified = unify(one)
    results = one.build()
    lasts = [results.lasts[at] for at in unified]
    made = Successors()
    made.put(first.outputs, [*lasts[:n_states], *results.stacks[:n_stacks]])
    made.put(second.outputs, [*lasts[n_states:], *results.stacks[n_stacks:]])
    for node in graph.toposort():
        if node not in (first, second):
            made.move(node)
    return made.graph(graph)
