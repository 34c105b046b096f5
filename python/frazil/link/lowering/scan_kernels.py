"""Loops of few numbers: which can be one kernel, and which operands it then has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from frazil._core import Constant, Variable
from frazil.inner.inner_graph import KnownOfOps
from frazil.link.kernel.compiler import KernelCompiler
from frazil.link.kernel.scan_kernel import ScanKernel, ScanRead, ScanWrite, StateElement
from frazil.link.lowering.inlining import inline_composites
from frazil.link.lowering.scalarized import Elements, NotScalarizable, Step, components
from frazil.scan.op import Scan

ROW = 256
"""The number of elements up to which an array is small."""


@dataclass(frozen=True)
class ScanCall:
    """A loop as one kernel: the shape of a row of each operand and of each result."""

    kernel: ScanKernel
    reads: Sequence[tuple[int, ...]]
    writes: Sequence[tuple[int, ...]]


def scan_call(op: Scan, compiler: KernelCompiler) -> ScanCall | None:
    """Return the kernel of a loop; None if its steps work on more than a few numbers."""
    known = _known.of(op)
    if compiler.name not in known:
        try:
            known[compiler.name] = _planned(op, compiler)
        except NotScalarizable:
            known[compiler.name] = None
    return known[compiler.name]


_known: KnownOfOps[ScanCall | None] = KnownOfOps()


def _planned(op: Scan, compiler: KernelCompiler) -> ScanCall:
    graph = inline_composites(op.fgraph)
    n_seq, n_states = op.n_sequences, op.n_states
    step = Step(compiler.lowers, compiler.step_limit)
    values: dict[Variable, Elements] = {}
    loads: list[tuple[int, int]] = []
    rows: list[ScanRead] = []
    starts: list[int] = []
    for at, x in enumerate(graph.inputs):
        shape = _small(x)
        size = int(np.prod(shape))
        is_state = n_seq <= at < n_seq + n_states
        loaded = [step.given(x.dtype) for _ in range(size)]
        loads += [(at, k) for k in range(size)]
        rows.append(ScanRead(x.dtype, size, walks=at < n_seq))
        if is_state:
            starts += loaded
        else:
            values[x] = _array(loaded, shape)
    currents: list[int] = []
    for x in graph.inputs[n_seq : n_seq + n_states]:
        shape = _small(x)
        own = [step.given(x.dtype) for _ in range(int(np.prod(shape)))]
        currents += own
        values[x] = _array(own, shape)
    n_given = len(loads) + len(currents)

    def elements(x: Variable) -> Elements:
        if x not in values and isinstance(x, Constant):
            _small(x)
            values[x] = step.constant(x.data)
        return values[x]

    for node in graph.toposort():
        for output in node.outputs:
            _small(output)
        values[node.outputs[0]] = components(
            node.op, node, [elements(x) for x in node.inputs], step
        )
    outputs = [elements(y) for y in graph.outputs]
    nexts = [value for y in outputs[:n_states] for value in y.flat]
    if len(nexts) != len(currents):
        raise NotScalarizable("a state changes its shape")
    stacked = outputs[n_states : len(outputs) - op.until]
    condition = int(outputs[-1][()]) if op.until else None

    # What nothing needs goes; the others get the numbers that the kernel counts by.
    order = list(step.statements)
    needed = {*nexts, *(v for y in stacked for v in y.flat), *starts}
    if condition is not None:
        needed.add(condition)
    for statement in reversed(order):
        if step.statements[statement] in needed:
            needed.update(statement.args)
    kept_loads = [k for k in range(len(loads)) if k in needed]
    literals = [one for one, number in step.literals.items() if number in needed]
    kept = [statement for statement in order if step.statements[statement] in needed]
    numbered = [
        *kept_loads,
        *(step.literals[one] for one in literals),
        *range(len(loads), n_given),
        *(step.statements[statement] for statement in kept),
    ]
    number = {old: new for new, old in enumerate(numbered)}
    first_state = len(kept_loads) + len(literals)
    shapes = [_small(x) for x in graph.inputs]
    writes: list[ScanWrite] = []
    written: list[tuple[int, ...]] = []
    at = first_state
    for x in graph.inputs[n_seq : n_seq + n_states]:
        size = int(np.prod(_small(x)))
        writes.append(ScanWrite(x.dtype, tuple(range(at, at + size)), walks=False))
        written.append(_small(x))
        at += size
    for y, elements_of in zip(graph.outputs[n_states:], stacked, strict=False):
        told = tuple(number[v] for v in elements_of.flat)
        writes.append(ScanWrite(y.dtype, told, walks=True))
        written.append(elements_of.shape)
    if op.until:
        written.append(())
    kernel = ScanKernel(
        reads=tuple(rows),
        loads=tuple(loads[k] for k in kept_loads),
        literals=tuple(literals),
        states=tuple(
            StateElement(step.dtypes[own], number[start], number[new])
            for own, start, new in zip(currents, starts, nexts, strict=True)
        ),
        statements=tuple(
            replace(one, args=tuple(number[argument] for argument in one.args)) for one in kept
        ),
        writes=tuple(writes),
        condition=None if condition is None else number[condition],
    )
    return ScanCall(kernel, shapes, written)


def _small(x: Variable) -> tuple[int, ...]:
    known = tuple(length for length in x.type.shape if length is not None)
    if len(known) != x.ndim or int(np.prod(known)) > ROW:
        raise NotScalarizable(f"{x.type} is not small")
    return known


def _array(numbers: Sequence[int], shape: tuple[int, ...]) -> Elements:
    made = np.empty(len(numbers), object)
    made[:] = numbers
    return made.reshape(shape)
