"""The walk of a pass along a row, in C: block after block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.c.ends import Ends
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indexed_rows import indexed_rows
from frazil.link.c.lanes import BlockWriter
from frazil.link.c.operands import Operands
from frazil.link.c.pauses import Asking, Carrying, Columns, Decided, Pause, stops
from frazil.link.c.row_folds import AllRows, EachRow, Folding, MemoryFolding, foldings
from frazil.link.c.rows import Rows
from frazil.link.c.stages import Stages
from frazil.link.c.values import Values, reduction
from frazil.link.kernel.loop_kernel import PATIENCE, Cumulate, Status, Write
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import SETS, folds_row

MAX_POINTERS = 8
"""The most operands for which a loop has pointers of its own: more take long to compile."""

NEAR = 14
"""The most operands whose pointers stay in registers while a loop goes over blocks."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Data that all passes of a kernel share."""

    values: Values
    operands: Operands
    rows: Rows
    ends: Ends
    takes_columns: bool
    """Whether rows of one element may become one long row."""


def foldings_of(frame: Frame, row_pass: Pass) -> list[Folding]:
    """The folds of a pass."""
    values, rows, ends = frame.values, frame.rows, frame.ends.blocks
    kernel = values.kernel
    folds: list[tuple[int, Write, AllRows | EachRow]] = []
    for position in row_pass.writes:
        if folds_row(kernel.writes[position]):
            k = values.n_reads + position
            # An output that stays where it is gathers all rows.
            all_rows = AllRows(f"({frame.operands.stride(k)} ? 1 : n_outer)")
            folds.append((k, kernel.writes[position], all_rows))
    for k in row_pass.folds:
        write = reduction(kernel.folds[k], kernel.folds[k].arg)
        folds.append((len(kernel.writes) + k, write, EachRow(rows.most)))
    return foldings(values.unit, folds, kernel.lanes, ends)


