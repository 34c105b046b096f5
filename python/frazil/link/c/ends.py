"""The ends of rows, in C: what is left of a row after its whole blocks.

It is copied to the stack, padded with its last element, and goes through the same code as a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.operands import Moving, Operands
from frazil.link.c.rows import Rows
from frazil.link.c.values import Values


class Ends:
    """How a kernel treats the ends of its rows: there are none where blocks have one element."""

    def __init__(self, values: Values, operands: Operands, rows: Rows) -> None:
        self.values = values
        self.operands = operands
        self.rows = rows
        self.lanes = values.kernel.lanes

    def declare_lengths(self) -> Iterator[c.Statement]:
        """``full``: the elements of whole blocks; ``whole``: those of a row with its padding."""
        yield c.Const("i8", "full", "n_inner")
        yield c.Const("i8", "whole", "n_inner")

    def declare(self) -> Iterable[c.Statement]:
        """Room for copies of the ends of rows."""
        return ()

    def enter_row(self) -> Iterable[c.Statement]:
        """Find out whether the end of the row is copied."""
        return ()

    def enter(self) -> Iterable[c.Statement]:
        """Copy the ends of rows."""
        return ()

    def leave(self) -> Iterable[c.Statement]:
        """Copy results back."""
        return ()

    def turn_block(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Point to the copies if the present block is the end of the row."""
        return ()

    def turn_row(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Point to the copies if no whole blocks are left."""
        return ()

    def after_end(self, statements: Sequence[c.Statement]) -> Iterable[c.Statement]:
        """Statements for the end of the row only."""
        return ()


class CopiedEnds(Ends):
    """The end of each row is copied."""

    is_copied = "rest"
    is_end = "i == full"

    def declare_lengths(self) -> Iterator[c.Statement]:
        yield c.Const("i8", "full", f"n_inner & -{self.lanes}")
        yield c.Const("i8", "rest", "n_inner - full")
        yield c.Const("i8", "whole", f"full + (rest ? {self.lanes} : 0)")

    def declare(self) -> Iterator[c.Statement]:
        for each in self.operands.moving:
            yield c.Array(f"u{each.size}", f"e{each.name}", self.lanes * self.rows.most)

    def enter(self) -> Iterator[c.Statement]:
        rows = f"outer, {self.rows.count}, rest, {self.lanes}"
        copies: list[c.Statement] = []
        for each, end, stride in self._ends():
            if each.is_read:
                copy = self._call("pad_ends", each, 5, f"e{each.name}, {end}, {stride}, {rows}")
                # What is the same for all rows is there already.
                copies.append(c.If(f"{stride} || !outer", [copy]))
        if copies:
            yield c.If(self.is_copied, copies)

    def leave(self) -> Iterator[c.Statement]:
        rows = f"{self.rows.count}, rest, {self.lanes}"
        copies: list[c.Statement] = []
        for each, end, stride in self._ends():
            if each.is_written:
                copy = self._call("copy_ends", each, 4, f"{end}, e{each.name}, {stride}, {rows}")
                # What all rows add to waits for the last one.
                is_last = f"outer + {self.rows.count} >= n_outer"
                copies.append(c.If(f"{stride} || {is_last}", [copy]) if each.is_read else copy)
        if copies:
            yield c.If(self.is_copied, copies)

    def turn_block(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        ends = [
            c.Assign(f"q{each.name}", self.rows.end(each)) for each in moving if not each.is_buffer
        ]
        yield c.If(self.is_end, ends)

    def turn_row(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        starts = [
            c.Assign(f"w{each.name}", f"{self.rows.end(each)} - full * {each.size}")
            for each in moving
            if not each.is_buffer
        ]
        yield c.If("i == full", [c.Assign("end", "n_inner"), *starts])

    def after_end(self, statements: Sequence[c.Statement]) -> Iterator[c.Statement]:
        if statements:
            yield c.If("i > full", statements)

    def _call(self, name: str, operand: Moving, numbers: int, arguments: str) -> c.Do:
        """Call a function of the runtime that copies ends; it takes so many numbers."""
        own = f"{name}_{8 * operand.size}"
        operands = ", ".join(["void *", "const void *", *["i8"] * numbers])
        self.values.unit.native(own, "void", operands)
        return c.Do(f"{own}({arguments})")

    def _ends(self) -> Iterator[tuple[Moving, str, str]]:
        """The operands that move along the row, the pointers to their ends, and their strides."""
        for each in self.operands.moving:
            yield each, f"p{each.name} + full * {each.size}", self.operands.stride(each.name)


class OverlappingEnds(CopiedEnds):
    """The last block of a row goes on into the next rows, whose turn comes after, where rows lie
    without gaps and nothing is written over an operand.
    """

    is_copied = "rest && !overlaps"
    is_end = "i == full && !overlaps"

    def declare(self) -> Iterator[c.Statement]:
        yield from super().declare()
        moving = self.operands.moving
        conditions = [
            f"({self.operands.stride(each.name)} == n_inner * {each.size})" for each in moving
        ]
        read = [each.name for each in moving if each.is_read]
        written = [each.name for each in moving if each.is_written]
        conditions += [f"(p{to} != p{of})" for to in written for of in read]
        # With && there would be branches, which take long to compile.
        yield c.Const("b1", "dense", f"(rest != 0) & {' & '.join(conditions)}")

    def enter_row(self) -> Iterator[c.Statement]:
        needed = f"full + {self.lanes}"
        yield c.Const("b1", "overlaps", f"dense && (n_outer - outer) * n_inner >= {needed}")


def ends_of(values: Values, operands: Operands, rows: Rows) -> Ends:
    """How a kernel treats the ends of its rows."""
    if values.kernel.lanes == 1:
        return Ends(values, operands, rows)
    return (OverlappingEnds if _may_overlap(values) else CopiedEnds)(values, operands, rows)


def _may_overlap(values: Values) -> bool:
    """Whether the last block of a row may go on into the next rows.

    Rows that have uniform values cannot be joined, and may be short. Where little is done with an
    element, copying the ends of short rows takes most of the time.
    """
    kernel = values.kernel
    return (
        kernel.is_light
        and not values.calls
        and not all(read.inner for read in kernel.reads)
        and all(write.inner and write.reduce is None for write in kernel.writes)
        and not any(map(values.can_fail, values.expressions))
    )
