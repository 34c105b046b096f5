"""Scans: as one kernel, or as a program that runs once for each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.operands import length_operands
from frazil.link.kernel.compiler import NativeKernel
from frazil.link.lowering.index import Index
from frazil.link.lowering.inner import Inner, inner_graphs
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.origin import Origin
from frazil.link.lowering.presumed_scans import PresumedScan
from frazil.link.lowering.scan_kernels import ScanCall
from frazil.link.lowering.state import Lowering
from frazil.scan.op import Scan
from frazil.tensor.lengths import static_length
from frazil.tensor.shapes import Shapes


@dataclass(frozen=True)
class _StepGraph:
    """The graph of a step without repeated outputs, and the use of each output."""

    graph: FrozenFunctionGraph
    nexts: Sequence[tuple[Literal["output", "input"], int]]
    """For each state, the output or input of the step that is its next value."""
    stacked: Sequence[int]
    """The outputs that are stacked."""
    until: int | None
    """The output that ends the scan."""

    @staticmethod
    def of(op: Scan) -> _StepGraph:
        inputs = {x: at for at, x in enumerate(op.fgraph.inputs)}
        ends = [op.condition] if op.until else []
        new = [y for y in op.next_states if y not in inputs]
        outputs: dict[Variable, int] = {}
        for y in (*new, *op.stacked, *ends):
            outputs.setdefault(y, len(outputs))
        return _StepGraph(
            FrozenFunctionGraph(op.fgraph.inputs, outputs),
            [
                ("input", inputs[y]) if y in inputs else ("output", outputs[y])
                for y in op.next_states
            ],
            [outputs[y] for y in op.stacked],
            outputs[op.condition] if op.until else None,
        )


@inner_graphs.register
def _(op: Scan) -> Sequence[Inner]:
    return [(_StepGraph.of(op).graph, overwritable_states(op))]


def overwritable_states(op: Scan) -> tuple[int, ...]:
    """The inner inputs that are states which nothing reads after their step."""
    handed_on = {*op.next_states, *op.stacked}
    return tuple(
        op.n_sequences + at
        for at, (state, new) in enumerate(zip(op.states, op.next_states, strict=True))
        if state not in handed_on
        and new not in op.stacked
        and new not in op.fgraph.inputs
        and op.next_states.count(new) == 1
    )


@lower_node.register
def _(op: Scan, node: FrozenApply, lowering: Lowering) -> None:
    step = _StepGraph.of(op)
    program = lowering.inner_program(step.graph, overwritable_states(op))
    builder = lowering.builder
    steps = _checked_steps(node, lowering)
    slots = [lowering.slot(x) for x in node.inputs[1:]]
    n_seq, n_rest = op.n_sequences, op.n_sequences + op.n_states
    sequences = [
        _reversed(slot, x.ndim, lowering) if op.backwards else slot
        for slot, x in zip(slots[:n_seq], node.inputs[1:], strict=False)
    ]
    states = [
        (slot, kind, at) for slot, (kind, at) in zip(slots[n_seq:n_rest], step.nexts, strict=True)
    ]
    # An output that is stacked twice is stored once.
    unique = list(dict.fromkeys(step.stacked))
    lasts, rows, done = builder.scan(
        program, steps, sequences, states, slots[n_rest:], unique, step.until
    )
    stacks = [rows[unique.index(at)] for at in step.stacked]
    if op.backwards:
        stacks = [
            _reversed(slot, y.ndim + 1, lowering)
            for slot, y in zip(stacks, op.stacked, strict=True)
        ]
    # Behind a call of Python nothing has lengths before a step runs.
    if stacks and (program.functions or _reads_lengths(op)):
        count = builder.size_value(done) if op.until else steps
        stacks = _with_lengths(stacks, count, node, lowering)
    if op.until and op.min_steps > 1:
        _require_steps(op, builder.size_value(done), lowering)
    made = [*lasts, *stacks, *([done] if op.until else [])]
    for output, slot in zip(node.outputs, made, strict=True):
        lowering.set_slot(output, slot)


def _reads_lengths(op: Scan) -> bool:
    """Whether a step learns lengths from the values of its inputs, or of its results."""
    handed = set(op.fgraph.inputs)
    nodes = op.fgraph.toposort()
    if any(x in handed for node in nodes for x in length_operands(node) if not x.ndim):
        return True
    shapes = Shapes(nodes)
    return any(y in shapes.leaves(y) for node in nodes for y in node.outputs)


def _with_lengths(
    stacks: Sequence[int], count: int, node: FrozenApply, lowering: Lowering
) -> list[int]:
    """Stacks with the lengths that rows would have, where there are no rows that tell them."""
    shapes, builder = lowering.shapes, lowering.builder
    given = [shapes.lengths(x) for x in node.inputs]
    told = node.op.row_lengths(node.inputs, given)
    presumed = node.op.presumed_row_lengths(node.inputs, given)
    formed = []
    for slot, row, without_steps in zip(stacks, told, presumed, strict=True):
        sizes = lowering.sizes([shapes.canonical(length) for length in without_steps])
        if row is None:
            sizes = [
                builder.size_where(count, builder.size_of(slot, axis), size)
                for axis, size in enumerate(sizes, start=1)
            ]
        formed.append(builder.reshape(slot, [count, *sizes]))
    return formed


def _reversed(slot: int, ndim: int, lowering: Lowering) -> int:
    """A view of the rows in reverse order."""
    builder = lowering.builder
    whole = (None, None, builder.size_literal(1))
    index: Index = [(None, None, builder.size_literal(-1)), *[whole] * (ndim - 1)]
    return builder.slice(slot, index)


def _checked_steps(node: FrozenApply, lowering: Lowering) -> int:
    """The number of steps, checked: not negative, and the number of elements of each sequence."""
    builder, op = lowering.builder, node.op
    steps = lowering.size(node.inputs[0])
    if static_length(node.inputs[0]) is None:
        message = f"{op} is to run {{a}} steps; their number cannot be negative"
        builder.require_equal(
            steps, builder.size_binary("maximum", steps, builder.size_literal(0)), message
        )
    _require_steps(op, steps, lowering)
    for position, x in enumerate(node.inputs[1 : 1 + op.n_sequences]):
        rows = lowering.size(lowering.shapes.lengths(x)[0])
        if rows != steps:
            message = f"sequence {position} of {op} has {{a}} elements, for {{b}} steps"
            builder.require_equal(rows, steps, message)
    return steps


def _require_steps(op: Scan, steps: int, lowering: Lowering) -> None:
    """Lets the program fail where there are fewer steps than the op says."""
    if op.min_steps:
        builder = lowering.builder
        # A row of nothing that is not there: the error of an index, decided with the sizes.
        zero, one = builder.size_literal(0), builder.size_literal(1)
        rows_of_none = builder.broadcast_to(builder.constant(np.zeros((1, 0))), [steps, zero])
        builder.slice(rows_of_none, [builder.size_literal(-op.min_steps), (None, None, one)])


def run_presumed(lowering: Lowering, node: FrozenApply, presumed: PresumedScan) -> None:
    """Add the call of a scan whose lengths are presumed, or of the scan as it is."""
    lowering.builder.origin(Origin((node,)))
    known, anyhow = (lowering.inner_program(*inner) for inner in presumed.inner)
    slots = [lowering.slot(x) for x in presumed.operands]
    made = lowering.builder.call_program(known, slots, anyhow)
    for output, slot in zip(node.outputs, made, strict=True):
        lowering.set_slot(output, slot)


def run_scan(lowering: Lowering, node: FrozenApply, call: ScanCall, native: NativeKernel) -> None:
    """Add the call of a scan kernel."""
    builder, op, kernel = lowering.builder, node.op, call.kernel
    builder.origin(Origin((node,)))
    steps = _checked_steps(node, lowering)
    reads = [
        (lowering.slot(x), row.walks, shape)
        for x, row, shape in zip(node.inputs[1:], kernel.reads, call.reads, strict=True)
    ]
    writes: list[tuple[str, bool, tuple[int, ...]]] = [
        (write.dtype, write.walks, shape)
        for write, shape in zip(kernel.writes, call.writes, strict=False)
    ]
    if op.until:
        writes.append(("int64", False, ()))
    carries = [(op.n_sequences + at, at) for at in range(op.n_states)]
    slots = builder.scan_kernel(
        native.address,
        native.keepalive,
        steps,
        reads,
        writes,
        carries,
        op.backwards,
        kernel.counts_steps(),
    )
    if op.until:
        done = builder.size_value(slots[-1])
        if op.min_steps > 1:
            _require_steps(op, done, lowering)
        for at, write in enumerate(kernel.writes):
            if write.walks:
                one = builder.size_literal(1)
                index: Index = [(None, done, one), *[(None, None, one)] * len(call.writes[at])]
                slots[at] = builder.slice(slots[at], index)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)
