"""What a kernel folds over rows, as C.

Where registers are as wide as a block, the sets of partial results are in registers along a row:
each block folds into the set that has waited longest, and the sets move on by one. Where the walk
pauses they are in memory, the one that waits first: after so many elements that is another one of
the sets of :mod:`frazil.link.reduction`, which is why float folds are told how many elements there
were. Elsewhere the sets stay in memory, each in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from frazil.link.c import partials
from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit, load, memory_type, store
from frazil.link.kernel import BLOCK_BYTES, Write
from frazil.link.reduction import COUNTING, LEVELS, SETS, TURNS, has_levels

DECIDED = 128
"""The blocks after which it is asked whether a fold of bools can still change."""

CARRIED = SETS * TURNS
"""The blocks after which float sums are carried."""


@dataclass(frozen=True, slots=True)
class Folding:
    """A write or a fold, number ``k``; a write may go on from row to row.

    ``rows``: how many rows are taken at a time, each with partial results of its own.
    """

    unit: Unit
    k: int
    write: Write
    lanes: int
    goes_on: bool
    rows: int

    @property
    def _vector(self) -> str:
        return self.unit.vector(self.write.dtype, self.lanes)

    @property
    def _width(self) -> int:
        return SETS * self.lanes

    @property
    def has_levels(self) -> bool:
        return has_levels(self.write)

    def _walked(self, along: str) -> str:
        """How many elements were folded, padding included; the present row had some of them."""
        return f"(walked{self.k} + {along})" if self.goes_on else along

    def declare(self, all_rows: str) -> Iterator[str]:
        """The partial results, and how many will be used; ``all_rows``: of how many rows."""
        k, width, levels = self.k, self._width, self.has_levels
        code = memory_type(self.write.dtype)
        room = width * max(LEVELS if levels else 1, 1 if self.goes_on else self.rows)
        yield f"ALIGNED {code} a{k}[{room}];"
        total = "whole"
        if self.goes_on:
            yield f"const i8 total{k} = whole * {all_rows};"
            yield f"i8 walked{k} = 0;"
            total = f"total{k}"
        most = f"{width}"
        if levels:
            first = CARRIED * self.lanes
            most = (
                f"{total} < {first} ? {width} : "
                f"{total} < {first * TURNS} ? {2 * width} : {LEVELS * width}"
            )
        yield f"const i8 used{k} = {most};"
        if self.in_registers:
            yield f"const {self._vector} z{k} = {self._identity()} - ({self._vector}){{}};"
        if self.goes_on:
            yield f"{code} *sets{k} = a{k};"
            yield from self._start()
        else:
            yield f"ALIGNED {C_TYPES[self.write.dtype]} row{k}[{self.rows}];"

    @property
    def in_registers(self) -> bool:
        """Whether the sets are in registers along a row."""
        block = self.lanes * np.dtype(self.write.dtype).itemsize
        return self.unit.has_wide_registers and block <= BLOCK_BYTES

    def _start(self) -> Iterator[str]:
        """Let the partial results be those of no elements."""
        if self.in_registers:
            yield f"{' = '.join(self._places())} = z{self.k};"
        else:
            yield partials.simd(self.lanes)
            yield f"for (i4 l = 0; l < {self._width}; ++l) sets{self.k}[l] = {self._identity()};"

    def enter_row(self) -> Iterator[str]:
        """Let the partial results be those of no elements, unless the row goes on."""
        if self.goes_on:
            return
        row = f" + r * {self._width}" if self.rows > 1 else ""
        yield f"{memory_type(self.write.dtype)} *sets{self.k} = a{self.k}{row};"
        yield from self._start()

    def enter_blocks(self) -> Iterator[str]:
        """Let the sets be in registers."""
        if self.in_registers:
            sets = (f"m{self.k}_{turn} = {place}" for turn, place in enumerate(self._places()))
            yield f"{self._vector} {', '.join(sets)};"

    def leave_blocks(self) -> Iterator[str]:
        """Let the sets be in memory."""
        if self.in_registers:
            for turn, place in enumerate(self._places()):
                yield f"{place} = m{self.k}_{turn};"

    def _places(self) -> Iterator[str]:
        """Where the sets are in memory."""
        for turn in range(SETS):
            yield f"(({self._vector} *)sets{self.k})[{turn}]"

    def _identity(self) -> str:
        return f"({memory_type(self.write.dtype)}){self.unit.identity(self.write)}"

    @property
    def _counts(self) -> bool:
        """Whether it matters what the padding of a row's end holds."""
        return self.lanes > 1 and self.write.reduce in COUNTING

    def enter_block(self) -> str:
        """Let ``c`` be the lanes that the next block folds into."""
        k, code = self.k, memory_type(self.write.dtype)
        if self.in_registers:
            return f"ALIGNED {code} c{k}[{self.lanes}]; *({self._vector} *)c{k} = m{k}_0;"
        return f"{code} *c{k} = sets{k} + ({self._walked('i')} & {self._width - 1});"

    def enter_all_sets(self) -> str:
        """Let ``c`` be the lanes that the next blocks, one for each set, fold into."""
        return f"{memory_type(self.write.dtype)} *c{self.k} = sets{self.k};"

    def is_aligned(self) -> str:
        """Whether the next block has the first set."""
        return f"({self._walked('i')} & {self._width - 1}) == 0"

    def fold_lane(self, value: str, *, has_end: bool) -> str:
        """Fold the value of lane ``l``, which may be behind the end of the row."""
        k = self.k
        if has_end and self._counts and not self.in_registers:
            value = f"(i + l < n_inner ? {value} : {self.unit.identity(self.write)})"
        return f"c{k}[l] = {self.unit.fold(self.write, f'c{k}[l]', value)};"

    def leave_block(self) -> Iterator[str]:
        """Let the next block have the next set."""
        if self.in_registers:
            k = self.k
            for turn in range(SETS - 1):
                yield f"m{k}_{turn} = m{k}_{turn + 1};"
            yield f"m{k}_{SETS - 1} = *({self._vector} *)c{k};"

    def leave_end(self) -> Iterator[str]:
        """Let the padding not count."""
        if not self._counts or not self.in_registers:
            return
        k, lanes = self.k, self.lanes
        size = np.dtype(self.write.dtype).itemsize
        mask = self.unit.vector(f"int{8 * size}", lanes)
        table = f"first_{mask}"
        ones, zeros = ", ".join(["-1"] * lanes), ", ".join(["0"] * lanes)
        self.unit.define(f"static const i{size} {table}[] = {{{ones}, {zeros}}};\n")
        last = f"m{k}_{SETS - 1}"
        # A block of its own: what it was folded into is still in memory.
        before = f"(({mask} *)sets{k})[0]"
        yield f"const {mask} live{k} = *(const {mask}_at *)({table} + {lanes} - rest);"
        yield f"{last} = ({self._vector})((({mask}){last} & live{k}) | ({before} & ~live{k}));"

    @property
    def can_be_decided(self) -> bool:
        """Whether one value may decide the fold, as a true one does ``any``."""
        return self.write.dtype == "bool" and self.lanes > 1

    def is_decided(self) -> str:
        """Whether one of the partial results, which are in memory, decides the fold."""
        sets = f"sets{self.k}"
        return partials.is_decided(self.unit, self.write, sets, self._width // 8)

    def leave_columns(self) -> Iterator[str]:
        """Fold the lanes of the block before ``i`` into an output each."""
        k, lanes = self.k, self.lanes
        code = memory_type(self.write.dtype)
        to = f"({code} *)p{k} + (i - {lanes})"
        count = f"(i <= n_inner ? {lanes} : rest)"
        yield partials.fold_columns(self.unit, self.write, lanes, to, f"sets{k}", count)
        yield from self._start()

    def until_carried(self) -> str:
        """The element of the row, from the present one on, where sums are carried."""
        every = CARRIED * self.lanes
        return f"i + {every} - ({self._walked('i')} & {every - 1})"

    def carry(self) -> str:
        """Where it is time, add the sets to those of the next level."""
        k, walked, code = self.k, self._walked("i"), C_TYPES[self.write.dtype]
        every = CARRIED * self.lanes
        self.unit.native(f"carry_{code}", "void", f"{code} *, i8, i8")
        due = f"if (({walked} & {every - 1}) == 0)"
        return f"{due} carry_{code}(a{k}, {walked} / {every}, {self._width});"

    def leave_row(self, *, pointer: str, is_last: str) -> Iterator[str]:
        """Fold into the output where that moves on or nothing follows."""
        if not self.goes_on:
            return
        k, write, unit = self.k, self.write, self.unit
        code = C_TYPES[write.dtype]
        folded = partials.fold(
            unit, write, self.lanes, f"a{k}", f"used{k}", self._shift(f"walked{k}")
        )
        yield f"walked{k} += whole;"
        yield f"if (walked{k} == total{k}) {{"
        yield f"const {code} so_far = {load(write.dtype, pointer, '0')}, rows_folded = {folded};"
        yield store(write.dtype, pointer, "0", unit.fold(write, "so_far", "rows_folded"))
        yield f"if (!({is_last})) {{"
        yield from self._start()
        yield f"walked{k} = 0;"
        yield "}}"

    def _shift(self, walked: str) -> str:
        """After how many elements the sets stand where they do."""
        return walked if self.in_registers else "0"

    def leave_rows(self, count: str) -> Iterator[str]:
        """Fold the partial results of each row to one."""
        if not self.goes_on:
            k, shift = self.k, self._shift("whole")
            rows = (f"row{k}", f"a{k}", count, f"used{k}", shift)
            yield partials.fold_rows(self.unit, self.write, self.lanes, *rows)
