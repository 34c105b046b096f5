"""The passes over the scans of a graph, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.inner.ops import ops_of
from frazil.inner.successors import Successors
from frazil.rewrite.scan.carrying import carry_results
from frazil.rewrite.scan.hoisting import (
    defer_stacked,
    defer_sums,
    hoist_invariants,
    hoist_sequence_work,
)
from frazil.rewrite.scan.joined_sums import join_sums
from frazil.rewrite.scan.products import split_products
from frazil.rewrite.scan.pruning import merge_equal, remove_dead_code
from frazil.scan.body import ScanBody
from frazil.scan.last_rows import TailRead, carry, tail_reads
from frazil.scan.op import Scan
from frazil.tensor.lengths import Lengths, lengths


def optimize_scans(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with scans that do less.

    Scans over the same steps become one; loop-invariant nodes, nodes that depend on sequences alone
    and nodes whose results are only stacked move out of a scan; dead code is removed; and where
    only the last rows of a stack are read, only those are kept. An impure scan stays as it is:
    whether a node runs once or in each step makes a difference there.
    """
    if not any(isinstance(op, Scan) for op in ops_of(graph)):
        return graph
    with in_container_of(graph.inputs):
        return _each_optimized(_merged(graph))


def _each_optimized(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    uses = _Uses.of(graph)
    made = Successors()
    for node in graph.toposort():
        if node.outputs[0] in made and all(y in made or y not in uses for y in node.outputs):
            continue  # a read of the last rows, which became a state of the scan
        if isinstance(node.op, Scan) and node.op.pure:
            _optimize(node, made, uses)
        else:
            made.apply(node)
    return made.graph(graph)


@dataclass(frozen=True)
class _Uses:
    """The users of each variable of a graph; None stands for the graph's outputs."""

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
        """The nodes that read ``x``, and None if it is an output."""
        return self.users.get(x, ())


def _optimize(node: FrozenApply, made: Successors, uses: _Uses) -> None:
    """Add to ``made`` the successors of the outputs of a scan."""
    op: Scan = node.op
    inputs = made.of(node.inputs)
    body = ScanBody.of(op, inputs)
    lasts = {at for at in range(op.n_states) if node.outputs[at] in uses}
    stacks = {at for at in range(len(op.stacked)) if node.outputs[op.n_states + at] in uses}
    carried = _carry_tails(node, inputs, body, stacks, uses)
    for at, (_, states) in carried.items():
        lasts |= set(states)
        stacks.discard(at)
    results = _rebuilt(body, lasts, stacks)
    for at, last in results.last_states.items():
        if at < op.n_states:
            made.put([node.outputs[at]], [last])
    made.put([node.outputs[op.n_states + at] for at in sorted(stacks)], results.stacks)
    for reads, states in carried.values():
        latest = [results.last_states[at] for at in states]
        for read in reads:
            row = read.of(latest, results.steps, backwards=op.backwards)
            made.put([read.result], [row])
    if op.until:
        made.put([node.outputs[-1]], [results.steps])


def _carry_tails(
    node: FrozenApply, inputs: Sequence[Variable], body: ScanBody, stacks: set[int], uses: _Uses
) -> dict[int, tuple[list[TailRead], list[int]]]:
    """Return the reads of stacks whose last rows alone are read, and the states that carry them.

    The states are added to ``body``.
    """
    op: Scan = node.op
    carried: dict[int, tuple[list[TailRead], list[int]]] = {}
    for at in sorted(stacks):
        reads = tail_reads(uses.users_of(node.outputs[op.n_states + at]), backwards=op.backwards)
        if reads is None:
            continue
        count = max(read.back for read in reads)
        states = carry(body, at, count, partial(_row_lengths, op, inputs, at))
        if states is not None:
            carried[at] = reads, states
            body.require_steps(max((read.back for read in reads if not read.several), default=0))
    return carried


@dataclass(frozen=True)
class _Optimized:
    """The wanted results of a scan: last states by their positions before, and stacks in order."""

    last_states: Mapping[int, Variable]
    stacks: Sequence[Variable]
    steps: Variable


def _rebuilt(body: ScanBody, lasts: set[int], stacks: set[int]) -> _Optimized:
    """The last states at ``lasts`` and the stacks at ``stacks`` of a scan that does less."""
    kept = remove_dead_code(body, lasts, stacks)
    merged = merge_equal(body)
    split_products(body)
    hoist_invariants(body)
    hoist_sequence_work(body)
    # Positions of states change whenever some are removed or merged.
    position = {at: merged[number] for number, at in enumerate(kept)}
    wanted = {position[at] for at in lasts}
    sums = {} if body.conditions else defer_sums(body, wanted)
    finish_stacks = defer_stacked(body)
    left = [at for at in range(len(merged) and max(merged) + 1) if at not in sums]
    after_sums = {old: new for new, old in enumerate(left)}
    # States that only deferred stacks needed are dead now.
    alive = remove_dead_code(
        body,
        {after_sums[at] for at in wanted if at in after_sums},
        set(range(len(body.stacked))),
    )
    final = {old: new for new, old in enumerate(alive)}
    carry_results(body)
    join_sums(body)
    results = body.build()
    results.stacks = finish_stacks(results)
    last_states = {
        at: sums[own](results) if own in sums else results.last_states[final[after_sums[own]]]
        for at in lasts
        for own in [position[at]]
    }
    steps = body.n_steps if results.steps is None else results.steps
    # Behind the stacks that were there are those that sums are made of.
    return _Optimized(last_states, results.stacks[: len(stacks)], steps)


def _row_lengths(op: Scan, inputs: Sequence[Variable], stack: int) -> Lengths | None:
    """The lengths of a row of a stack, if they are known before the scan runs."""
    return op.row_lengths(inputs, [lengths(x) for x in inputs])[stack]


def _merged(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with one scan for all scans over the same steps that do not need each other."""
    while True:
        pair = _mergeable(graph)
        if pair is None:
            return graph
        graph = _with_one_scan(graph, *pair)


def _mergeable(graph: FrozenFunctionGraph) -> tuple[FrozenApply, FrozenApply] | None:
    """The first two scans that can be one."""
    order = graph.toposort()
    scans: list[FrozenApply] = []
    before: dict[Variable, int] = {}  # a bit for each scan that a variable depends on
    for node in order:
        own = 0
        for x in node.inputs:
            own |= before.get(x, 0)
        if isinstance(node.op, Scan):
            for at, other in enumerate(scans):
                if not own >> at & 1 and _same_steps(node, other):
                    return other, node
            own |= 1 << len(scans)
            scans.append(node)
        if own:
            before.update(dict.fromkeys(node.outputs, own))
    return None


def _same_steps(a: FrozenApply, b: FrozenApply) -> bool:
    return (
        a.inputs[0] is b.inputs[0]
        and a.op.backwards == b.op.backwards
        and not a.op.until
        and not b.op.until
        and a.op.pure
        and b.op.pure
    )


def _with_one_scan(
    graph: FrozenFunctionGraph, first: FrozenApply, second: FrozenApply
) -> FrozenFunctionGraph:
    one, other = ScanBody.of(first.op, first.inputs), ScanBody.of(second.op, second.inputs)
    n_states, n_stacks = len(one.states), len(one.stacked)
    one.sequences |= other.sequences
    one.non_sequences |= other.non_sequences
    one.states += other.states
    one.stacked += other.stacked
    one.require_steps(other.min_steps)
    one.name = one.name or other.name
    merged = merge_equal(one)
    results = one.build()
    lasts = [results.last_states[at] for at in merged]
    made = Successors()
    made.put(first.outputs, [*lasts[:n_states], *results.stacks[:n_stacks]])
    made.put(second.outputs, [*lasts[n_states:], *results.stacks[n_stacks:]])
    for node in graph.toposort():
        if node not in (first, second):
            made.move(node)
    return made.graph(graph)
