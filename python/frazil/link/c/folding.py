"""What a kernel folds over rows, as C.

Where registers are as wide as a block, the sets of partial results are in registers along a row:
each block folds into the set that has waited longest, and the sets move on by one. The one that
waits first is after so many elements another one of the sets of :mod:`frazil.link.reduction`, which
is why float folds are told how many elements there were. At the end of a row the sets become one,
unless some of them have been carried; only that goes to memory, where it waits for those of the
other rows of a tile. Elsewhere the sets stay in memory, each in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
        few = self.lanes if self._joins_sets else width
        room = max(LEVELS * width if levels else width, few * (1 if self.goes_on else self.rows))
        yield f"ALIGNED {code} a{k}[{room}];"
        total = "whole"
        if self.goes_on:
            yield f"const i8 total{k} = whole * {all_rows};"
            yield f"i8 walked{k} = 0;"
            total = f"total{k}"
        most = f"{few}"
        if levels:
            first = CARRIED * self.lanes
            most = (
                f"{total} < {first} ? {few} : "
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

    @property
    def _joins_sets(self) -> bool:
        """Whether the sets of a short row become one at its end."""
        return self.in_registers and not self.goes_on

    def _start(self) -> Iterator[str]:
        """Let the partial results be those of no elements."""
        if self.in_registers:
            yield f"{' = '.join(self._places())} = z{self.k};"
        else:
            yield partials.simd(self.lanes)
            yield f"for (i4 l = 0; l < {self._width}; ++l) sets{self.k}[l] = {self._identity()};"

    def enter_row(self) -> Iterator[str]:
        """Let the partial results be at hand: those of no elements, unless the row goes on."""
        if self.in_registers:
            start = self._places() if self.goes_on else [f"z{self.k}"] * SETS
            sets = (f"{own} = {value}" for own, value in zip(self._registers(), start, strict=True))
            yield f"{self._vector} {', '.join(sets)};"
            return
        if self.goes_on:
            return
        row = f" + r * {self._width}" if self.rows > 1 else ""
        yield f"{memory_type(self.write.dtype)} *sets{self.k} = a{self.k}{row};"
        yield from self._start()

    def enter_blocks(self) -> Iterator[str]:
        """Remember what the next block folds into, if it may be the end of the row."""
        if self._counts and self.in_registers:
            yield f"const {self._vector} before{self.k} = m{self.k}_0;"

    def _registers(self) -> Iterator[str]:
        """The sets in registers."""
        return (f"m{self.k}_{turn}" for turn in range(SETS))

    def _places(self) -> Iterator[str]:
        """Where the sets are in memory."""
        own = "sets" if self.goes_on else "a"
        return (f"(({self._vector} *){own}{self.k})[{turn}]" for turn in range(SETS))

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
        yield f"const {mask} live{k} = *(const {mask}_at *)({table} + {lanes} - rest);"
        before = f"(({mask})before{k} & ~live{k})"
        yield f"{last} = ({self._vector})((({mask}){last} & live{k}) | {before});"

    @property
    def can_be_decided(self) -> bool:
        """Whether one value may decide the fold, as a true one does ``any``."""
        return self.write.dtype == "bool" and self.lanes > 1

    def is_decided(self) -> str:
        """Whether one of the partial results, which are laid out, decides the fold."""
        return partials.is_decided(self.unit, self.write, f"d{self.k}", self._width // 8)

    def lay_out(self) -> Iterator[str]:
        """Let all sets be in memory, at ``d``.

        Those of all folds are laid out before anything is called, and the compiler may not know
        what comes back: what it keeps in a register across a call is in memory everywhere.
        """
        k, code = self.k, memory_type(self.write.dtype)
        if not self.in_registers:
            yield f"{code} *d{k} = sets{k};"
            return
        yield f"ALIGNED {code} d{k}[{self._width}];"
        yield _moves(self._laid_out(), self._registers())
        yield f'__asm__ volatile("" : : "r"(d{k}) : "memory");'

    def take_up(self) -> Iterator[str]:
        """Go on with the sets that are laid out."""
        if self.in_registers:
            yield _moves(self._registers(), self._laid_out())

    def _laid_out(self) -> Iterator[str]:
        return (f"(({self._vector} *)d{self.k})[{turn}]" for turn in range(SETS))

    def leave_columns(self) -> str:
        """Fold the lanes, which are laid out, of the block before ``i`` into an output each."""
        k, lanes = self.k, self.lanes
        code = memory_type(self.write.dtype)
        to = f"({code} *)p{k} + (i - {lanes})"
        count = f"(i <= n_inner ? {lanes} : rest)"
        return partials.fold_columns(self.unit, self.write, lanes, to, f"d{k}", count)

    def start_again(self) -> Iterator[str]:
        """Let the partial results be those of no elements in the middle of a row."""
        if self.in_registers:
            yield f"{' = '.join(self._registers())} = z{self.k};"
        else:
            yield from self._start()

    def until_carried(self) -> str:
        """The element of the row, from the present one on, where sums are carried."""
        every = CARRIED * self.lanes
        return f"i + {every} - ({self._walked('i')} & {every - 1})"

    def is_due(self) -> str:
        """Whether it is time to carry sums."""
        return f"(({self._walked('i')} & {CARRIED * self.lanes - 1}) == 0)"

    def carry(self) -> Iterator[str]:
        """Where it is time, add the sets, which are laid out, to those of the next level."""
        k, walked, code = self.k, self._walked("i"), C_TYPES[self.write.dtype]
        every = CARRIED * self.lanes
        self.unit.native(f"carry_{code}", "void", f"{code} *, i8, i8")
        yield f"if {self.is_due()} {{"
        if self.in_registers:
            yield _moves(self._places(), self._laid_out())
        yield f"carry_{code}(a{k}, {walked} / {every}, {self._width});"
        if self.in_registers:
            yield f"{' = '.join(self._laid_out())} = z{k};"
        yield "}"

    def leave_registers(self) -> Iterator[str]:
        """Let the sets be in memory at the end of a row; those of a row that does not go on become
        one.
        """
        if self._joins_sets:
            yield from self._join_sets()
        elif self.in_registers:
            yield _moves(self._places(), self._registers())

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

    def _join_sets(self) -> Iterator[str]:
        k, lanes, write = self.k, self.lanes, self.write
        if self.has_levels:
            yield f"if (used{k} != {lanes}) {{"
            yield _moves(self._places(), self._registers())
            yield "} else {"
        else:
            yield "{"
        row = f" + r * {lanes}" if self.rows > 1 else ""
        if write.reduce in COUNTING and write.dtype != "bool":
            # In whichever place the sets are, the same two are added.
            symbol = "+" if write.reduce == "add" else "*"
            first, second, third, fourth = self._registers()
            folded = f"({first} {symbol} {third}) {symbol} ({second} {symbol} {fourth})"
            yield f"*({self._vector} *)(a{k}{row}) = {folded};"
        else:
            yield from self._join_compared(f"(a{k}{row})")
        yield "}"

    def _join_compared(self, to: str) -> Iterator[str]:
        lanes, write = self.lanes, self.write
        if write.dtype.startswith("float"):
            # Of two zeros it is the first that stays: each set goes to its place.
            first, second, third, fourth = self._registers()
            yield f"{self._vector} x;"
            yield f"if (whole & {lanes}) {{"
            yield f"x = {fourth}; {fourth} = {third}; {third} = {second}; {second} = {first};"
            yield f"{first} = x;"
            yield "}"
            yield f"if (whole & {2 * lanes}) {{"
            yield f"x = {first}; {first} = {third}; {third} = x;"
            yield f"x = {second}; {second} = {fourth}; {fourth} = x;"
            yield "}"
        code = memory_type(write.dtype)
        for turn, own in enumerate(self._registers()):
            yield f"ALIGNED {code} f{turn}[{lanes}]; *({self._vector} *)f{turn} = {own};"
        even = self.unit.fold(write, "f0[l]", "f2[l]")
        odd = self.unit.fold(write, "f1[l]", "f3[l]")
        yield partials.simd(lanes)
        yield f"for (i4 l = 0; l < {lanes}; ++l) {{"
        yield f"const {C_TYPES[write.dtype]} even = {even}, odd = {odd};"
        yield f"{to}[l] = {self.unit.fold(write, 'even', 'odd')};"
        yield "}"

    def _shift(self, walked: str) -> str:
        """After how many elements the sets stand where they do."""
        return walked if self.in_registers else "0"

    def leave_rows(self, count: str) -> Iterator[str]:
        """Fold the partial results of each row to one."""
        if not self.goes_on:
            k, shift = self.k, self._shift("whole")
            rows = (f"row{k}", f"a{k}", count, f"used{k}", shift)
            sets = 1 if self._joins_sets else SETS
            yield partials.fold_rows(self.unit, self.write, self.lanes, *rows, sets=sets)


def _moves(to: Iterable[str], of: Iterable[str]) -> str:
    return " ".join(f"{place} = {value};" for place, value in zip(to, of, strict=True))
