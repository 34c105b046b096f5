"""The last pass of a tile of short rows, in C: block after block, each through all its rows.

Rows are gathered into results. If the pass went row by row, it would load and store these results
once a row, and each row would wait for the stores of the one before. Here they are in registers for
a whole tile. Within a block the rows follow each other, so each element of a result is folded in
the same order as row by row, and so is each lane of a fold of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from frazil.link.c import syntax as c
from frazil.link.c.functions import C_TYPES
from frazil.link.c.lanes import BlockWriter
from frazil.link.c.operands import Moving
from frazil.link.c.partials import carry, parts_of
from frazil.link.c.row_folds import CARRIED, Folding, RegisterFolding
from frazil.link.c.stages import Stages
from frazil.link.c.walk import Frame
from frazil.link.kernel.loop_kernel import BLOCK_BYTES
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import SETS
from frazil.link.kernel.tiles import TILE, gathers_rows


class TileFolding:
    """A fold of all rows during a tile: each block folds into its set in memory.

    A tile is a whole number of turns of the sets, so each set is in its place before and after it.
    """

    def __init__(self, along_rows: RegisterFolding) -> None:
        self.along_rows = along_rows
        self.k = along_rows.k
        self.write = along_rows.write

    def enter_tile(self) -> Iterator[c.Statement]:
        """Find the set of the first row's block, and which of its lanes are elements."""
        own, k = self.along_rows, self.k
        yield c.Declare("i8", f"set{k}", f"{own.walked} & {SETS * TILE - 1}")
        if own.counts:
            yield from own.live_lanes(f"(i + {TILE} > n_inner ? whole - n_inner : 0)")

    def enter_block(self) -> Iterator[c.Statement]:
        """Let ``c`` be the lanes that the block of the present row folds into."""
        own, k = self.along_rows, self.k
        yield c.Declare(own.memory, f"*c{k}", f"sets{k} + set{k}")
        if own.counts:
            names = zip(own.names(f"before{k}"), own.block(f"c{k}"), strict=True)
            yield from (c.Const(own.vector, name, at) for name, at in names)

    def fold_lane(self, value: str) -> c.Statement:
        """Fold the value of lane ``l``."""
        return self.along_rows.fold_lane(value)

    def leave_block(self) -> Iterator[c.Statement]:
        """Undo what the padding did to the set, and go on to that of the next row."""
        own, k = self.along_rows, self.k
        if own.counts:
            yield from own.keep_dead_lanes(own.block(f"c{k}"))
        yield c.Assign(f"set{k}", f"(set{k} + whole) & {SETS * TILE - 1}")

    def leave_tile(self, element: str) -> Iterator[c.Statement]:
        """Carry sums, and fold into the output if no row follows."""
        own, k = self.along_rows, self.k
        yield c.Assign(f"walked{k}", f"{TILE - 1} * whole", "+=")
        if own.has_levels:
            turns = f"{own.walked} / {CARRIED * TILE}"
            carried = carry(own.unit, own.write.dtype, f"a{k}", turns, own.width)
            yield c.If(own.is_due(), [carried, own.start()])
        yield from own.leave_row(lambda _: element, f"outer + {TILE} == n_outer")


