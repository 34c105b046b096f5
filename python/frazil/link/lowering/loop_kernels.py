"""From a fused loop to a kernel, and the variables that the kernel reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from frazil._core import Constant, FrozenApply, Reading, Variable
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.alignment import (
    indexed_axes,
    row_dimension,
    whole_axes,
    whole_operands,
)
from frazil.link.fusion.fused_loop import FusedLoop
from frazil.link.fusion.short import is_short
from frazil.link.fusion.views import REPEATED, Axes, through
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
from frazil.scalar.elemwise import Elemwise
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
are of each is known at the end.
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


def kernel_call(
    loop: FusedLoop,
    stored: Collection[Variable],
    readings: Mapping[FrozenApply, Reading],
    again: Collection[Variable],
) -> KernelCall:
    """The call of the kernel of ``loop``.

    It writes the variables in ``stored``, and all reductions that the loop itself does not read. It
    computes those in ``again`` instead of reading them.
    """
    return _Assembly(loop, stored, readings, again).call()


class _Assembly:
    """Builds a kernel node by node."""

    def __init__(
        self,
        loop: FusedLoop,
        stored: Collection[Variable],
        readings: Mapping[FrozenApply, Reading],
        again: Collection[Variable],
    ) -> None:
        self.loop = loop
        self.stored = stored
        self.readings = readings
        self.again = again
        self.reads: dict[tuple[Variable, Axes], int] = {}
        self.literals: dict[Literal, int] = {}
        self.statements: dict[Variable, int] = {}
        self.recomputed: dict[tuple[Variable, Axes], Value] = {}
        self.row = row_dimension(loop.nodes[0])
        self.sources: dict[IndexedOperand, int] = {}
        self.targets: list[tuple[Variable, IndexedOperand]] = []
        self.puts: list[tuple[list[Value], str, bool, str | None]] = []
        self.made: list[tuple[Plain | Maker, Sequence[Value]]] = []
        self.steps: dict[tuple[ScalarOp, str, tuple[Value, ...]], Value] = {}
        # Ops on dtypes that are one statement each: neither converted nor by a formula.
        self.plain: dict[tuple[ScalarOp, Sequence[str]], Plain] = {}
        self.outputs: list[Output] = []
        self.values: list[tuple[Value, str | None]] = []
        self.constants: dict[Variable, Value | None] = {}

    def call(self) -> KernelCall:
        """The kernel, with its operands and outputs."""
        readings, statements, stored = self.readings, self.statements, self.stored
        for node in self.loop.nodes:
            read = readings[node]
            args = self._operands(node, read)
            match node.op:
                case Elemwise() as op:  # most nodes
                    output = read.output
                    statements[output] = self._computed(op.scalar_op, read, args)
                    if output in stored:
                        self._store(output)
                case Reduce():
                    self._reduce(node, args[0])
                case AdvancedSubtensor():
                    self._take(node, args)
                case AdvancedIncSubtensor():
                    self._put(node, args)
                case CumOp():
                    self._add_cumulation(node, args)
        row, reads, outputs, short = self.row, tuple(self.reads), tuple(self.outputs), None
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
            tuple(dict.fromkeys(x.owner for x, _ in self.recomputed if x.owner is not None)),
            self._kernel(reads, outputs),
            reads,
            tuple(self.sources),
            outputs,
            tuple(self.targets),
            row,
            short,
        )

    @cached_property
    def needed(self) -> Collection[Variable]:
        """The variables that the loop computes and reads."""
        needed: set[Variable] = set()
        for node in self.loop.nodes:
            read = self.readings[node]
            needed.update([base for base, _, made in read.operands if made])
        return needed

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
        n_reads, n_literals = len(self.reads), len(self.literals)
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
        lengths = self._lengths()
        if len(lengths) < 3 or not is_short(lengths[-1]) or self.row is not None:
            return False
        # A pass after the rows themselves needs them innermost.
        along_rows = any(isinstance(node.op, CumOp) for node in self.loop.nodes)
        if self.loop.row_nodes or self.sources or self.targets or along_rows:
            return False
        if not self.loop.row_values.isdisjoint(self.needed):
            return False
        reduced = all(output.reduction is not None for output in self.outputs)
        return bool(self.outputs) and reduced and all(REPEATED in axes for _, axes in self.reads)

    def _operands(self, node: FrozenApply, read: Reading) -> list[Value]:
        """The values of a node's operands."""
        statements, constants = self.statements, self.constants
        values: list[Value] = []
        for base, axes, made in read.operands:
            if made:
                values.append(statements[base])
                continue
            literal = constants[base] if base in constants else self._constant(base)
            if literal is not None:
                values.append(literal)
                continue
            axes = self._ordered(_moving(axes, read.over))
            if node in self.loop.row_nodes:
                axes = (*axes, REPEATED)
            values.append(self._from_outside(base, axes))
        return values

    def _from_outside(self, base: Variable, axes: Axes) -> Value:
        """The value of a variable that the loop reads or computes again."""
        if base not in self.again:
            return self._plain(base, axes)
        pending = [(base, axes)]
        while pending:
            now, over = pending[-1]
            if now not in self.again or (now, over) in self.recomputed:
                pending.pop()
                continue
            node = now.owner
            assert node is not None
            read = self.readings[node]
            beneath = [(x, through(over, own)) for x, own, _ in read.operands]
            missing = [
                (x, own)
                for x, own in beneath
                if x in self.again and (x, own) not in self.recomputed
            ]
            if missing:
                pending += missing
                continue
            args = [self._plain(x, own) for x, own in beneath]
            self.recomputed[now, over] = self._computed(node.op.scalar_op, read, args)
        return self._plain(base, axes)

    def _plain(self, base: Variable, axes: Axes) -> Value:
        """A literal, a value that is computed again already, or a read."""
        constants = self.constants
        literal = constants[base] if base in constants else self._constant(base)
        known = self.recomputed.get((base, axes)) if literal is None else literal
        if known is not None:
            return known
        return -1 - 2 * self.reads.setdefault((base, axes), len(self.reads))

    def _constant(self, base: Variable) -> Value | None:
        """The literal of a constant; None for any other variable."""
        found: Value | None = None
        if isinstance(base, Constant) and base.ndim == 0:
            value = base.data.item()
            if value == value:  # A NaN is read from memory, so that a checked run finds it.
                found = self._literal(Literal(base.dtype, value))
        self.constants[base] = found
        return found

    def _literal(self, literal: Literal) -> Value:
        return -2 - 2 * self.literals.setdefault(literal, len(self.literals))

    def _add_statement(self, output: Variable, make: Maker, args: list[Value]) -> None:
        """Add a statement that computes an output, and a write if the output is stored."""
        self.statements[output] = len(self.made)
        self.made.append((make, args))
        self._store(output)

    def _computed(self, op: ScalarOp, read: Reading, args: list[Value]) -> Value:
        """The last statement of those that compute an elementwise node.

        What is stored as float16 becomes float32 before, and the result of that dtype behind.
        """
        plain = self.plain.get((op, read.dtypes))
        if plain is not None:
            self.made.append((plain, args))
            return len(self.made) - 1
        *dtypes, dtype = read.dtypes
        if op.converts_to is not None or STORED not in read.dtypes:
            return self._computed_in(op, dtype, dtypes, args)
        wide = [*map(computed_in, dtypes)]
        value = self._computed_in(op, computed_in(dtype), wide, self._converted(args, dtypes, wide))
        return value if dtype != STORED else _Steps(self, dtype).step(cast(dtype), value)

    def _computed_in(
        self, op: ScalarOp, dtype: str, dtypes: Sequence[str], args: list[Value]
    ) -> Value:
        """The last statement of those that compute an op on values of these dtypes."""
        wanted: Sequence[str] = dtypes
        if op.rule in ("float", "floor") and dtype.startswith("float"):
            # Functions of floats take the type that they compute in, so all linkers convert alike.
            wanted = op.operand_dtypes(dtypes, dtype)
            args = self._converted(args, dtypes, wanted)
        write = formula(op, dtype)
        if write is not None:
            last: Value = write(_Steps(self, dtype), *args)
            return last
        plain = op, dtype
        if [*wanted] == [*dtypes]:
            self.plain[op, (*dtypes, dtype)] = plain
        self.made.append((plain, args))
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

    def _ordered(self, axes: Axes) -> Axes:
        """``axes`` with the axis of the row last."""
        if self.row is None:
            return axes
        return (*axes[: self.row], *axes[self.row + 1 :], axes[self.row])

    def _add_cumulation(self, node: FrozenApply, args: list[Value]) -> None:
        (output,) = node.outputs
        self._add_statement(output, partial(_cumulate, node.op.mode, output.dtype), args)

    def _indexed(self, node: FrozenApply) -> IndexedOperand:
        (whole,) = whole_operands(node)
        over = self.readings[node].over
        axes = _moving(whole_axes(node, over), over)
        return IndexedOperand(whole, axes, indexed_axes(node))

    def _take(self, node: FrozenApply, args: list[Value]) -> None:
        (output,) = node.outputs
        source = self.sources.setdefault(self._indexed(node), len(self.sources))
        self._add_statement(output, partial(_take, source, output.dtype), args)

    def _put(self, node: FrozenApply, args: list[Value]) -> None:
        (output,) = node.outputs
        target = self._indexed(node)
        self.targets.append((output, target))
        fold = None if node.op.set else "or_" if output.dtype == "bool" else "add"
        self.puts.append((args, output.dtype, _inner(target.axes), fold))

    def _store(self, output: Variable) -> None:
        """Add a write of an output if it is stored."""
        if output in self.stored:
            axes = self._ordered(_moving(tuple(range(output.ndim)), output))
            if output in self.loop.row_values:
                axes = (*axes, REPEATED)
            self.outputs.append(Output(output, axes, None))
            self.values.append((self.statements[output], None))

    def _reduce(self, node: FrozenApply, value: Value) -> None:
        """Add a reduction: as a value of the kernel if its loop reads it, else as a write."""
        (over,), (output,) = node.inputs, node.outputs
        identity = node.op.identity(output.dtype)
        if output in self.needed:
            start = self._literal(Literal(output.dtype, identity))
            self._add_statement(output, partial(_fold, node.op.fold, output.dtype), [start, value])
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
