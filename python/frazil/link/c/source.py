"""The C text of loop kernels.

A kernel walks its inner dimension in blocks of a fixed number of lanes. The loop over the lanes of
a block is the only one that the compiler has to vectorise, and since its length is known there is
no remainder loop: what is left at the end is copied to the stack, padded with its last element, and
goes through the same code. So an element's value never depends on where in an array it stands, and
half of the code that a vectoriser makes of an open loop, and half of its time, is saved.

A kernel that folds rows takes several short rows at a time, a tile, through each of its passes:
what happens once a row between passes is a loop over the rows of the tile, which is vectorised,
too, and no row waits for the fold of the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from frazil.cached_property import cached_property
from frazil.link.c import partials
from frazil.link.c.element_loop import call_lines
from frazil.link.c.folding import CARRIED, DECIDED, Folding
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indices import Indices
from frazil.link.c.stages import Moving, Stages
from frazil.link.c.unit import Unit, literal_text, load, store
from frazil.link.cost import cost
from frazil.link.element_loop import loop_calls
from frazil.link.kernel import BLOCK_BYTES, LoopKernel, Read, Scan, Statement, Take, Write
from frazil.link.passes import Pass, plan
from frazil.link.reduction import SETS, is_fold

TILE = 8
"""Rows of a tile: as many as buffers with a stride have room for."""

AHEAD = 4096
"""Bytes ahead at which memory is asked for: a page, as the processor foresees what comes within one
alone."""

FEW = 8
"""Operands up to which a loop has a pointer of its own for each: more are hard to compile."""

MANY = 1 << 14
"""Elements from which on an array may lie beyond the caches: fewer come only from smaller ones."""


def add_kernel(unit: Unit, name: str, kernel: LoopKernel) -> None:
    """Append a kernel to the unit as the function ``name``."""
    unit.kernels.append("".join(f"{line}\n" for line in _KernelWriter(unit, kernel, name).lines()))


class _KernelWriter:
    """Writes one kernel."""

    def __init__(self, unit: Unit, kernel: LoopKernel, name: str) -> None:
        self.unit = unit
        self.kernel = kernel
        self.name = name
        self.n_reads = len(kernel.reads)
        self.plan = plan(kernel)
        self.lanes = kernel.lanes
        self.texts = [f"v{k}" for k in range(len(kernel.dtypes))]
        for k, literal in enumerate(kernel.literals, self.n_reads):
            self.texts[k] = literal_text(literal)
        self.calls = loop_calls(kernel.ops)
        self.expressions = {
            k: self._expression(own)
            for k, own in kernel.ops.items()
            if isinstance(own, Statement) and k not in self.calls
        }
        # Indices move from row to row, and may end the kernel in the middle of one.
        indexed = bool(kernel.sources or kernel.puts)
        self.tile = TILE if kernel.folds and self.lanes > 1 and not indexed else 1
        self.indices = Indices(unit, kernel, self.texts)
        self.strides = {
            pointer: f"outer_stride[{k}]"
            for k, pointer in enumerate(
                (*kernel.pointers, *(f"b{value}" for value in self.plan.buffers))
            )
        }
        self.kept = self._kept()
        self.busiest = self._find_busiest()
        self.foldings = [self._folding(one) for one in self.plan.passes]

    def _find_busiest(self) -> Pass | None:
        """The pass over a tile in which there is most time to fetch the next tile's operands."""
        if self.tile == 1:
            return None
        ops = self.kernel.ops
        costs = []
        for one in self.plan.passes:
            own = (ops[k] for k in one.varying)
            costs.append(sum(cost(op.op if isinstance(op, Statement) else op) for op in own))
        return self.plan.passes[costs.index(max(costs))]

    def _coming(self) -> list[Moving]:
        return [
            operand for operand in self._moving_operands() if operand.is_read != operand.is_written
        ]

    def _expression(self, statement: Statement) -> str:
        operands = [(self.texts[a], self.kernel.dtypes[a]) for a in statement.args]
        return self.unit.apply(statement.op, operands, statement.dtype)

    def _folding(self, one: Pass) -> list[Folding]:
        """What is folded in a pass."""
        kernel, unit, lanes = self.kernel, self.unit, self.lanes
        made = [
            Folding(unit, self.n_reads + k, kernel.writes[k], lanes, goes_on=True, rows=self.tile)
            for k in one.writes
            if is_fold(kernel.writes[k])
        ]
        for k in one.folds:
            fold = kernel.folds[k]
            write = Write(fold.arg, fold.dtype, inner=False, reduce=fold.reduce)
            number = len(kernel.writes) + k
            made.append(Folding(unit, number, write, lanes, goes_on=False, rows=self.tile))
        return made

    # ------------------------------------------------------------ the function

    def lines(self) -> Iterator[str]:
        """The function, line by line."""
        kernel = self.kernel
        least = "n_inner < 0" if kernel.takes_rows else "n_inner <= 0"
        yield f"i4 {self.name}(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {{"
        yield "i4 status = 0;"
        yield f"if (n_outer <= 0 || {least}) return status;"
        for k, pointer in enumerate(self.strides):
            yield f"char *p{pointer} = ptr[{k}];"
        if self.tile == 1 and self._folds:
            yield f"const i8 ahead = n_outer * n_inner >= {MANY} ? {AHEAD} : 0;"
        yield from self._turn_columns()
        if self.lanes > 1:
            yield f"const i8 full = n_inner & -{self.lanes}, rest = n_inner - full;"
            yield f"const i8 whole = full + (rest ? {self.lanes} : 0);"
        else:
            yield "const i8 full = n_inner, whole = n_inner;"
        yield from self._declare()
        yield from self._declare_overlap()
        step = "tile" if self.tile > 1 else "1"
        yield f"for (i8 outer = 0; outer < n_outer; outer += {step}) {{"
        if self.tile > 1:
            yield "const i8 rows = n_outer - outer < tile ? n_outer - outer : tile;"
        if self._may_overlap:
            needed = f"full + {self.lanes}"
            yield f"const b1 overlaps = dense && (n_outer - outer) * n_inner >= {needed};"
        yield from self._enter_ends()
        yield from self._uniform_reads()
        for one, foldings in zip(self.plan.passes, self.foldings, strict=True):
            yield from self._uniform(one)
            yield from self._walk(one, foldings)
        yield from self._leave_ends()
        yield from self._uniform_writes()
        for pointer in kernel.pointers:
            if pointer[0] not in "ghr":
                yield f"p{pointer} += {self._times_rows(self.strides[pointer])};"
        yield "}"
        yield "return status;"
        yield "}"

    @property
    def _folds(self) -> bool:
        """Whether rows are folded, or into a row."""
        return any(self.foldings) or any(write.reduce for write in self.kernel.writes)

    @property
    def _takes_columns(self) -> bool:
        """Whether rows of one element can be one long row, whose elements are not folded: all that
        is not folded moves.
        """
        kernel = self.kernel
        return (
            self.lanes > 1
            and kernel.is_light
            and all(read.inner for read in kernel.reads)
            and all(write.walks for write in kernel.writes)
            and any(write.of_rows for write in kernel.writes)
        )

    def _turn_columns(self) -> Iterator[str]:
        """Let rows of one element be one row, where they lie side by side."""
        if not self._takes_columns:
            return
        operands: tuple[Read | Write, ...] = (*self.kernel.reads, *self.kernel.writes)
        beside = (
            f"({self.strides[f'{k}']} == {np.dtype(own.dtype).itemsize})"
            for k, own in enumerate(operands)
        )
        yield f"const b1 columns = (n_inner == 1) & (n_outer > 1) & {' & '.join(beside)};"
        yield "if (columns) { n_inner = n_outer; n_outer = 1; }"

    @cached_property
    def _may_overlap(self) -> bool:
        """Whether the last block of a row may go on over the rows behind it, which come later.

        Where something has another value for each row, rows cannot be joined, and may be short.
        What is done with an element is so little that copying ends of rows takes most of the time.
        """
        kernel = self.kernel
        return (
            self.lanes > 1
            and kernel.is_light
            and not self.calls
            and not all(read.inner for read in kernel.reads)
            and all(write.inner and write.reduce is None for write in kernel.writes)
            and not any("status" in text for text in self.expressions.values())
        )

    def _declare_overlap(self) -> Iterator[str]:
        """Whether rows lie without gaps, and nothing is written over what is read."""
        if not self._may_overlap:
            return
        moving = list(self._moving_operands())
        conditions = [f"({self.strides[own.name]} == n_inner * {own.size})" for own in moving]
        read = [own.name for own in moving if own.is_read]
        written = [own.name for own in moving if own.is_written]
        conditions += [f"(p{to} != p{of})" for to in written for of in read]
        # Branches would be dear to compile.
        yield f"const b1 dense = (rest != 0) & {' & '.join(conditions)};"

    @property
    def _ragged(self) -> str:
        """Whether the end of the row is copied."""
        return "rest && !overlaps" if self._may_overlap else "rest"

    def _may_stop(self, one: Pass, foldings: list[Folding]) -> bool:
        """Whether the walk of a row can end when its folds are decided: it does nothing else."""
        only_folds = not (one.stores or one.puts) and not any(
            self.kernel.writes[k].inner for k in one.writes
        )
        cannot_fail = all("status" not in self.expressions.get(k, "status") for k in one.varying)
        decided = bool(foldings) and all(each.can_be_decided for each in foldings)
        return decided and only_folds and cannot_fail

    def _times_rows(self, stride: str) -> str:
        return stride if self.tile == 1 else f"rows * {stride}"

    def _declare(self) -> Iterator[str]:
        """What all rows share."""
        if self.tile > 1:
            # A row that is short enough to be summed in registers, and a buffer for several.
            conditions = [f"n_inner <= {(CARRIED - 1) * self.lanes}"]
            conditions += [self.strides[f"b{value}"] for value in self.plan.buffers]
            yield f"const i8 tile = {' && '.join(conditions)} ? {self.tile} : 1;"
        for k in self.kept:
            yield f"ALIGNED {C_TYPES[self.kernel.dtypes[k]]} t{k}[{self.tile}];"
        yield from self._declare_ends()
        for each in (each for foldings in self.foldings for each in foldings):
            # An output that stays where it is gathers all rows.
            all_rows = f"({self.strides[f'{each.k}']} ? 1 : n_outer)" if each.goes_on else "1"
            yield from each.declare(all_rows)

    def _moving_operands(self) -> Iterator[Moving]:
        """Reads and writes that move along the row."""
        kernel = self.kernel
        for k, read in enumerate(kernel.reads):
            if read.inner:
                yield Moving(f"{k}", read.dtype, is_read=True, is_written=False)
        for k, write in enumerate(kernel.writes, self.n_reads):
            if write.inner:
                is_read = write.reduce is not None
                yield Moving(f"{k}", write.dtype, is_read=is_read, is_written=True)

    def _moving(self, one: Pass) -> list[Moving]:
        """What moves along the row in a pass."""
        names = {f"{k}" for k in one.reads} | {f"{self.n_reads + k}" for k in one.writes}
        moving = [operand for operand in self._moving_operands() if operand.name in names]
        for k in (*one.loads, *one.stores):
            dtype = self.kernel.dtypes[k]
            moving.append(Moving(f"b{k}", dtype, is_read=False, is_written=False, is_buffer=True))
        return moving

    # ------------------------------------------------------------ ends of rows

    def _declare_ends(self) -> Iterator[str]:
        """Room for copies of the ends of rows, as long as a block."""
        if self.lanes > 1:
            for operand in self._moving_operands():
                yield f"ALIGNED u{operand.size} e{operand.name}[{self.lanes * self.tile}];"

    def _enter_ends(self) -> Iterator[str]:
        """Copy the ends of rows."""
        padded = [operand for operand in self._moving_operands() if operand.is_read]
        if self.lanes == 1 or not padded:
            return
        rows = "rows" if self.tile > 1 else "1"
        yield f"if ({self._ragged}) {{"
        for operand in padded:
            to, source = f"e{operand.name}", f"p{operand.name} + full * {operand.size}"
            stride, unit = self.strides[operand.name], self.unit
            yield partials.pad_ends(unit, operand.dtype, self.lanes, to, source, stride, rows)
        yield "}"

    def _leave_ends(self) -> Iterator[str]:
        """Copy results back."""
        written = [operand for operand in self._moving_operands() if operand.is_written]
        if self.lanes == 1 or not written:
            return
        rows = "rows" if self.tile > 1 else "1"
        yield f"if ({self._ragged}) {{"
        for operand in written:
            to, source = f"p{operand.name} + full * {operand.size}", f"e{operand.name}"
            stride, unit = self.strides[operand.name], self.unit
            yield partials.copy_ends(unit, operand.dtype, self.lanes, to, source, stride, rows)
        yield "}"

    def _end(self, operand: Moving) -> str:
        """The copy of the end of the present row."""
        if self.tile == 1:
            return f"(char *)e{operand.name}"
        # What rows are gathered in has one end.
        gathers = operand.is_read and operand.is_written
        row = f"({self.strides[operand.name]} ? r : 0)" if gathers else "r"
        return f"(char *)(e{operand.name} + {row} * {self.lanes})"

    # ------------------------------------------------------------ what does not move

    def _kept(self) -> list[int]:
        """The values without motion that are kept for each row of a tile: those of which something
        is made later on.
        """
        if self.tile == 1:
            return []
        kernel, uniform = self.kernel, self.kernel.uniform
        loops: dict[int, int] = {}  # the loop over the rows that makes each value
        for at, one in enumerate(self.plan.passes):
            loops.update(dict.fromkeys(one.folds, at + 1) | dict.fromkeys(one.uniform, at))
        used = {write.value for write in kernel.writes}
        used.update(fold.arg for fold in kernel.folds.values())
        for k, own in kernel.ops.items():
            used.update(a for a in own.args if not uniform[k] or loops.get(a) != loops[k])
        return [k for k in sorted(used) if uniform[k] and (k < self.n_reads or self._is_made(k))]

    def _is_made(self, k: int) -> bool:
        return k >= self.n_reads + len(self.kernel.literals)

    def _of_row(self, values: Iterable[int]) -> Iterator[str]:
        """Let values without motion be at hand for row ``r``."""
        if self.tile == 1:
            return
        kernel = self.kernel
        for k in sorted(set(values)):
            if kernel.uniform[k] and (k < self.n_reads or self._is_made(k)):
                yield f"const {C_TYPES[kernel.dtypes[k]]} v{k} = t{k}[r];"

    def _uniform_reads(self) -> Iterator[str]:
        reads = [(k, read) for k, read in enumerate(self.kernel.reads) if not read.inner]
        if self.tile == 1:
            for k, read in reads:
                yield f"const {C_TYPES[read.dtype]} v{k} = {load(read.dtype, f'p{k}', '0')};"
        elif reads:
            yield "for (i8 r = 0; r < rows; ++r) {"
            for k, read in reads:
                if k not in self.kept:
                    continue
                place = f"(p{k} + r * {self.strides[f'{k}']})"
                yield f"t{k}[r] = {load(read.dtype, place, '0')};"
            yield "}"

    def _uniform(self, one: Pass) -> Iterator[str]:
        """What is computed once a row before a pass."""
        kernel = self.kernel
        at = self.plan.passes.index(one)
        folds = self.plan.passes[at - 1].folds if at else ()
        if self.tile == 1:
            yield from self._uniform_values(folds, one.uniform, row="0")
        elif folds or one.uniform:
            operands: set[int] = set()
            for k in one.uniform:
                operands.update(kernel.ops[k].args)
            is_vector = all(self._is_vector(k) for k in one.uniform)
            if is_vector:
                yield "#pragma omp simd"
            yield f"for (i4 r = 0; r < {self.tile if is_vector else 'rows'}; ++r) {{"
            yield from self._of_row(operands - set(folds) - set(one.uniform))
            yield from self._uniform_values(folds, one.uniform, row="r")
            for k in (*folds, *one.uniform):
                if k in self.kept:
                    yield f"t{k}[r] = v{k};"
            yield "}"

    def _uniform_values(
        self, folds: Iterable[int], statements: Iterable[int], row: str
    ) -> Iterator[str]:
        kernel = self.kernel
        for k in folds:
            fold = kernel.folds[k]
            write = Write(fold.arg, fold.dtype, inner=False, reduce=fold.reduce)
            folded = f"row{len(kernel.writes) + k}[{row}]"
            value = self.unit.fold(write, self.texts[fold.start], folded)
            yield f"const {C_TYPES[fold.dtype]} v{k} = {value};"
        for k in statements:
            own = kernel.ops[k]
            if isinstance(own, Take):
                yield from self.indices.take(k, own, "0")
            elif k in self.calls:
                yield from call_lines(self.unit, self.calls[k], k, self.texts, kernel.dtypes)
            else:
                yield f"const {C_TYPES[own.dtype]} v{k} = {self.expressions[k]};"

    def _is_vector(self, k: int) -> bool:
        """Whether a loop over a statement can be vectorised."""
        own = self.kernel.ops[k]
        if not isinstance(own, Statement):
            return False
        dtypes = tuple(self.kernel.dtypes[a] for a in own.args)
        return self.unit.form(own.op, dtypes, own.dtype)[1]

    def _uniform_writes(self) -> Iterator[str]:
        kernel = self.kernel
        writes = [(k, w) for k, w in enumerate(kernel.writes, self.n_reads) if not w.walks]
        if not writes:
            return
        if not all(kernel.uniform[write.value] for _, write in writes):
            raise ValueError("a write that does not move needs a value that does not")
        if self.tile > 1:
            yield "for (i8 r = 0; r < rows; ++r) {"
        yield from self._of_row(write.value for _, write in writes)
        for k, write in writes:
            place = f"p{k}" if self.tile == 1 else f"(p{k} + r * {self.strides[f'{k}']})"
            yield store(write.dtype, place, "0", self._written(write))
        if self.tile > 1:
            yield "}"

    def _written(self, write: Write) -> str:
        """The expression of what is written, of the write's dtype."""
        text, own = self.texts[write.value], self.kernel.dtypes[write.value]
        return self.unit.convert(text, own, write.dtype)

    # ------------------------------------------------------------ passes

    def _walk(self, one: Pass, foldings: list[Folding]) -> Iterator[str]:
        """One walk along each row, in blocks."""
        moving = self._moving(one)
        if not moving and not foldings and not one.puts and not one.varying:
            return
        kernel = self.kernel
        stages = Stages(self.unit, kernel, one, self.expressions, self.calls, self.indices)
        yield "{" if self.tile == 1 else "for (i8 r = 0; r < rows; ++r) {"
        yield from self._of_row(stages.uniform_operands())
        for operand in moving:
            row = "" if self.tile == 1 else f" + r * {self.strides[operand.name]}"
            yield f"char *w{operand.name} = p{operand.name}{row};"
        if one is self.busiest:
            for operand in self._coming():
                stride = self.strides[operand.name]
                yield f"char *n{operand.name} = p{operand.name} + (rows + r) * {stride};"
        for each in foldings:
            yield from each.enter_row()
        for k, scan in kernel.ops.items():
            if k in one.varying and isinstance(scan, Scan):
                write = Write(scan.args[0], scan.dtype, inner=False, reduce=scan.reduce)
                yield f"{C_TYPES[scan.dtype]} r{k} = {self.unit.identity(write)};"
        into_rows = any(kernel.writes[k].reduce for k in one.writes) and len(moving) <= FEW
        if foldings or into_rows or self.tile > 1:
            yield from self._blocks(one, stages, foldings, moving)
        else:
            yield from self._plain_blocks(stages, moving)
        yield from self._leave_row(foldings)
        yield "}"
        for each in foldings:
            yield from each.leave_rows("rows" if self.tile > 1 else "1")

    def _plain_blocks(self, stages: Stages, moving: list[Moving]) -> Iterator[str]:
        """One loop over the blocks of a row in which nothing is folded.

        Its pointers are made of others that do not change: hundreds that do are hard to compile.
        """
        yield from stages.enter_blocks()
        yield f"for (i8 i = 0; i < n_inner; i += {self.lanes}) {{"
        for operand in moving:
            yield f"char *q{operand.name} = w{operand.name} + i * {operand.size};"
        if self.lanes > 1:
            yield f"if (i == full{' && !overlaps' if self._may_overlap else ''}) {{"
            for operand in moving:
                if not operand.is_buffer:
                    yield f"q{operand.name} = {self._end(operand)};"
            yield "}"
        yield from stages.loops(())
        yield "}"

    def _blocks(
        self, one: Pass, stages: Stages, foldings: list[Folding], moving: list[Moving]
    ) -> Iterator[str]:
        """The blocks of a row: those before its end, from pause to pause, and that."""
        lanes = self.lanes
        levels = [each for each in foldings if each.has_levels]
        yield "for (i8 i = 0; i < n_inner;) {"
        yield "i8 end = full;"
        if lanes > 1:
            yield "if (i == full) {"
            yield "end = n_inner;"
            for operand in moving:
                if not operand.is_buffer:
                    yield f"w{operand.name} = {self._end(operand)} - full * {operand.size};"
            yield "}"
        for each in levels:
            # The walk pauses where sums are carried.
            yield f"if (end > {each.until_carried()}) end = {each.until_carried()};"
        columns = bool(foldings) and self._takes_columns
        if columns:
            yield f"if (columns && end > i + {lanes}) end = i + {lanes};"
        may_stop = self._may_stop(one, foldings)
        if may_stop:
            yield f"if (end > i + {DECIDED * lanes}) end = i + {DECIDED * lanes};"
        yield from (line for each in foldings for line in each.enter_blocks())
        in_memory = foldings and not any(each.in_registers for each in foldings)
        if in_memory and moving and stages.is_quick():
            yield from self._all_sets(stages, foldings, moving)
        yield from stages.enter_blocks()
        yield f"for (; i < end; i += {lanes}) {{"
        for operand in moving:
            yield f"char *q{operand.name} = w{operand.name} + i * {operand.size};"
        if one is self.busiest:
            for operand in self._coming():
                yield f"__builtin_prefetch(n{operand.name} + i * {operand.size});"
        yield from self._fetch_ahead(moving)
        yield from stages.loops(foldings)
        yield from (line for each in foldings for line in each.leave_block())
        yield "}"
        ends = [line for each in foldings for line in each.leave_end()] if lanes > 1 else []
        if ends:
            yield "if (i > full) {"
            yield from ends
            yield "}"
        if columns:
            yield "if (columns) {"
            yield from (line for each in foldings for line in each.lay_out())
            yield from (each.leave_columns() for each in foldings)
            yield from (line for each in foldings for line in each.start_again())
            yield "}"
        if may_stop:
            yield "if (i < n_inner) {"
            yield from (line for each in foldings for line in each.lay_out())
            yield f"if ({' && '.join(each.is_decided() for each in foldings)}) i = n_inner;"
            yield "}"
        if levels:
            yield f"if ({' || '.join(each.is_due() for each in levels)}) {{"
            yield from (line for each in foldings for line in each.lay_out())
            yield from (line for each in levels for line in each.carry())
            yield from (line for each in foldings for line in each.take_up())
            yield "}"
        yield "}"

    def _fetch_ahead(self, moving: list[Moving], blocks: int = 1) -> Iterator[str]:
        """Ask for memory that comes later where only one array is read: the processor reads several
        side by side as fast by itself.
        """
        read = [operand for operand in moving if operand.is_read and not operand.is_written]
        if self.tile > 1 or len(read) != 1:
            return
        [operand] = read
        for line in range(0, blocks * self.lanes * operand.size, BLOCK_BYTES):
            # Not behind a condition: a loop with branches may not be vectorised.
            yield f"__builtin_prefetch(q{operand.name} + {line} + ahead);"

    def _all_sets(
        self, stages: Stages, foldings: list[Folding], moving: list[Moving]
    ) -> Iterator[str]:
        """As many blocks at a time as there are sets."""
        wide = SETS * self.lanes
        yield f"if ({' && '.join(each.is_aligned() for each in foldings)})"
        yield f"for (; i + {wide} <= (end < full ? end : full); i += {wide}) {{"
        for operand in moving:
            yield f"char *q{operand.name} = w{operand.name} + i * {operand.size};"
        yield from self._fetch_ahead(moving, SETS)
        yield from stages.loops(foldings, SETS)
        yield "}"

    def _leave_row(self, foldings: list[Folding]) -> Iterator[str]:
        if not foldings:
            return
        row = "outer" if self.tile == 1 else "outer + r"
        yield from (line for each in foldings for line in each.leave_registers())
        for each in foldings:
            pointer = f"p{each.k}"
            if self.tile > 1 and each.goes_on:
                pointer = f"(p{each.k} + r * {self.strides[f'{each.k}']})"
            is_last = f"{row} == n_outer - 1"
            yield from each.leave_row(pointer=pointer, is_last=is_last)
