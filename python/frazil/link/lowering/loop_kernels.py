"""From a fused loop to a kernel, and the variables that the kernel reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from frazil._core import FrozenApply, Variable
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.alignment import indexed_axes, whole_axes, whole_operands
from frazil.link.fusion.fused_loop import FusedLoop
from frazil.link.fusion.kinds import Kind
from frazil.link.fusion.segments import Segment, Segmentation
from frazil.link.fusion.short import is_short
from frazil.link.fusion.views import REPEATED, Axes
from frazil.link.kernel.formulas import formula
from frazil.link.kernel.loop_kernel import (
    Cumulate,
    Literal,
    LoopKernel,
    Put,
    Read,
    RowFold,
    Source,
    Statement,
    Take,
    Write,
)
from frazil.scalar import ScalarOp, cast
from frazil.scalar.float16 import STORED, computed_in
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from frazil.tensor.cumulation import CumOp
from frazil.tensor.reductions import Reduce

AnyStatement: TypeAlias = Statement | Take | Cumulate | RowFold
Maker: TypeAlias = Callable[[tuple[int, ...]], AnyStatement]
Plain: TypeAlias = tuple[ScalarOp, str]
"""The op and the dtype of a statement, whose operands follow."""

Value: TypeAlias = int
"""A statement, by its number; or -1, -3, ..., a read, or -2, -4, ..., a literal, in their order.