class TileBlocks:
    """The way of the last pass of a kernel through a full tile of short rows."""

    def __init__(self, frame: Frame, row_pass: Pass, foldings: Sequence[RegisterFolding]) -> None:
        self.values = frame.values
        self.operands = frame.operands
        self.rows = frame.rows
        self.row_pass = row_pass
        self.parts = frame.values.unit.parts(BLOCK_BYTES)
        self.foldings = [TileFolding(each) for each in foldings]
        moving = frame.operands.of_pass(row_pass)
        self.gathering = [each for each in moving if _gathers(each)]
        self.others = [each for each in moving if not _gathers(each)]

    @property
    def condition(self) -> str:
        """Whether all rows go to the same elements."""
        names = [each.name for each in self.gathering]
        names += [f"{each.k}" for each in self.foldings]
        return " && ".join(f"!{self.operands.stride(name)}" for name in names)

    def walk(self) -> Iterator[c.Statement]:
        """The blocks of the rows of the present tile."""
        stages = Stages(self.values, self.row_pass)
        block = BlockWriter(self.values, self.row_pass, stages, self.foldings)
        one_row = [
            *self.rows.load_uniform(stages.used_values()),
            *(c.Declare("char", f"*q{own.name}", f"row{own.name}") for own in self.others),
            *(own for each in self.gathering for own in self._enter(each)),
            *block.one_block(),
            *(own for each in self.gathering for own in self._moves(each, of=self._copy(each))),
            *(own for each in self.foldings for own in each.leave_block()),
            *(c.Assign(f"row{own.name}", f"next{own.name}", "+=") for own in self.others),
        ]
        yield from block.before_blocks()
        body = [
            *(own for each in self.others for own in self._start(each)),
            *(own for each in self.gathering for own in self._load(each)),
            *(own for each in self.foldings for own in each.enter_tile()),
            c.For("i8 r = 0", f"r < {TILE}", "++r", one_row),
            *(own for each in self.gathering for own in self._moves(each, to=self._place(each))),
        ]
        yield c.For("i8 i = 0", "i < n_inner", f"i += {TILE}", body)
        if self.foldings:
            left = [own for each in self.foldings for own in each.leave_tile(f"p{each.k}")]
            yield c.Block([c.Const("i8", "i", "whole"), *left])

    def _vector(self, operand: Moving) -> str:
        return self.values.unit.vector(operand.dtype, TILE // self.parts)

    def _registers(self, operand: Moving) -> list[str]:
        """The registers of the block of the elements into which all rows are gathered."""
        name = f"g{operand.name}"
        return [name] if self.parts == 1 else [f"{name}_{part}" for part in range(self.parts)]

    def _copy(self, operand: Moving) -> list[str]:
        """Their places where the present row looks for such a block."""
        return parts_of(f"c{operand.name}", self._vector(operand), self.parts)

    def _place(self, operand: Moving) -> list[str]:
        """Their places in memory."""
        return parts_of(f"to{operand.name}", f"{self._vector(operand)}_at", self.parts)

    def _moves(
        self, operand: Moving, *, to: Sequence[str] = (), of: Sequence[str] = ()
    ) -> Iterator[c.Statement]:
        """Move the registers to places, or places to the registers."""
        own = self._registers(operand)
        for place, value in zip(to or own, of or own, strict=True):
            yield c.Assign(place, value)

    def _load(self, operand: Moving) -> Iterator[c.Statement]:
        """Load such a block."""
        name = operand.name
        start = f"(rest ? (char *)e{name} : p{name}) + i * {operand.size}"
        yield c.Declare("char", f"*to{name}", start)
        for own, place in zip(self._registers(operand), self._place(operand), strict=True):
            yield c.Declare(self._vector(operand), own, place)

    def _enter(self, operand: Moving) -> Iterator[c.Statement]:
        """Let the lanes of such a block be where the present row looks for them."""
        name = operand.name
        yield c.Array(C_TYPES[operand.dtype], f"c{name}", TILE)
        yield from self._moves(operand, to=self._copy(operand))
        yield c.Declare("char", f"*q{name}", f"(char *)c{name}")

    def _start(self, operand: Moving) -> Iterator[c.Statement]:
        """Point to the block of the first row, and find the bytes to that of the next one."""
        name, stride = operand.name, self.operands.stride(operand.name)
        start, step = f"p{name}", stride
        if not operand.is_buffer:
            # A row of two blocks that has an end is copied as a whole.
            start = f"(rest ? (char *)e{name} : p{name})"
            step = f"rest ? padded * {operand.size} : {stride}"
        yield c.Declare("char", f"*row{name}", f"{start} + i * {operand.size}")
        yield c.Const("i8", f"next{name}", step)


def _gathers(operand: Moving) -> bool:
    """Whether rows are gathered into an operand."""
    return operand.is_read and operand.is_written


def tile_blocks(frame: Frame, row_pass: Pass, foldings: Sequence[Folding]) -> TileBlocks | None:
    """The way of a pass through a tile; None if it goes along the rows.

    It pays where rows are gathered into one.
    """
    registers = [each for each in foldings if isinstance(each, RegisterFolding)]
    values = frame.values
    can_fail = any(map(values.can_fail, row_pass.varying))
    if len(registers) < len(foldings) or can_fail or not gathers_rows(values.kernel, row_pass):
        return None
    made = TileBlocks(frame, row_pass, registers)
    sizes = [each.size for each in (*made.gathering, *made.others)]
    sizes += [np.dtype(each.write.dtype).itemsize for each in registers]
    return made if all(size * TILE == BLOCK_BYTES for size in sizes) else None
