"""Scan kernels: which scans become one, and the operands and outputs of the call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from frazil._core import Constant, Variable
from frazil.graph.dataclass import dataclass
from frazil.inner.inner_graph import KnownOfOps
from frazil.link.kernel.compiler import KernelCompiler
from frazil.link.kernel.loop_kernel import Statement
from frazil.link.kernel.scan_kernel import ScanKernel, ScanRead, ScanWrite, StateElement
from frazil.link.lowering.inlining import inline_composites
from frazil.link.lowering.scalarize import Elements, Emitter, NotScalarizable, scalarize
from frazil.scalar.float16 import STORED
from frazil.scan.op import Scan

MAX_ELEMENTS = 256
"""The highest number of elements of an array that is scalarized."""


@dataclass(frozen=True)
class ScanCall:
    """A scan as one kernel, with the shape of a row of each operand and of each output."""

    kernel: ScanKernel
    reads: Sequence[tuple[int, ...]]
    writes: Sequence[tuple[int, ...]]


def scan_call(op: Scan, compiler: KernelCompiler, limit: int | None = None) -> ScanCall | None:
    """The kernel of a scan; None if its steps work on more than a few numbers.

    ``limit`` is the highest number of statements, dead code included; default: the compiler's.
    """
    known, limit = _known.of(op), limit or compiler.step_limit
    key = compiler.name, limit
    if key not in known:
        try:
            known[key] = _ScalarizedStep(op, compiler, limit).call()
        except NotScalarizable:
            known[key] = None
    return known[key]


_known: KnownOfOps[ScanCall | None] = KnownOfOps()


class _ScalarizedStep:
    """The step of a scan as scalar ops on single elements.

    Attributes
    ----------
    loads : list of (int, int)
        For each element of each operand: the position of the operand, and that of the element.
    initial, current, next : list of int
        The values of the states' elements: before the first step, in a step, and after it.
    stacked : list of Elements
        The values that a step adds to each stacked output.
    condition : int or None
        The value that ends the scan.
    """

    def __init__(self, op: Scan, compiler: KernelCompiler, limit: int) -> None:
        self.op = op
        self.graph = graph = inline_composites(op.fgraph)
        self.emit = Emitter(compiler.lowers, limit)
        self.values: dict[Variable, Elements] = {}
        self.states = graph.inputs[op.n_sequences : op.n_sequences + op.n_states]
        self.loads: list[tuple[int, int]] = []
        self.initial: list[int] = []
        self.current: list[int] = []
        for at, x in enumerate(graph.inputs):
            loaded = self._new_values(x)
            self.loads += [(at, k) for k in range(loaded.size)]
            if x in self.states:
                self.initial += loaded.flat
            else:
                self.values[x] = loaded
        for x in self.states:
            self.values[x] = own = self._new_values(x)
            self.current += own.flat
        for node in graph.toposort():
            for output in node.outputs:
                _small_shape(output)
            operands = [self._elements(x) for x in node.inputs]
            self.values[node.outputs[0]] = scalarize(node.op, node, operands, self.emit)
        outputs = [self._elements(y) for y in graph.outputs]
        self.next: list[int] = [value for y in outputs[: op.n_states] for value in y.flat]
        if len(self.next) != len(self.current):
            raise NotScalarizable("a state changes its shape")
        self.stacked = outputs[op.n_states : len(outputs) - op.until]
        self.condition = int(outputs[-1][()]) if op.until else None

    def _new_values(self, x: Variable) -> Elements:
        """A value for each element of an input of the step."""
        shape = _small_shape(x)
        made = np.empty(math.prod(shape), object)
        made[:] = [self.emit.new_value(x.dtype) for _ in range(made.size)]
        return made.reshape(shape)

    def _elements(self, x: Variable) -> Elements:
        if x not in self.values and isinstance(x, Constant):
            _small_shape(x)
            self.values[x] = self.emit.constant(x.data)
        return self.values[x]

    def _needed(self) -> set[int]:
        """The values without dead code."""
        needed = {*self.next, *(k for y in self.stacked for k in y.flat), *self.initial}
        if self.condition is not None:
            needed.add(self.condition)
        for (_, args, _), value in reversed(self.emit.statements.items()):
            if value in needed:
                needed.update(args)
        return needed

    def call(self) -> ScanCall:
        """The kernel, whose values are numbered without gaps, and its operands and outputs."""
        op, emit, inputs = self.op, self.emit, self.graph.inputs
        needed = self._needed()
        loads = [k for k in range(len(self.loads)) if k in needed]
        literals = [one for one, value in emit.literals.items() if value in needed]
        statements = [one for one, value in emit.statements.items() if value in needed]
        kept = [
            *loads,
            *(emit.literals[one] for one in literals),
            *self.current,
            *(emit.statements[one] for one in statements),
        ]
        number = {value: new for new, value in enumerate(kept)}

        def numbers(values: Iterable[int]) -> tuple[int, ...]:
            return tuple([number[value] for value in values])

        lasts = [(x, self.values[x], False) for x in self.states]
        rows = zip(self.graph.outputs[op.n_states :], self.stacked, strict=False)
        written = [*lasts, *((y, elements, True) for y, elements in rows)]
        kernel = ScanKernel(
            reads=tuple(
                ScanRead(x.dtype, math.prod(_small_shape(x)), walks=at < op.n_sequences)
                for at, x in enumerate(inputs)
            ),
            loads=tuple(self.loads[k] for k in loads),
            literals=tuple(literals),
            states=tuple(
                StateElement(emit.dtypes[current], number[initial], number[new])
                for current, initial, new in zip(self.current, self.initial, self.next, strict=True)
            ),
            statements=tuple(
                Statement(step_op, numbers(args), dtype) for step_op, args, dtype in statements
            ),
            writes=tuple(
                ScanWrite(y.dtype, numbers(elements.flat), walks) for y, elements, walks in written
            ),
            condition=None if self.condition is None else number[self.condition],
        )
        shapes = [elements.shape for _, elements, _ in written]
        steps_done = [()] if op.until else []
        return ScanCall(kernel, [_small_shape(x) for x in inputs], [*shapes, *steps_done])


def _small_shape(x: Variable) -> tuple[int, ...]:
    """The shape of operands that single elements can stand for, even if no step reads them."""
    if x.dtype == STORED or x.type.numpy_dtype.kind == "c":
        raise NotScalarizable(f"the steps of a kernel have no {x.dtype}")
    known = tuple(length for length in x.type.shape if length is not None)
    if len(known) != x.ndim or math.prod(known) > MAX_ELEMENTS:
        raise NotScalarizable(f"{x.type} is not small")
    return known
