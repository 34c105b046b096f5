"""Folds over rows, in C.

Where registers are as wide as a block, or half as wide and there are enough, the sets of partial
results are in registers along a row (:class:`RegisterFolding`): each block folds into the set that
has waited longest, and the sets rotate by one. So the first register holds now one, now another of
the sets of :mod:`frazil.link.kernel.reduction`, and float folds are told after how many elements.
At the end of a row the sets are folded to one, unless some were carried; only this one goes to
memory, where it waits for those of the other rows of a tile. Elsewhere the sets stay in memory,
each in its place (:class:`MemoryFolding`).

A folding folds all rows to one number (:class:`AllRows`), or each row to its own
(:class:`EachRow`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, memory_type, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.partials import Partials, carry, parts_of
from frazil.link.c.unit import Unit
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, Write
from frazil.link.kernel.reduction import (
    COUNTING,
    LEVELS,
    SETS,
    TURNS,
    has_levels,
    leaves_out_padding,
)

CARRIED = SETS * TURNS
"""The blocks after which float sums are carried."""

SHORT_REGISTERS = 16
"""The registers of 256 bits: half of them may hold sets, as the other values need some."""


class Folding(ABC):
    """The reduction of a write or a fold, number ``k``, whose partial results are at ``ak``.

    ``ends``: the blocks of the longest end of a row.
    """

    def __init__(
        self, unit: Unit, k: int, write: Write, lanes: int, rows: AllRows | EachRow, ends: int
    ):
        self.unit = unit
        self.k = k
        self.write = write
        self.lanes = lanes
        self.rows = rows
        self.ends = ends
        self.width = SETS * lanes
        self.type = C_TYPES[write.dtype]
        self.memory = memory_type(write.dtype)
        self.partials = Partials(unit, write, lanes)
        self.has_levels = has_levels(write)
        self.can_be_decided = write.dtype == "bool" and lanes > 1
        """Whether one value may decide the fold, as a true one does ``any``."""
        self.counts = lanes > 1 and leaves_out_padding(write)
        """Whether elements of the padding must not be folded."""

    @property
    @abstractmethod
    def few(self) -> int:
        """The number of partial results that a short row leaves."""

    @property
    @abstractmethod
    def sets(self) -> int:
        """The number of sets that a short row leaves."""

    def declare(self) -> Iterator[c.Statement]:
        """Declare the partial results, and how many of them are used."""
        k, total = self.k, self.rows.total(self.k)
        room = LEVELS * self.width if self.has_levels else self.width
        yield c.Array(self.memory, f"a{k}", max(room, self.few * self.rows.count))
        yield from self.rows.declare_total(k)
        used = f"{self.few}"
        if self.has_levels:
            first = CARRIED * self.lanes
            more = f"{total} < {first * TURNS} ? {2 * self.width} : {LEVELS * self.width}"
            used = f"{total} < {first} ? {self.few} : {more}"
        yield c.Const("i8", f"used{k}", used)

    @abstractmethod
    def start(self) -> c.Statement:
        """Set the partial results in memory to the identity."""

    @abstractmethod
    def enter_row(self) -> Iterable[c.Statement]:
        """Load the partial results, which are the identity unless they go on from row to row."""

    def enter_blocks(self) -> Iterable[c.Statement]:
        """Save the set of the last block, if the next ones are the end of the row."""
        return ()

    @abstractmethod
    def enter_block(self) -> Iterable[c.Statement]:
        """Let ``c`` be the lanes that the next block folds into."""

    @abstractmethod
    def fold_lane(self, value: str) -> c.Statement:
        """Fold the value of lane ``l``, which may be behind the end of the row."""

    def fold_inner_lane(self, value: str) -> c.Statement:
        """Fold the value of lane ``l``, which is before the end of the row."""
        lane = f"c{self.k}[l]"
        return c.Assign(lane, self.partials.fold(lane, value))

    def leave_block(self) -> Iterable[c.Statement]:
        """Rotate the sets, so that the next block has the next one."""
        return ()

    def leave_end(self) -> Iterable[c.Statement]:
        """Undo what the padding did to the set of the last block."""
        return ()

    @abstractmethod
    def spill(self) -> Iterable[c.Statement]:
        """Spill all sets to memory, at ``d``.

        All folds do so before any of them calls a function, and the compiler must not know what
        they reload: else it keeps sets in memory everywhere, to have them across the call.
        """

    def reload(self) -> Iterable[c.Statement]:
        """Load the spilled sets."""
        return ()

    @abstractmethod
    def reset(self) -> c.Statement:
        """Set the partial results to the identity in the middle of a row."""

    def store_sets(self) -> Iterable[c.Statement]:
        """Store the sets at the end of a row."""
        return ()

    @abstractmethod
    def shift(self, walked: str) -> str:
        """The number of elements that have moved the sets from their places by the end of a row."""

    def all_folded(self, walked: str) -> str:
        """The expression that folds the partial results of all rows to one."""
        return self.partials.all(f"a{self.k}", f"used{self.k}", self.shift(walked))

    def leave_row(self, element: Callable[[int], str], is_last: str) -> Iterable[c.Statement]:
        """Fold into the output if that moves on or no row follows.

        ``element`` gives the pointer to the element of a write.
        """
        return self.rows.leave_row(self, element, is_last)

    def leave_rows(self, count: str) -> Iterable[c.Statement]:
        """Fold the partial results of each row to one."""
        return self.rows.leave_rows(self, count)

    # ------------------------------------------------------------ pauses between blocks

    @property
    def walked(self) -> str:
        """The number of elements that were folded, with padding."""
        return self.rows.walked(self.k, "i")

    def is_decided(self) -> str:
        """Whether one of the spilled partial results decides the fold."""
        return self.partials.is_decided(f"d{self.k}", self.width // 8)

    def leave_columns(self) -> c.Statement:
        """Fold each spilled lane of the block before ``i`` into an output of its own."""
        to = f"({self.memory} *)p{self.k} + (i - {self.lanes})"
        count = f"(i <= n_inner ? {self.lanes} : rest)"
        return self.partials.columns(to, f"d{self.k}", count)

    def until_carried(self) -> str:
        """The next element of the row at which sums are carried."""
        every = CARRIED * self.lanes
        return f"i + {every} - ({self.walked} & {every - 1})"

    def is_due(self) -> str:
        """Whether it is time to carry sums."""
        return f"({self.walked} & {CARRIED * self.lanes - 1}) == 0"

    def carry(self) -> c.Statement:
        """Add the spilled sets to the sets of the next level, if it is time."""
        turns = f"{self.walked} / {CARRIED * self.lanes}"
        carried = carry(self.unit, self.write.dtype, f"a{self.k}", turns, self.width)
        return c.If(self.is_due(), [*self.store_spilled(), carried, *self.reset_spilled()])

    def store_spilled(self) -> Iterable[c.Statement]:
        """Store the spilled sets at the first level."""
        return ()

    def reset_spilled(self) -> Iterable[c.Statement]:
        """Set the spilled sets to the identity."""
        return ()


class AllRows:
    """Rows are folded to one number: the partial results go on from row to row.

    ``all_rows``: the expression of their number.
    """

    count = 1

    def __init__(self, all_rows: str) -> None:
        self._all_rows = all_rows

    def total(self, k: int) -> str:
        """The number of elements that will be folded, with padding."""
        return f"total{k}"

    def walked(self, k: int, along: str) -> str:
        """The number of elements folded so far, with padding; ``along`` of them in this row."""
        return f"(walked{k} + {along})"

    def declare_total(self, k: int) -> Iterator[c.Statement]:
        """Declare what :meth:`total` and :meth:`walked` name."""
        yield c.Const("i8", f"total{k}", f"whole * {self._all_rows}")
        yield c.Declare("i8", f"walked{k}", "0")

    def declare_results(self, folding: Folding) -> Iterator[c.Statement]:
        """Declare where results go."""
        yield c.Declare(folding.memory, f"*sets{folding.k}", f"a{folding.k}")
        yield folding.start()

    def point_to_sets(self, folding: MemoryFolding) -> Iterable[c.Statement]:
        """Point to the sets of the present row."""
        return ()

    def first_registers(self, folding: RegisterFolding) -> Sequence[str]:
        """The sets at the start of a row."""
        return folding.places(f"sets{folding.k}")

    def store_sets(self, folding: RegisterFolding) -> Iterable[c.Statement]:
        """Store the sets at the end of a row."""
        return _moves(folding.places(f"sets{folding.k}"), folding.registers)

    def sets_at(self, k: int) -> str:
        """The array of the sets."""
        return f"sets{k}"

    def joined_sets(self) -> int:
        """The number of sets that a short row leaves if they are in registers."""
        return SETS

    def leave_row(
        self, folding: Folding, element: Callable[[int], str], is_last: str
    ) -> Iterator[c.Statement]:
        """Fold into the output if that moves on or no row follows."""
        k, dtype, pointer = folding.k, folding.write.dtype, element(folding.k)
        folded = folding.all_folded(f"walked{k}")
        so_far = c.Const(folding.type, "so_far", load(dtype, pointer, "0"))
        one = c.Const(folding.type, "rows_folded", folded)
        both = folding.partials.fold("so_far", "rows_folded")
        again = [folding.start(), c.Assign(f"walked{k}", "0")]
        yield c.Assign(f"walked{k}", "whole", "+=")
        yield c.If(
            f"walked{k} == total{k}",
            [so_far, one, c.Assign(place(dtype, pointer, "0"), both), c.If(f"!({is_last})", again)],
        )

    def leave_rows(self, folding: Folding, count: str) -> Iterable[c.Statement]:
        return ()


class EachRow:
    """Each row is folded to a number of its own; ``count`` rows are taken at a time."""

    def __init__(self, count: int) -> None:
        self.count = count

    def total(self, k: int) -> str:
        """The number of elements that will be folded, with padding."""
        return "whole"

    def walked(self, k: int, along: str) -> str:
        """The number of elements folded so far, with padding; ``along`` of them in this row."""
        return along

    def declare_total(self, k: int) -> Iterable[c.Statement]:
        """Declare what :meth:`total` and :meth:`walked` name."""
        return ()

    def declare_results(self, folding: Folding) -> Iterator[c.Statement]:
        """Declare where results go."""
        yield c.Array(folding.type, f"row{folding.k}", self.count)

    def point_to_sets(self, folding: MemoryFolding) -> Iterator[c.Statement]:
        """Point to the sets of the present row."""
        own = f"a{folding.k}{self.offset(folding.width)}"
        yield c.Declare(folding.memory, f"*sets{folding.k}", own)
        yield folding.start()

    def first_registers(self, folding: RegisterFolding) -> Sequence[str]:
        """The sets at the start of a row."""
        return [folding.zero] * len(folding.registers)

    def store_sets(self, folding: RegisterFolding) -> Iterable[c.Statement]:
        """Store the sets at the end of a row, folded to one if the row is short."""
        joined = [*folding.join_sets(f"a{folding.k}{self.offset(folding.lanes)}")]
        if not folding.has_levels:
            return (c.Block(joined),)
        moved = [*_moves(folding.places(f"a{folding.k}"), folding.registers)]
        return (c.If(f"used{folding.k} != {folding.lanes}", moved, joined),)

    def sets_at(self, k: int) -> str:
        """The array of the sets."""
        return f"a{k}"

    def joined_sets(self) -> int:
        """The number of sets that a short row leaves if they are in registers."""
        return 1

    def leave_row(
        self, folding: Folding, element: Callable[[int], str], is_last: str
    ) -> Iterable[c.Statement]:
        """Nothing: the partial results wait for the other rows."""
        return ()

    def leave_rows(self, folding: Folding, count: str) -> Iterator[c.Statement]:
        k = folding.k
        rows = (f"row{k}", f"a{k}", count, f"used{k}", folding.shift("whole"))
        yield folding.partials.rows(*rows, sets=folding.sets)

    def offset(self, size: int) -> str:
        """The offset in the array of the partial results of the present row."""
        return f" + r * {size}" if self.count > 1 else ""


class MemoryFolding(Folding):
    """The sets stay in memory, each in its place."""

    sets = SETS

    @property
    def few(self) -> int:
        return self.width

    def declare(self) -> Iterator[c.Statement]:
        yield from super().declare()
        yield from self.rows.declare_results(self)

    def start(self) -> c.Statement:
        first = c.Assign(f"sets{self.k}[l]", f"({self.memory}){self.partials.identity()}")
        return c.lanes_loop(self.width, [first], pragma=c.simd(self.lanes))

    def enter_row(self) -> Iterable[c.Statement]:
        return self.rows.point_to_sets(self)

    def enter_block(self) -> Iterable[c.Statement]:
        lanes = f"sets{self.k} + ({self.walked} & {self.width - 1})"
        return (c.Declare(self.memory, f"*c{self.k}", lanes),)

    def enter_all_sets(self) -> c.Statement:
        """Let ``c`` be the lanes that the next blocks, one for each set, fold into."""
        return c.Declare(self.memory, f"*c{self.k}", f"sets{self.k}")

    def fold_lane(self, value: str) -> c.Statement:
        if self.write.reduce in COUNTING and self.counts:
            value = f"(i + l < n_inner ? {value} : {self.partials.identity()})"
        elif self.counts:
            lane = f"c{self.k}[l]"
            folded = self.partials.fold(lane, value)
            return c.Assign(lane, f"i + l < n_inner ? ({folded}) : {lane}")
        return self.fold_inner_lane(value)

    def is_aligned(self) -> str:
        """Whether the next block has the first set."""
        return f"({self.walked} & {self.width - 1}) == 0"

    def spill(self) -> Iterable[c.Statement]:
        return (c.Declare(self.memory, f"*d{self.k}", f"sets{self.k}"),)

    def reset(self) -> c.Statement:
        return self.start()

    def shift(self, walked: str) -> str:
        return "0"


class RegisterFolding(Folding):
    """The sets are in registers along a row, and move on by one with each block.

    A set takes a register, or several parts of it take one each. Names of parts end alike
    (``names``).
    """

    def __init__(
        self, unit: Unit, k: int, write: Write, lanes: int, rows: AllRows | EachRow, ends: int
    ):
        super().__init__(unit, k, write, lanes, rows, ends)
        self.parts = unit.parts(lanes * np.dtype(write.dtype).itemsize)
        self.vector = unit.vector(write.dtype, lanes // self.parts)
        self.zero = f"z{k}"
        self.registers = [own for turn in range(SETS) for own in self.names(f"m{k}_{turn}")]

    @property
    def few(self) -> int:
        return self.sets * self.lanes

    @property
    def sets(self) -> int:
        return self.rows.joined_sets()

    def names(self, name: str) -> list[str]:
        """The names of the parts of a block."""
        return [name] if self.parts == 1 else [f"{name}_{part}" for part in range(self.parts)]

    def block(self, array: str) -> list[str]:
        """The parts of a block in an array."""
        return parts_of(array, self.vector, self.parts)

    def places(self, array: str) -> list[str]:
        """The sets in an array."""
        return [f"(({self.vector} *){array})[{at}]" for at in range(SETS * self.parts)]

    def declare(self) -> Iterator[c.Statement]:
        yield from super().declare()
        zero = f"({self.memory}){self.partials.identity()} - ({self.vector}){{}}"
        yield c.Const(self.vector, self.zero, zero)
        yield from self.rows.declare_results(self)

    def start(self) -> c.Statement:
        return c.Assign(" = ".join(self.places(self.rows.sets_at(self.k))), self.zero)

    def enter_row(self) -> Iterator[c.Statement]:
        for own, first in zip(self.registers, self.rows.first_registers(self), strict=True):
            yield c.Declare(self.vector, own, first)

    def enter_blocks(self) -> Iterable[c.Statement]:
        if not self.counts:
            return ()
        parts = self.parts
        last = self.registers[:parts]
        if self.ends > 1:
            pairs = zip(self.registers[parts : 2 * parts], last, strict=True)
            last = [f"(padded > {self.lanes} ? {own} : {first})" for own, first in pairs]
        names = zip(self.names(f"before{self.k}"), last, strict=True)
        return [c.Const(self.vector, name, own) for name, own in names]

    def enter_block(self) -> Iterable[c.Statement]:
        block = _moves(self.block(f"c{self.k}"), self.registers[: self.parts])
        return (c.Array(self.memory, f"c{self.k}", self.lanes), *block)

    def fold_lane(self, value: str) -> c.Statement:
        return self.fold_inner_lane(value)

    def leave_block(self) -> Iterable[c.Statement]:
        next_sets = [*self.registers[self.parts :], *self.block(f"c{self.k}")]
        return _moves(self.registers, next_sets)

    def leave_end(self) -> Iterator[c.Statement]:
        if self.counts:
            yield from self.live_lanes("whole - n_inner")
            yield from self.keep_dead_lanes(self.registers[-self.parts :])

    def live_lanes(self, padding: str) -> Iterator[c.Statement]:
        """Let ``live`` be which lanes of a block with so much padding are elements."""
        lanes, size = self.lanes, np.dtype(self.write.dtype).itemsize
        table = f"first_{self._mask}" + (f"_of_{lanes}" if self.parts > 1 else "")
        ones, zeros = ", ".join(["-1"] * lanes), ", ".join(["0"] * lanes)
        self.unit.define(f"static const i{size} {table}[] = {{{ones}, {zeros}}};\n")
        for part, name in enumerate(self.names(f"live{self.k}")):
            start = f"{table} + {padding}" + (f" + {part * lanes // self.parts}" if part else "")
            yield c.Const(self._mask, name, f"*(const {self._mask}_at *)({start})")

    def keep_dead_lanes(self, last: Sequence[str]) -> Iterator[c.Statement]:
        """Undo what the padding did to a set, which ``before`` has as it was."""
        mask, k = self._mask, self.k
        befores, lives = self.names(f"before{k}"), self.names(f"live{k}")
        for own, before, live in zip(last, befores, lives, strict=True):
            kept = f"(({mask}){before} & ~{live})"
            yield c.Assign(own, f"({self.vector})((({mask}){own} & {live}) | {kept})")

    @property
    def _mask(self) -> str:
        size = np.dtype(self.write.dtype).itemsize
        return self.unit.vector(f"int{8 * size}", self.lanes // self.parts)

    def spill(self) -> Iterator[c.Statement]:
        array = f"d{self.k}"
        yield c.Array(self.memory, array, self.width)
        yield from _moves(self.places(array), self.registers)
        yield c.Do(f'__asm__ volatile("" : : "r"({array}) : "memory")')

    def reload(self) -> Iterable[c.Statement]:
        return _moves(self.registers, self.places(f"d{self.k}"))

    def reset(self) -> c.Statement:
        return c.Assign(" = ".join(self.registers), self.zero)

    def store_spilled(self) -> Iterable[c.Statement]:
        return _moves(self.places(self.rows.sets_at(self.k)), self.places(f"d{self.k}"))

    def reset_spilled(self) -> Iterable[c.Statement]:
        return (c.Assign(" = ".join(self.places(f"d{self.k}")), self.zero),)

    def store_sets(self) -> Iterable[c.Statement]:
        return self.rows.store_sets(self)

    def shift(self, walked: str) -> str:
        return walked

    def all_folded(self, walked: str) -> str:
        folded = super().all_folded(walked)
        if not self._is_arithmetic or not self.write.dtype.startswith("float"):
            return folded
        # Where each output takes one short row, a call would cost as much as the row.
        few = self.partials.few(f"a{self.k}", self.vector)
        return f"used{self.k} == {self.few} ? {few} : {folded}"

    @property
    def _is_arithmetic(self) -> bool:
        return self.write.reduce in COUNTING and self.write.dtype != "bool"

    def join_sets(self, to: str) -> Iterator[c.Statement]:
        """Fold the sets to one, which goes to an array."""
        if not self._is_arithmetic:
            yield from self._join_compared(to)
            return
        for part, own in enumerate(self.block(f"({to})")):
            yield c.Assign(own, self.partials.sets_joined(self.registers[part :: self.parts]))

    def _join_compared(self, to: str) -> Iterator[c.Statement]:
        lanes, partials = self.lanes, self.partials
        if self.write.dtype.startswith("float"):
            # The first of two zeros stays: each set goes to its place.
            yield c.Declare(self.vector, "x")
            by_one: list[c.Assign] = []
            by_two: list[c.Assign] = []
            for part in range(self.parts):
                first, second, third, fourth = self.registers[part :: self.parts]
                by_one += _rotation("x", fourth, third, second, first)
                by_two += (*_rotation("x", first, third), *_rotation("x", second, fourth))
            yield c.If(f"whole & {lanes}", by_one)
            yield c.If(f"whole & {2 * lanes}", by_two)
        for turn in range(SETS):
            yield c.Array(self.memory, f"f{turn}", lanes)
            own = self.registers[turn * self.parts : (turn + 1) * self.parts]
            yield from _moves(self.block(f"f{turn}"), own)
        even, odd = partials.fold("f0[l]", "f2[l]"), partials.fold("f1[l]", "f3[l]")
        joined = c.Assign(f"({to})[l]", partials.fold("even", "odd"))
        yield c.lanes_loop(lanes, [*partials.both(even, odd), joined], pragma=c.simd(lanes))


def foldings(
    unit: Unit, folds: Sequence[tuple[int, Write, AllRows | EachRow]], lanes: int, ends: int
) -> list[Folding]:
    """The folds of a pass, with their sets in registers where these are wide and many enough."""
    sizes = [lanes * np.dtype(write.dtype).itemsize for _, write, _ in folds]
    fits = [size <= BLOCK_BYTES and unit.register_bits >= 256 for size in sizes]
    if not unit.has_wide_registers:
        held = sum(SETS * unit.parts(size) for size, own in zip(sizes, fits, strict=True) if own)
        fits = [own and held <= SHORT_REGISTERS // 2 for own in fits]
    kinds = [RegisterFolding if own else MemoryFolding for own in fits]
    return [
        kind(unit, k, write, lanes, rows, ends)
        for kind, (k, write, rows) in zip(kinds, folds, strict=True)
    ]


def _moves(to: Iterable[str], of: Iterable[str]) -> list[c.Assign]:
    return [c.Assign(own, value) for own, value in zip(to, of, strict=True)]


def _rotation(spare: str, *names: str) -> list[c.Assign]:
    """Assign to each name the next one, and the first one to the last."""
    return _moves((spare, *names), (*names, spare))