Values of a kernel are numbered in the order of reads, literals and statements, and how many there
are of each is known at the end. So are the operands of a loop's steps, whose numbers are those of
its statements if each step is one.
"""


@dataclass(frozen=True)
class Output:
    """A variable that a loop writes, and for each dimension of the loop its axis, or REPEATED.

    ``reduction``: the initial value and the name of the scalar op, for a reduction.
    """

    variable: Variable
    axes: Axes
    reduction: tuple[bool | int | float, str] | None


@dataclass(frozen=True)
class IndexedOperand:
    """A variable that is read, or copied and written, at indices; ``indexed`` are their axes."""

    variable: Variable
    axes: Axes
    indexed: tuple[int, ...]


@dataclass(frozen=True)
class KernelCall:
    """A kernel, its operands and its outputs. Dimensions of static length 1 are left out.

    ``row`` is the innermost dimension of the loop; None if it is the last one. ``short`` is the
    kernel of the loop with its last two dimensions swapped, for calls in which the last is short.
    ``again`` are nodes of no loop, which this one computes for itself.
    """

    loop: FusedLoop
    again: tuple[FrozenApply, ...]
    kernel: LoopKernel
    reads: tuple[tuple[Variable, Axes], ...]
    sources: tuple[IndexedOperand, ...]
    outputs: tuple[Output, ...]
    targets: tuple[tuple[Variable, IndexedOperand], ...]
    row: int | None
    short: LoopKernel | None


def kernel_calls(cut: Segmentation) -> dict[Segment, KernelCall]:
    """The calls of the kernels of a graph's loops.

    Each writes the results of its loop that are in memory, and the reductions that the loop itself
    does not read.
    """
    plain = [_plain(kind) for kind in cut.kinds]
    return {
        part: _Assembly(part.task, cut, plain).call()
        for part in cut.segments
        if isinstance(part.task, FusedLoop)
    }


def _plain(kind: Kind) -> Plain | None:
    """The one statement that computes elementwise nodes of a kind; None if there are several.

    Those convert operands, or are the steps of a formula.
    """
    op = kind.op
    if op is None:
        return None
    *dtypes, dtype = kind.dtypes
    if op.converts_to is None and STORED in kind.dtypes:
        return None
    is_formula = formula(op, dtype) is not None
    return None if is_formula or [*_wanted(op, dtypes, dtype)] != dtypes else (op, dtype)


def _wanted(op: ScalarOp, dtypes: Sequence[str], dtype: str) -> Sequence[str]:
    """The dtypes that a statement takes its operands in.

    Functions of floats take the type that they compute in, so all linkers convert alike.
    """
    if op.rule in ("float", "floor") and dtype.startswith("float"):
        return op.operand_dtypes(dtypes, dtype)
    return dtypes


class _Assembly:
    """Builds a kernel step by step."""

    def __init__(self, loop: FusedLoop, cut: Segmentation, plain: Sequence[Plain | None]) -> None:
        self.loop = loop
        self.body = body = loop.body
        self.cut = cut
        self.row = cut.kinds[body.kinds[body.own[0]]].row
        self.numbers = [Literal(dtype, value) for dtype, value in body.literals]
        self.literals: dict[Literal, int] = {}
        self.sources: dict[IndexedOperand, int] = {}
        self.targets: list[tuple[Variable, IndexedOperand]] = []
        self.puts: list[tuple[list[Value], str, bool, str | None]] = []
        self.made: list[tuple[Plain | Maker, Sequence[Value]]] = []
        self.results: dict[int, Value] = {}
        self.steps: dict[tuple[ScalarOp, str, tuple[Value, ...]], Value] = {}
        self.outputs: list[Output] = []
        self.values: list[tuple[Value, str | None]] = []
        statements = [plain[kind] for kind in body.kinds]
        single = [own for own in statements if own is not None]
        if len(single) == len(statements):  # most loops
            self._add_statements(single)
        else:
            self._add_steps(statements)

    def call(self) -> KernelCall:
        """The kernel, with its operands and outputs."""
        row, reads, outputs, short = self.row, self.body.reads, tuple(self.outputs), None
        if self._has_short_form():
            swapped_reads = tuple((base, _swapped(axes)) for base, axes in reads)
            swapped = tuple(replace(output, axes=_swapped(output.axes)) for output in outputs)
            *_, before, last = self._lengths()
            if last is None:
                short = self._kernel(swapped_reads, swapped)
            elif before is None or last < before:
                row, reads, outputs = len(outputs[0].axes) - 2, swapped_reads, swapped
        return KernelCall(
            self.loop,
            self.body.again,
            self._kernel(reads, outputs),
            reads,
            tuple(self.sources),
            outputs,
            tuple(self.targets),
            row,
            short,
        )

    @cached_property
    def read(self) -> Collection[int]:
        """The steps whose results the loop reads."""
        return {k for operands in self.body.operands for k in operands if k >= 0}

    @cached_property
    def stored(self) -> Mapping[int, tuple[Variable, Axes]]:
        """The results that steps leave in memory, and their axes."""
        return {step: (output, axes) for step, output, axes in self.body.stored}

    def _kernel(
        self, reads: Sequence[tuple[Variable, Axes]], outputs: Sequence[Output]
    ) -> LoopKernel:
        """The kernel, for reads and outputs that move along these axes."""
        number = self._numbers().__getitem__
        statements: list[AnyStatement] = [
            # Plain ones without a call of Python's for each, which the class would make.
            _new(Statement, (own[0], tuple(map(number, args)), own[1]))
            if isinstance(own, tuple)
            else own(tuple(map(number, args)))
            for own, args in self.made
        ]
        return LoopKernel(
            tuple(Read(base.dtype, _inner(axes)) for base, axes in reads),
            tuple(self.literals),
            tuple(statements),
            tuple(
                Write(
                    number(value),
                    output.variable.dtype,
                    _inner(output.axes),
                    fold,
                    of_rows=fold is not None and _only_outside(output.axes),
                )
                for output, (value, fold) in zip(outputs, self.values, strict=True)
            ),
            tuple(
                Source(of.variable.dtype, _inner(of.axes), len(of.indexed)) for of in self.sources
            ),
            tuple(
                Put(number(value), tuple(map(number, args)), dtype, inner, fold)
                for (value, *args), dtype, inner, fold in self.puts
            ),
        )

    def _numbers(self) -> list[int]:
        """The number in the kernel of each value; those below zero are at the end of the list."""
        n_reads, n_literals = len(self.body.reads), len(self.literals)
        first = n_reads + n_literals
        leaves = [k for at in range(first) for k in (at, n_reads + at)]
        return [*range(first, first + len(self.made)), *reversed(leaves)]

    def _lengths(self) -> list[int | None]:
        """The static lengths of the loop's dimensions."""
        return [n for n in self.loop.domain.type.shape if n != 1]

    def _has_short_form(self) -> bool:
        """Whether another kernel is better where the last dimension of the loop is short.

        What is done once a row costs more than a short row. Where all outputs are reductions and no
        operand moves along all dimensions, as in distances between points, a loop can go along the
        dimension before instead, which is longer: along that, sums of short rows lie side by side,
        and go term by term.
        """
        if not self.outputs or any(output.reduction is None for output in self.outputs):
            return False
        lengths = self._lengths()
        if len(lengths) < 3 or not is_short(lengths[-1]) or self.row is not None:
            return False
        # A pass after the rows themselves needs them innermost.
        nodes = self.loop.nodes
        along_rows = any(isinstance(node.op, CumOp) for node in nodes)
        if self.loop.row_nodes or self.sources or self.targets or along_rows:
            return False
        steps = zip(self.body.own, nodes, strict=True)
        read = {node.outputs[0] for step, node in steps if step in self.read}
        if not self.loop.row_values.isdisjoint(read):
            return False
        return all(REPEATED in axes for _, axes in self.body.reads)

    def _add_statements(self, statements: Sequence[Plain]) -> None:
        """Add the statements of steps, one each."""
        self.made.extend(zip(statements, self.body.operands, strict=True))
        self.literals = {literal: at for at, literal in enumerate(self.numbers)}
        for step, output, axes in self.body.stored:
            self.outputs.append(Output(output, axes, None))
            self.values.append((step, None))

    def _add_steps(self, statements: Sequence[Plain | None]) -> None:
        """Add the statements of steps, which ``statements`` has where there is a single one."""
        body, kinds = self.body, self.cut.kinds
        nodes = dict(zip(body.own, self.loop.nodes, strict=True))
        steps = zip(statements, body.kinds, body.operands, strict=True)
        for step, (plain, kind, operands) in enumerate(steps):
            args = [self._operand(k) for k in operands]
            op = kinds[kind].op
            if plain is not None:
                self.made.append((plain, args))
                self._note(step, len(self.made) - 1)
            elif op is not None:
                self._note(step, self._computed(op, kinds[kind].dtypes, args))
            else:
                self._add_node(step, nodes[step], args)

    def _add_node(self, step: int, node: FrozenApply, args: list[Value]) -> None:
        """Add what computes a node that is not elementwise."""
        match node.op:
            case Reduce():
                self._reduce(step, node, args[0])
            case AdvancedSubtensor():
                self._take(step, node, args)
            case AdvancedIncSubtensor():
                self._put(node, args)
            case CumOp():
                self._add_cumulation(step, node, args)

    def _operand(self, k: int) -> Value:
        """The value of an operand of a step."""
        if k >= 0:
            return self.results[k]
        return k if k % 2 else self._literal(self.numbers[-k // 2 - 1])

    def _note(self, step: int, value: Value) -> None:
        """Note the value of a step, and that it is written if it is stored."""
        self.results[step] = value
        if step in self.stored:
            self.outputs.append(Output(*self.stored[step], None))
            self.values.append((value, None))

    def _literal(self, literal: Literal) -> Value:
        return -2 - 2 * self.literals.setdefault(literal, len(self.literals))

    def _add_statement(self, step: int, make: Maker, args: list[Value]) -> None:
        """Add a statement that computes a step."""
        self.made.append((make, args))
        self._note(step, len(self.made) - 1)

    def _computed(self, op: ScalarOp, all_dtypes: Sequence[str], args: list[Value]) -> Value:
        """The last statement of those that compute an elementwise node.

        What is stored as float16 becomes float32 before, and the result of that dtype behind.
        """
        *dtypes, dtype = all_dtypes
        if op.converts_to is not None or STORED not in all_dtypes:
            return self._computed_in(op, dtype, dtypes, args)
        wide = [*map(computed_in, dtypes)]
        value = self._computed_in(op, computed_in(dtype), wide, self._converted(args, dtypes, wide))
        return value if dtype != STORED else _Steps(self, dtype).step(cast(dtype), value)

    def _computed_in(
        self, op: ScalarOp, dtype: str, dtypes: Sequence[str], args: list[Value]
    ) -> Value:
        """The last statement of those that compute an op on values of these dtypes."""
        args = self._converted(args, dtypes, _wanted(op, dtypes, dtype))
        write = formula(op, dtype)
        if write is not None:
            last: Value = write(_Steps(self, dtype), *args)
            return last
        self.made.append(((op, dtype), args))
        return len(self.made) - 1

    def _converted(
        self, args: list[Value], dtypes: Sequence[str], wanted: Sequence[str]
    ) -> list[Value]:
        """Values of some dtypes as values of those that are wanted."""
        each = zip(args, dtypes, wanted, strict=True)
        return [
            value if own == other else _Steps(self, other).step(cast(other), value)
            for value, own, other in each
        ]

    def _add_cumulation(self, step: int, node: FrozenApply, args: list[Value]) -> None:
        (output,) = node.outputs
        self._add_statement(step, partial(_cumulate, node.op.mode, output.dtype), args)

    def _indexed(self, node: FrozenApply) -> IndexedOperand:
        (whole,) = whole_operands(node)
        over = self.cut.domains.get(node, node.outputs[0])
        axes = _moving(whole_axes(node, over), over)
        return IndexedOperand(whole, axes, indexed_axes(node))

    def _take(self, step: int, node: FrozenApply, args: list[Value]) -> None:
        (output,) = node.outputs
        source = self.sources.setdefault(self._indexed(node), len(self.sources))
        self._add_statement(step, partial(_take, source, output.dtype), args)

    def _put(self, node: FrozenApply, args: list[Value]) -> None:
        (output,) = node.outputs
        target = self._indexed(node)
        self.targets.append((output, target))
        fold = None if node.op.set else "or_" if output.dtype == "bool" else "add"
        self.puts.append((args, output.dtype, _inner(target.axes), fold))

    def _reduce(self, step: int, node: FrozenApply, value: Value) -> None:
        """Add a reduction: as a value of the kernel if its loop reads it, else as a write."""
        (over,), (output,) = node.inputs, node.outputs
        identity = node.op.identity(output.dtype)
        if step in self.read:
            start = self._literal(Literal(output.dtype, identity))
            fold = partial(_fold, node.op.fold, output.dtype)
            self._add_statement(step, fold, [start, value])
            return
        axes = [REPEATED if axis in node.op.axes else axis for axis in range(over.ndim)]
        reduction = identity, node.op.fold
        self.outputs.append(Output(output, _moving(tuple(axes), over), reduction))
        self.values.append((value, node.op.fold))


class _Steps:
    """Makes statements of the steps of a formula; equal ones are made once."""

    def __init__(self, kernel: _Assembly, dtype: str) -> None:
        self.kernel = kernel
        self.dtype = dtype

    def number(self, number: float) -> Value:
        """A literal of the formula's dtype."""
        kept = float(np.dtype(self.dtype).type(number))
        return self.kernel._literal(Literal(self.dtype, kept))

    def by_width(self, double: float, single: float) -> float:
        """The first number where the steps are of float64, else the second."""
        return double if self.dtype == "float64" else single

    def step(self, op: ScalarOp, *args: Value) -> Value:
        """The value of a statement."""
        dtype = "bool" if op.rule in ("comparison", "predicate") else self.dtype
        made = self.kernel.made
        known = self.kernel.steps.setdefault((op, dtype, args), len(made))
        if known == len(made):
            made.append(((op, dtype), args))
        return known


_new = tuple.__new__


def _take(source: int, dtype: str, args: tuple[int, ...]) -> Take:
    return Take(source, args, dtype)


def _cumulate(reduce: str, dtype: str, args: tuple[int, ...]) -> Cumulate:
    return Cumulate(reduce, args, dtype)


def _fold(reduce: str, dtype: str, args: tuple[int, ...]) -> RowFold:
    start, value = args
    return RowFold(reduce, start, value, dtype)


def _swapped(axes: Axes) -> Axes:
    """``axes`` with the last two dimensions swapped."""
    return (*axes[:-2], axes[-1], axes[-2])


def _moving(axes: Axes, over: Variable) -> Axes:
    """``axes`` without the dimensions of static length 1."""
    if True not in over.broadcastable:
        return axes
    return tuple(axis for axis, static in zip(axes, over.type.shape, strict=True) if static != 1)


def _inner(axes: Axes) -> bool:
    return bool(axes) and axes[-1] != REPEATED


def _only_outside(axes: Axes) -> bool:
    return not _inner(axes) and any(axis != REPEATED for axis in axes)
