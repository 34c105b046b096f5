"""The C text of loop kernels.

A kernel walks its inner dimension in blocks of a fixed number of lanes. The loop over the lanes of
a block is the only one that the compiler has to vectorise, and since its length is known there is
no remainder loop: what is left at the end is copied to the stack, padded with its last element, and
goes through the same code. So an element's value never depends on where in an array it stands, and
half of the code that a vectoriser makes of an open loop, and half of its time, is saved.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frazil.link.c import partials
from frazil.link.c.element_loop import call_lines
from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit, literal_text, load, store
from frazil.link.element_loop import LoopCall, loop_calls
from frazil.link.kernel import LoopKernel, Scan, Statement, Status, Take, Write
from frazil.link.passes import Pass, plan
from frazil.link.reduction import COUNTING, LEVELS, SETS, TURNS, has_levels, is_fold

LIGHT = 4
"""The number of statements, none of them a function, up to which a pass is light."""


def add_kernel(unit: Unit, name: str, kernel: LoopKernel) -> None:
    """Append a kernel to the unit as the function ``name``."""
    unit.kernels.append("".join(f"{line}\n" for line in _KernelWriter(unit, kernel, name).lines()))


_IN_ROW = "(l < count ? l : count - 1)"
"""The lane of a block, or of those behind the end of a row the last one before."""


@dataclass(frozen=True, slots=True)
class _Moving:
    """An operand that moves along the inner dimension: a block of it starts at ``here``.

    A buffer has room for whole blocks, so the end of a row is no different there.
    """

    name: str
    dtype: str
    is_read: bool
    is_written: bool
    is_buffer: bool = False

    @property
    def here(self) -> str:
        return f"p{self.name} + i * {np.dtype(self.dtype).itemsize}"


@dataclass(frozen=True, slots=True)
class _Folding:
    """What is folded over the row: a write, which may go on from row to row, or a fold."""

    k: int
    write: Write
    goes_on: bool


class _KernelWriter:
    """Writes one kernel.

    In each pass over the row the statements fall into stages: those that can be vectorised have
    even numbers, the others odd ones, and each stage is a loop of its own over the lanes, so that
    one call of ``lgamma`` does not keep the rest from being vectorised. What a later stage needs of
    an earlier one goes through the stack. Writes belong to the last stage: when an output shares
    its memory with an operand, that has been read.
    """

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

    def _expression(self, statement: Statement) -> str:
        operands = [(self.texts[a], self.kernel.dtypes[a]) for a in statement.args]
        return self.unit.apply(statement.op, operands, statement.dtype)

    def lines(self) -> Iterator[str]:
        """The function, line by line."""
        kernel, passes = self.kernel, self.plan.passes
        least = "n_inner < 0" if kernel.takes_rows else "n_inner <= 0"
        yield f"i4 {self.name}(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {{"
        yield "i4 status = 0;"
        yield f"if (n_outer <= 0 || {least}) return status;"
        for k, operand in enumerate(kernel.pointers):
            yield f"char *p{operand} = ptr[{k}];"
        for k, value in enumerate(self.plan.buffers, len(kernel.pointers)):
            yield f"char *pb{value} = ptr[{k}];"
        for one in passes:
            for folding in self._folding(one):
                yield from self._declare_partials(folding)
        yield "for (i8 outer = 0; outer < n_outer; ++outer) {"
        for k, read in enumerate(kernel.reads):
            if not read.inner:
                yield f"const {C_TYPES[read.dtype]} v{k} = {load(read.dtype, f'p{k}', '0')};"
        for one in passes:
            for k in one.uniform:
                own = kernel.ops[k]
                if isinstance(own, Take):
                    yield from self._take(k, own, "0")
                elif k in self.calls:
                    yield from call_lines(self.unit, self.calls[k], k, self.texts, kernel.dtypes)
                else:
                    yield f"const {C_TYPES[own.dtype]} v{k} = {self.expressions[k]};"
            yield from self._pass(one)
        for k, write in enumerate(kernel.writes, self.n_reads):
            if not write.walks:
                if not kernel.uniform[write.value]:
                    raise ValueError("a write that does not move needs a value that does not")
                yield store(write.dtype, f"p{k}", "0", self._written(write))
        for k, operand in enumerate(kernel.pointers):
            if operand[0] not in "ghr":
                yield f"p{operand} += outer_stride[{k}];"
        yield "}"
        yield "return status;"
        yield "}"

    def _written(self, write: Write) -> str:
        """The expression of what is written, of the write's dtype."""
        text, own = self.texts[write.value], self.kernel.dtypes[write.value]
        return self.unit.convert(text, own, write.dtype)

    # ------------------------------------------------------------ passes

    def _folding(self, one: Pass) -> list[_Folding]:
        """What is folded in a pass."""
        kernel = self.kernel
        writes = [(self.n_reads + k, kernel.writes[k]) for k in one.writes]
        made = [_Folding(k, write, goes_on=True) for k, write in writes if is_fold(write)]
        for k in one.folds:
            fold = kernel.folds[k]
            write = Write(fold.arg, fold.dtype, inner=False, reduce=fold.reduce)
            made.append(_Folding(len(kernel.writes) + k, write, goes_on=False))
        return made

    def _moving(self, one: Pass) -> list[_Moving]:
        """What moves along the row in a pass."""
        kernel = self.kernel
        moving = [_Moving(f"{k}", kernel.reads[k].dtype, True, False) for k in one.reads]
        for k in one.writes:
            write = kernel.writes[k]
            if write.inner:
                name, is_read = f"{self.n_reads + k}", write.reduce is not None
                moving.append(_Moving(name, write.dtype, is_read, True))
        for k in (*one.loads, *one.stores):
            moving.append(_Moving(f"b{k}", kernel.dtypes[k], False, False, is_buffer=True))
        return moving

    def _pass(self, one: Pass) -> Iterator[str]:
        """One walk along the row, in blocks."""
        moving, folding = self._moving(one), self._folding(one)
        if not moving and not folding and not one.puts and not one.varying:
            return
        lanes = self.lanes
        yield "{"
        for each in folding:
            if not each.goes_on:
                yield from self._start_partials(each)
        for k, scan in self._scans(one):
            yield f"{C_TYPES[scan.dtype]} r{k} = {self.unit.identity(self._as_write(scan))};"
        yield "i8 i = 0;"
        if self._is_light(one, moving, folding):
            yield from self._strides(one, moving, folding)
        yield f"for (; i < n_inner; i += {lanes}) {{"
        for operand in moving:
            yield f"char *q{operand.name} = {operand.here};"
        for each in folding:
            k = each.k
            yield f"{C_TYPES[each.write.dtype]} *c{k} = a{k} + (blocks{k} & {SETS - 1}) * {lanes};"
        if lanes > 1:
            kind = partials.lane_type(lanes)
            yield f"const {kind} count = n_inner - i < {lanes} ? n_inner - i : {lanes};"
            yield from self._enter_end(moving)
        yield from self._stage_loops(one, lanes, has_end=lanes > 1)
        if lanes > 1:
            yield from self._leave_end(moving)
        yield from self._advance_partials(folding, 1)
        yield "}"
        yield "}"
        for each in folding:
            yield from self._end_partials(each)

    def _is_light(self, one: Pass, moving: list[_Moving], folding: list[_Folding]) -> bool:
        """Whether what is folded is had so cheaply that the time between blocks is felt."""
        if one.puts or self._stages(one)[1] > 0:
            return False
        rules = [own.op.rule for own in self._own_ops(one)]
        return bool(folding and moving) and len(rules) <= LIGHT and "float" not in rules

    def _scans(self, one: Pass) -> list[tuple[int, Scan]]:
        """The scans of a pass, by the number of their value."""
        made = ((k, self.kernel.ops[k]) for k in one.varying)
        return [(k, own) for k, own in made if isinstance(own, Scan)]

    @staticmethod
    def _as_write(scan: Scan) -> Write:
        """The write that folds as a scan does."""
        return Write(scan.args[0], scan.dtype, inner=False, reduce=scan.reduce)

    def _own_ops(self, one: Pass) -> list[Statement]:
        """The statements of a pass that apply scalar ops."""
        made = (self.kernel.ops[k] for k in one.varying)
        return [own for own in made if isinstance(own, Statement)]

    def _strides(self, one: Pass, moving: list[_Moving], folding: list[_Folding]) -> Iterator[str]:
        """As many blocks at once as there are sets, each to its own."""
        wide = SETS * self.lanes
        aligned = " && ".join(f"(blocks{each.k} & {SETS - 1}) == 0" for each in folding)
        yield f"if ({aligned})"
        yield f"for (; i + {wide} <= n_inner; i += {wide}) {{"
        for operand in moving:
            yield f"char *q{operand.name} = {operand.here};"
        for each in folding:
            yield f"{C_TYPES[each.write.dtype]} *c{each.k} = a{each.k};"
        yield from self._stage_loops(one, wide, has_end=False)
        yield from self._advance_partials(folding, SETS)
        yield "}"

    def _enter_end(self, moving: list[_Moving]) -> Iterator[str]:
        """Of less than a block: let operands be padded copies."""
        ending = [operand for operand in moving if not operand.is_buffer]
        if not ending:
            return
        for operand in ending:
            size = np.dtype(operand.dtype).itemsize
            yield f"ALIGNED u{size} e{operand.name}[{self.lanes}];"
        yield f"if (count < {self.lanes}) {{"
        for operand in ending:
            name = operand.name
            if operand.is_read:
                to, source = f"e{name}", f"q{name}"
                yield partials.pad(self.unit, operand.dtype, self.lanes, to, source, "count")
            yield f"q{name} = (char *)e{name};"
        yield "}"

    def _leave_end(self, moving: list[_Moving]) -> Iterator[str]:
        """Copy results back."""
        written = [operand for operand in moving if operand.is_written]
        if not written:
            return
        yield f"if (count < {self.lanes}) {{"
        for operand in written:
            yield partials.copy(operand.dtype, operand.here, f"e{operand.name}", "count")
        yield "}"

    # ------------------------------------------------------------ stages

    def _stages(self, one: Pass) -> tuple[dict[int, int], int]:
        """The stage of every value that a pass computes, and the last of them."""
        stages: dict[int, int] = {}
        for k in one.varying:
            statement = self.kernel.ops[k]
            own = tuple(self.kernel.dtypes[a] for a in statement.args)
            vector = False
            if isinstance(statement, Statement):
                _, vector = self.unit.form(statement.op, own, statement.dtype)
            earliest = max((stages.get(a, 0) for a in statement.args), default=0)
            if k in self.calls and any(a in stages for a in statement.args):
                earliest += 1  # it takes blocks of its operands
            stages[k] = earliest + (earliest % 2 == (1 if vector else 0))
        return stages, max(stages.values(), default=0)

    def _stage_loops(self, one: Pass, lanes: int, *, has_end: bool) -> Iterator[str]:
        """For every stage a loop over the lanes of a block."""
        kernel = self.kernel
        stages, last = self._stages(one)
        needed = self._needed(one, stages, last)
        put_stage = max(needed) if one.puts else -1
        kept = {
            k
            for k, own in stages.items()
            if k in self.calls
            or any(k in values for stage, values in needed.items() if stage > own)
        }
        for k in sorted(kept):
            yield f"ALIGNED {C_TYPES[kernel.dtypes[k]]} s{k}[{lanes}];"
        kind = partials.lane_type(lanes) if has_end else "i4"
        for stage in sorted(needed):
            begun = [
                self.calls[k]
                for k in sorted(needed[stage])
                if stages.get(k) == stage and k in self.calls
            ]
            for call in dict.fromkeys(begun):
                yield from self._call_loop_on_block(call, stages, lanes)
            if stage % 2 == 0 and lanes > 1:
                yield "#pragma omp simd"
            bound = "count" if stage == put_stage and has_end else lanes
            yield f"for ({kind} l = 0; l < {bound}; ++l) {{"
            for k in sorted(needed[stage]):
                dtype = kernel.dtypes[k]
                own = kernel.ops.get(k)
                if stages.get(k) == stage and isinstance(own, Take):
                    # Behind the end of a row there may be nothing.
                    inner = kernel.sources[own.source].inner and has_end
                    yield from self._take(k, own, f"(i + {_IN_ROW if inner else 'l'})")
                    value = ""
                elif stages.get(k) == stage and isinstance(own, Scan):
                    write = self._as_write(own)
                    folded = self.unit.fold(write, f"r{k}", self._written(write))
                    if has_end:  # behind the end the last value is repeated
                        folded = f"(l < count ? {folded} : r{k})"
                    yield f"r{k} = {folded};"
                    value = f"r{k}"
                elif k < self.n_reads:
                    value = load(dtype, f"q{k}", "l")
                elif k not in stages:
                    value = load(dtype, f"qb{k}", "l")
                elif stages[k] == stage and k not in self.calls:
                    value = self.expressions[k]
                else:
                    value = f"s{k}[l]"
                if value:
                    yield f"const {C_TYPES[dtype]} v{k} = {value};"
                if stages.get(k) == stage:
                    if k in kept and k not in self.calls:
                        yield f"s{k}[l] = v{k};"
                    if k in one.stores:
                        yield store(dtype, f"qb{k}", "l", f"v{k}")
            if stage == last:
                yield from self._write_lane(one, has_end=has_end)
            if stage == put_stage:
                yield from self._put_lane(one)
            yield "}"

    def _needed(self, one: Pass, stages: Mapping[int, int], last: int) -> dict[int, set[int]]:
        """For every stage, the varying values that it computes, loads or takes from the stack."""
        kernel = self.kernel
        needed: dict[int, set[int]] = {last: set()}
        for k in one.varying:
            here = needed.setdefault(stages[k], set())
            here.add(k)
            here.update(a for a in kernel.ops[k].args if not kernel.uniform[a])
        values = [kernel.writes[k].value for k in one.writes]
        values += [kernel.folds[k].arg for k in one.folds]
        needed[last].update(value for value in values if not kernel.uniform[value])
        if one.puts:
            # In a loop of its own, element by element, as far as the row goes.
            puts = [kernel.puts[k] for k in one.puts]
            values = [value for put in puts for value in (put.value, *put.args)]
            needed[last + 1 + last % 2] = {v for v in values if not kernel.uniform[v]}
        return needed

    # ------------------------------------------------------------ loops of elements

    def _call_loop_on_block(
        self, call: LoopCall, stages: Mapping[int, int], lanes: int
    ) -> Iterator[str]:
        """The loop for a block of elements: its results go to the stack."""
        kernel, first = self.kernel, call.numbers[0]
        same_count = kernel.uniform[call.args[0]]
        function = self.unit.loop(call.loop).block(lanes, call.results, same_count=same_count)
        blocks: list[tuple[str, str, str]] = []
        operands: list[str] = []
        for at, (a, to) in enumerate(zip(call.args, call.operands, strict=True)):
            if a < self.n_reads and not kernel.uniform[a]:
                text = load(kernel.dtypes[a], f"q{a}", "l")
            elif kernel.uniform[a]:
                text = self.texts[a]
            elif a in stages:
                text = f"s{a}[l]"
            else:
                text = load(kernel.dtypes[a], f"qb{a}", "l")
            value = self.unit.convert(text, kernel.dtypes[a], to)
            if at == 0 and same_count:
                operands.append(value)
                continue
            blocks.append((f"x{first}_{at}", C_TYPES[to], value))
            operands.append(f"x{first}_{at}")
        yield "{"
        for name, code, _ in blocks:
            yield f"ALIGNED {code} {name}[{lanes}];"
        yield "#pragma omp simd"
        yield f"for (i4 l = 0; l < {lanes}; ++l) {{"
        for name, _, value in blocks:
            yield f"{name}[l] = {value};"
        yield "}"
        yield f"{function}({', '.join([*operands, *(f's{k}' for k in call.numbers), '&status'])});"
        yield "}"

    # ------------------------------------------------------------ indices

    def _take(self, k: int, take: Take, element: str) -> Iterator[str]:
        """The element of a source, with checked indices."""
        source = self.kernel.sources[take.source]
        first = sum(each.indices for each in self.kernel.sources[: take.source])
        place = yield from self._place(f"{k}", f"g{take.source}", take.args, first)
        step = f" + {element} * ((const i8 *)pg{take.source})[0]" if source.inner else ""
        value = load(take.dtype, f"(px{take.source}{step} + {place})", "0")
        yield f"const {C_TYPES[take.dtype]} v{k} = {value};"

    def _put_lane(self, one: Pass) -> Iterator[str]:
        """What is put where indices say."""
        kernel = self.kernel
        first = sum(each.indices for each in kernel.sources)
        for k in one.puts:
            put = kernel.puts[k]
            place = yield from self._place(f"h{k}", f"h{k}", put.args, first)
            first += len(put.args)
            step = f" + (i + l) * ((const i8 *)ph{k})[0]" if put.inner else ""
            yield f"char *y{k} = py{k}{step} + {place};"
            own = kernel.dtypes[put.value]
            value = self.unit.convert(self.texts[put.value], own, put.dtype)
            if put.reduce is not None:
                write = Write(put.value, put.dtype, put.inner, put.reduce)
                value = self.unit.fold(write, load(put.dtype, f"y{k}", "0"), value)
            yield store(put.dtype, f"y{k}", "0", value)

    def _place(
        self, name: str, table: str, args: Sequence[int], first: int
    ) -> Generator[str, None, str]:
        """Lines that check indices; the offset in bytes of where they point."""
        offsets = []
        for j, argument in enumerate(args):
            index, own = f"n{name}_{j}", self.kernel.dtypes[argument]
            yield f"i8 {index} = {self.unit.convert(self.texts[argument], own, 'int64')};"
            length = f"((const i8 *)p{table})[{2 * j + 1}]"
            yield f"if ((u8){index} >= (u8){length}) {{"
            yield f"if ({index} >= 0 || {index} < -{length}) {{"
            yield f"((i8 *)preport)[0] = {first + j}; ((i8 *)preport)[1] = {index};"
            yield f"return {int(Status.OUT_OF_BOUNDS)};"
            yield "}"
            yield f"{index} += {length};"
            yield "}"
            offsets.append(f"{index} * ((const i8 *)p{table})[{2 * j + 2}]")
        return " + ".join(offsets)

    def _write_lane(self, one: Pass, *, has_end: bool) -> Iterator[str]:
        """Writes and reductions of one lane."""
        unit, kernel = self.unit, self.kernel
        for each in self._folding(one):
            write, k = each.write, each.k
            value = self._written(write)
            if has_end and write.reduce in COUNTING:
                # Padding is not counted; other reductions do not mind it.
                value = f"(l < count ? {value} : {unit.identity(write)})"
            yield f"c{k}[l] = {unit.fold(write, f'c{k}[l]', value)};"
        for position in one.writes:
            write, k = kernel.writes[position], self.n_reads + position
            if not write.inner:
                continue
            value = self._written(write)
            if write.reduce is not None:
                value = unit.fold(write, load(write.dtype, f"q{k}", "l"), value)
            yield store(write.dtype, f"q{k}", "l", value)

    # ------------------------------------------------------------ reductions of rows

    def _declare_partials(self, folding: _Folding) -> Iterator[str]:
        """The partial results of what is folded, and how many of them will be used."""
        k, write, lanes = folding.k, folding.write, self.lanes
        width = SETS * lanes
        code = C_TYPES[write.dtype]
        yield f"ALIGNED {code} a{k}[{width * (LEVELS if has_levels(write) else 1)}];"
        yield f"i8 blocks{k} = 0;"
        rows = ""
        if folding.goes_on:
            rows = f" * (outer_stride[{self.kernel.pointers.index(f'{k}')}] ? 1 : n_outer)"
        # A row without elements has one block of nothing but identities.
        yield f"const i8 total{k} = ((n_inner - 1) / {lanes} + 1){rows};"
        most = str(width)
        if has_levels(write):
            most = (
                f"total{k} < {SETS * TURNS} ? {width} : "
                f"total{k} < {SETS * TURNS**2} ? {2 * width} : {LEVELS * width}"
            )
        yield f"const i8 used{k} = total{k} < 3 ? {lanes} * total{k} : {most};"
        if folding.goes_on:
            yield from self._start_partials(folding)

    def _start_partials(self, folding: _Folding) -> Iterator[str]:
        k, write = folding.k, folding.write
        yield partials.fill(self.unit, write, self.lanes, f"a{k}", f"used{k}")
        yield f"blocks{k} = 0;"

    def _advance_partials(self, folding: list[_Folding], blocks: int) -> Iterator[str]:
        """Let the next block have the next set, and the next level what this one has gathered."""
        for each in folding:
            k, write = each.k, each.write
            yield f"blocks{k} += {blocks};"
            if has_levels(write):
                turns = SETS * TURNS
                yield f"if ((blocks{k} & {turns - 1}) == 0)"
                turn = f"blocks{k} / {turns}"
                yield partials.carry(self.unit, write, self.lanes, f"a{k}", turn)

    def _end_partials(self, folding: _Folding) -> Iterator[str]:
        """Fold the partial results: into the output where it moves on, or at the end."""
        k, write = folding.k, folding.write
        code = C_TYPES[write.dtype]
        folded = partials.fold(self.unit, write, self.lanes, f"a{k}", f"used{k}")
        if not folding.goes_on:
            value = k - len(self.kernel.writes)
            start = self.texts[self.kernel.folds[value].start]
            yield f"const {code} row{k} = {folded};"
            yield f"const {code} v{value} = {self.unit.fold(write, start, f'row{k}')};"
            return
        yield f"if (blocks{k} == total{k}) {{"
        yield f"const {code} so_far = {load(write.dtype, f'p{k}', '0')}, rows = {folded};"
        yield store(write.dtype, f"p{k}", "0", self.unit.fold(write, "so_far", "rows"))
        yield "if (outer < n_outer - 1) {"
        yield from self._start_partials(folding)
        yield "}}"
