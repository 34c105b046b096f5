"""Scans whose steps end earlier for one element of a batch than for another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.dataclass import dataclass
from frazil.inner.successors import Successors
from frazil.scan.body import ScanBody, dependents
from frazil.scan.last_rows import carry, tail_reads
from frazil.scan.op import Scan
from frazil.tensor.lengths import Lengths, lengths

Users: TypeAlias = Mapping[Variable, Sequence[FrozenApply | None]]
"""The nodes that read each variable, and None for an output."""


def ends_differ(node: FrozenApply, differing: Collection[Variable]) -> bool:
    """Return whether a scan may end at another step for each element of a batch.

    ``differing`` are the variables that differ between the elements.
    """
    op = node.op
    if not isinstance(op, Scan) or not op.until:
        return False
    inner = op.fgraph.inputs
    differ: set[Variable] = {
        x for x, outer in zip(inner, node.inputs[1:], strict=True) if outer in differing
    }
    while True:
        reached = dependents(op.fgraph.outputs, differ)
        if op.condition in reached:
            return True
        states = zip(op.states, op.next_states, strict=True)
        widened = {state for state, new in states if new in reached} - differ
        if not widened:
            return False
        differ |= widened


def with_last_rows_as_states(
    outputs: Sequence[Variable], leaves: Collection[Variable], batches: Collection[Variable]
) -> list[Variable]:
    """Return ``outputs``, where scans that end early keep last rows as states instead of stacks.

    They do so if nothing else of the stack is read. A last state has one shape in all elements of a
    batch.

    Parameters
    ----------
    outputs : sequence of Variable
        What is to be computed over a batch.
    leaves : collection of Variable
        The variables that get other values.
    batches : collection of Variable
        Those of them that differ between elements of the batch.
    """
    order = _core.toposort(list(outputs), list(leaves))
    if not any(isinstance(node.op, Scan) and node.op.until for node in order):
        return list(outputs)
    differing = set(batches)
    for node in order:
        if not differing.isdisjoint(node.inputs):
            differing.update(node.outputs)
    users: dict[Variable, list[FrozenApply | None]] = {x: [None] for x in outputs}
    for node in order:
        for x in node.inputs:
            users.setdefault(x, []).append(node)
    made = Successors()
    for node in order:
        if _has_stacks(node) and ends_differ(node, differing):
            _Ending.of(node, made.of(node.inputs), users).put(made)
        else:
            made.apply(node)
    return made.of(outputs)


def _has_stacks(node: FrozenApply) -> bool:
    """Whether it is a scan with stacks; one with truncated gradients runs for single elements."""
    op = node.op
    return isinstance(op, Scan) and bool(op.stacked) and op.truncate_gradient < 0


@dataclass(frozen=True)
class _Ending:
    """A scan that ends early, and its stacks whose last rows alone are read."""

    op: Scan
    """The former scan."""
    outputs: Sequence[Variable]
    """Its outputs."""
    body: ScanBody
    """Its step, with states for the last rows that were none before."""
    stacks: Sequence[int]
    """The stacks that stay."""
    lasts: Mapping[Variable, int]
    """The reads of last rows, and the states that end as those."""

    @staticmethod
    def of(node: FrozenApply, inputs: Sequence[Variable], users: Users) -> _Ending:
        op = node.op
        body = ScanBody.of(op, inputs)
        stacks: list[int] = []
        lasts: dict[Variable, int] = {}
        for at in range(len(op.stacked)):
            readers = users.get(node.outputs[op.n_states + at], ())
            reads = tail_reads(readers, backwards=False)
            if reads is None or any(read.several or read.back > 1 for read in reads):
                stacks.append(at)
            elif reads:
                states = carry(body, at, 1, partial(_row_lengths, op, inputs, at))
                if states is None:
                    stacks.append(at)
                else:
                    lasts.update((read.result, states[0]) for read in reads)
        if lasts:
            body.require_steps(1)
        return _Ending(op, node.outputs, body, stacks, lasts)

    def put(self, made: Successors) -> None:
        """Add the successors of the outputs that stay, and of the reads of last rows."""
        op, body, old = self.op, self.body, self.outputs
        graph = FrozenFunctionGraph(
            body.inputs,
            [*body.next_states, *(body.stacked[at] for at in self.stacks), *body.conditions],
        )
        again = replace(op, fgraph=graph, n_states=len(body.states), min_steps=body.min_steps)
        initial = [state.initial for state in body.states]
        operands = [*body.sequences.values(), *initial, *body.non_sequences.values()]
        new = again.make_node(body.n_steps, *operands).outputs
        kept = [*range(op.n_states), *(op.n_states + at for at in self.stacks), len(old) - 1]
        made.put([old[at] for at in kept], [*new[: op.n_states], *new[len(body.states) :]])
        made.put(list(self.lasts), [new[at] for at in self.lasts.values()])


def _row_lengths(op: Scan, inputs: Sequence[Variable], stack: int) -> Lengths | None:
    return op.row_lengths(inputs, [lengths(x) for x in inputs])[stack]
