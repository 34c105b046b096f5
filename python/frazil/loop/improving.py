"""Loops made better in the graphs that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from frazil import _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.company import in_company_of
from frazil.inner_graph import apply_graph
from frazil.loop.body import Body, State
from frazil.loop.hoisting import hoist_elements, hoist_invariants, hoist_stacked, hoist_sums
from frazil.loop.op import Scan
from frazil.loop.pruning import drop_unused, unify
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.constants import constant
from frazil.tensor.indexing import DYNAMIC, Subtensor


def improve_loops(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with loops that do less.

    Loops over the same steps become one; what is the same in each step, what follows from
    sequences alone and what is only stacked is computed outside; what nobody uses is dropped; and
    of a stack of which only the last row is used, only that is kept.
    """
    if not any(isinstance(node.op, Scan) for node in graph.toposort()):
        return graph
    with in_company_of(graph.inputs):
        graph = _merged(graph)
        return _each_improved(graph)


def _each_improved(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    uses = _Uses.of(graph)
    made: dict[Variable, Variable] = {}
    for node in graph.toposort():
        if node.outputs[0] in made and all(y in made or y not in uses for y in node.outputs):
            continue  # a row of a stack, which the loop has given
        if isinstance(node.op, Scan):
            _improve(node, made, uses)
        else:
            apply_graph([], [node], made)
    outputs = [made.get(output, output) for output in graph.outputs]
    return FrozenFunctionGraph(list(graph.inputs), outputs)


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

    def last_rows(self, stack: Variable) -> list[tuple[Variable, int]] | None:
        """The rows that are all that is used of a stack: each with its position from the end.

        None if more is used.
        """
        found: list[tuple[Variable, int]] = []
        for user in self.users.get(stack, ()):
            if user is None or not isinstance(user.op, Subtensor) or len(user.op.template) != 1:
                return None
            (entry,) = user.op.template
            if entry == DYNAMIC:
                index = user.inputs[1]
                entry = int(index.data) if isinstance(index, Constant) else 0
            if not isinstance(entry, int) or entry >= 0:
                return None
            found.append((user.outputs[0], -entry))
        return found


def _improve(node: FrozenApply, made: dict[Variable, Variable], uses: _Uses) -> None:
    """Add to ``made`` what the results of a loop become."""
    op: Scan = node.op
    body = Body.of(op, [made.get(x, x) for x in node.inputs])
    lasts = {at for at in range(op.n_states) if node.outputs[at] in uses}
    stacks = {at for at in range(len(op.stacked)) if node.outputs[op.n_states + at] in uses}
    rows: dict[Variable, int] = {}
    for at in sorted(stacks):
        read = uses.last_rows(node.outputs[op.n_states + at])
        found = _last_states(body, at, read)
        if found is not None:
            rows |= found
            body.require_steps(max(back for _, back in read or ()))
            lasts |= set(found.values())
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
            made[node.outputs[at]] = final[at]
    for stack, at in zip(given, sorted(stacks), strict=False):
        made[node.outputs[op.n_states + at]] = stack
    for row, at in rows.items():
        made[row] = final[at]
    if results.steps is not None:
        made[node.outputs[-1]] = results.steps


def _last_states(
    body: Body, stack: int, rows: list[tuple[Variable, int]] | None
) -> dict[Variable, int] | None:
    """For the last rows of a stack the positions of states that end as they are; None if there are
    no such states, or if there may not be so many rows although there are steps.
    """
    if not rows or (body.conditions and any(back > 1 for _, back in rows)):
        return None
    found: dict[Variable, int] = {}
    for row, back in rows:
        y = body.stacked[stack]
        if back == 1:
            _carry(body, y)
        at: int | None = None
        for _ in range(back):
            at = next((k for k, state in enumerate(body.states) if state.next is y), None)
            if at is None:
                return None
            y = body.states[at].inner
        if at is None:
            return None
        found[row] = at
    return found


def _carry(body: Body, y: Variable) -> None:
    """Let a loop carry what it only stacks, of which only the last row is wanted."""
    shape = [length for length in y.type.shape if length is not None]
    if len(shape) == y.ndim and not any(state.next is y for state in body.states):
        start = broadcast_to(constant(0, y.dtype), shape)
        body.states.append(State(y.type(None), start, y))


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
    replaced = [
        *zip(first.outputs, [*lasts[:n_states], *results.stacks[:n_stacks]], strict=True),
        *zip(second.outputs, [*lasts[n_states:], *results.stacks[n_stacks:]], strict=True),
    ]
    return FrozenFunctionGraph(
        list(graph.inputs), _core.graph_replace(list(graph.outputs), replaced)
    )