class PassWriter:
    """Writes the walk of a pass along the present rows."""

    def __init__(self, frame: Frame, row_pass: Pass, foldings: Sequence[Folding]) -> None:
        self.values = frame.values
        self.kernel = frame.values.kernel
        self.lanes = frame.values.kernel.lanes
        self.rows = frame.rows
        self.ends = frame.ends
        self.frame = frame
        self.row_pass = row_pass
        self.foldings = foldings
        self.moving = frame.operands.of_pass(row_pass)
        self.indexed = indexed_rows(frame.values, row_pass)

    def walk(self) -> Iterator[c.Statement]:
        """One walk along each row."""
        row_pass = self.row_pass
        if self.kernel.takes_rows:
            self.values.unit.native("loop_stops", "i4", "void")
        if not (self.moving or self.foldings or row_pass.puts or row_pass.varying):
            return
        yield self.rows.walk([*self._row()])
        for each in self.foldings:
            yield from each.leave_rows(self.rows.count)

    def _row(self) -> Iterator[c.Statement]:
        """The walk along one row."""
        stages = Stages(self.values, self.row_pass)
        block = BlockWriter(self.values, self.row_pass, stages, self.foldings)
        yield from self.rows.load_uniform(stages.used_values())
        for operand in self.moving:
            yield c.Declare("char", f"*w{operand.name}", self.rows.start(operand))
        for row in self.indexed:
            yield from row.enter_row()
        yield from self.rows.enter_pass(self.row_pass)
        for each in self.foldings:
            yield from each.enter_row()
        yield from self._start_cumulations()
        into_rows = any(self.kernel.writes[k].reduce for k in self.row_pass.writes)
        if self.foldings or self.rows.most > 1 or (into_rows and len(self.moving) <= MAX_POINTERS):
            yield self._pausing_blocks(stages, block)
        elif len(self.moving) <= NEAR and not self.indexed:
            yield self._portions(block)
        else:
            yield from self._plain_blocks(block)
        for each in self.foldings:
            yield from each.store_sets()
        for each in self.foldings:
            yield from each.leave_row(self.rows.element, self.rows.is_last)

    def _start_cumulations(self) -> Iterator[c.Statement]:
        """Declare the values that prefixes of the row are folded to."""
        for k in self.row_pass.varying:
            own = self.kernel.ops[k]
            if isinstance(own, Cumulate):
                first = self.values.unit.identity(own.reduce, own.dtype)
                yield c.Declare(C_TYPES[own.dtype], f"r{k}", first)

    def _block_starts(self) -> Iterator[c.Statement]:
        for operand in self.moving:
            start = f"w{operand.name} + i * {operand.size}"
            yield c.Declare("char", f"*q{operand.name}", start)
        for row in self.indexed:
            yield row.start_block()

    def _plain_blocks(self, block: BlockWriter) -> Iterator[c.Statement]:
        """One loop over the blocks of a row in which nothing is folded.

        Its pointers are computed from others, which do not change: hundreds that change take long
        to compile.
        """
        yield from block.before_blocks()
        body = [
            *self.ends.start_block(),
            *self._block_starts(),
            *self.ends.turn_block(self.moving),
            *self._through_copies(block),
        ]
        at = self.ends.counter
        start, next_block = f"i8 {at} = 0", f"{at} += {self.lanes}"
        if not self.kernel.takes_rows:
            yield c.For(start, f"{at} < n_inner", next_block, body)
            return
        portion = [
            c.Const("i8", "pause", f"n_inner - {at} > {PATIENCE} ? {at} + {PATIENCE} : n_inner"),
            c.For("", f"{at} < pause", next_block, body),
            c.If(stops(at), [c.Return(f"{Status.STOPPED:d}")]),
        ]
        yield c.For(start, f"{at} < n_inner", "", portion)

    def _portions(self, block: BlockWriter) -> c.For:
        """The whole blocks of a row in which nothing is folded, then its end, by the same loop.

        The loop has pointers that do not change, and looks for nothing.
        """
        body = [*self.ends.enter_portion(self.moving)]
        if self.kernel.takes_rows:
            body.append(c.If(f"end - i > {PATIENCE}", [c.Assign("end", f"i + {PATIENCE}")]))
        body += [
            c.Assign("b", "end - i", "+="),
            *block.before_blocks(),
            c.For("", "i < end", f"i += {self.lanes}", [*self._block_starts(), *block.one_block()]),
        ]
        if self.kernel.takes_rows:
            body.append(c.If(stops("b"), [c.Return(f"{Status.STOPPED:d}")]))
        return c.For("i8 b = 0", "b < n_inner", "", body)

    def _pausing_blocks(self, stages: Stages, block: BlockWriter) -> c.For:
        """The blocks of a row from pause to pause; the end of the row comes after one."""
        pauses = self._pauses()
        body: list[c.Statement] = [
            c.Declare("i8", "end", "full"),
            *self.ends.turn_row(self.moving),
            *(own for each in reversed(pauses) for own in each.limits()),
            *(own for each in self.foldings for own in each.enter_blocks()),
            *self._all_sets(stages, block),
            *block.before_blocks(),
            c.For("", "i < end", f"i += {self.lanes}", [*self._one_block(block)]),
        ]
        body += self.ends.after_end([own for each in self.foldings for own in each.leave_end()])
        body += (each.act() for each in pauses)
        return c.For("i8 i = 0", "i < n_inner", "", body)

    def _one_block(self, block: BlockWriter) -> Iterator[c.Statement]:
        yield from self._block_starts()
        yield from self.rows.prefetch(self.row_pass, self.moving)
        yield from self._through_copies(block)
        for each in self.foldings:
            yield from each.leave_block()

    def _through_copies(self, block: BlockWriter) -> Iterator[c.Statement]:
        """The work on a block; rows that indices choose may need a copy of it."""
        for row in self.indexed:
            yield row.turn_block()
        yield from block.one_block()
        for row in self.indexed:
            yield from row.leave_block()

    def _all_sets(self, stages: Stages, block: BlockWriter) -> Iterator[c.Statement]:
        """As many blocks at a time as there are sets, where that is quick."""
        foldings = [each for each in self.foldings if isinstance(each, MemoryFolding)]
        is_all = bool(foldings) and len(foldings) == len(self.foldings)
        if not (is_all and (self.moving or self.indexed) and stages.is_quick):
            return
        wide = SETS * self.lanes
        body = [
            *self._block_starts(),
            *self.rows.prefetch_sets(self.moving),
            *block.all_sets(foldings),
        ]
        until = f"i + {wide} <= (end < full ? end : full)"
        conditions = [each.is_aligned() for each in foldings]
        conditions += [each.is_dense for each in self.indexed]
        yield c.If(" && ".join(conditions), [c.For("", until, f"i += {wide}", body)])

    def _pauses(self) -> list[Pause]:
        """Why the walk pauses; the first reason has the last word on how far it goes."""
        foldings, lanes = self.foldings, self.lanes
        pauses: list[Pause] = []
        if foldings and self.frame.takes_columns:
            pauses.append(Columns(foldings, lanes))
        if self._may_be_decided():
            pauses.append(Decided(foldings, lanes))
        if self.kernel.takes_rows:
            pauses.append(Asking())
        summed = [each for each in foldings if each.has_levels]
        if summed:
            pauses.append(Carrying(summed, foldings))
        return pauses

    def _may_be_decided(self) -> bool:
        """Whether the walk may end when its folds are decided: it does nothing else."""
        row_pass, writes = self.row_pass, self.kernel.writes
        only_folds = not (row_pass.stores or row_pass.puts) and not any(
            writes[k].inner for k in row_pass.writes
        )
        decided = bool(self.foldings) and all(each.can_be_decided for each in self.foldings)
        return decided and only_folds and not any(map(self.values.can_fail, row_pass.varying))
