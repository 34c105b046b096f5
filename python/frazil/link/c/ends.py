"""The ends of rows, in C: the elements of a row that are left after its whole blocks.

They go through the same code as a block: together with elements of the block before if these may be
computed twice, or copied to the stack and padded with the last element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.operands import Moving, Operands
from frazil.link.c.rows import Rows
from frazil.link.c.values import Values
from frazil.link.kernel.loop_kernel import Cumulate


class Ends:
    """The treatment of the ends of rows: there are none if blocks have one element.

    Attributes
    ----------
    counter : str
        The variable that counts the elements of the blocks before, in walks without folds.
    blocks : int
        The blocks of the longest end.
    """

    counter = "i"
    blocks = 1

    def __init__(self, values: Values, operands: Operands, rows: Rows) -> None:
        self.values = values
        self.operands = operands
        self.rows = rows
        self.lanes = values.kernel.lanes

    def declare_lengths(self) -> Iterator[c.Statement]:
        """``full``: the elements of whole blocks; ``whole``: of a row with its padding."""
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

    def start_block(self) -> Iterable[c.Statement]:
        """Find out where the present block starts."""
        return ()

    def turn_block(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Point to the copies if the present block is the end of the row."""
        return ()

    def turn_row(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Point to the copies if no whole blocks are left."""
        return ()

    def enter_portion(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Declare ``i`` and ``end``, between which the next blocks lie, and point to the copies.

        There are ``b`` elements before: the whole blocks come first, then the end of the row.
        """
        yield c.Declare("i8", "i", "b")
        yield c.Declare("i8", "end", "n_inner")

    def after_end(self, statements: Sequence[c.Statement]) -> Iterable[c.Statement]:
        """Statements for the end of the row only."""
        return ()


class CopiedEnds(Ends):
    """The end of each row is copied.

    Where rows are taken by tiles, a row of one block and an end is copied as a whole, as if it were
    an end of two blocks: looking for its end takes longer.
    """

    pads = copies = "rest"
    results = ""
    """The offset from a copied end to the first result."""

    def __init__(self, values: Values, operands: Operands, rows: Rows) -> None:
        super().__init__(values, operands, rows)
        self.blocks = 2 if rows.most > 1 else 1
        self._room = "padded" if rows.most > 1 else f"{self.lanes}"
        """The expression of the elements of a copied end."""

    def declare_lengths(self) -> Iterator[c.Statement]:
        whole_blocks = f"n_inner & -{self.lanes}"
        if self.blocks > 1:
            is_end = f"n_inner > {self.lanes} && n_inner < {2 * self.lanes}"
            yield c.Const("i8", "full", f"{is_end} ? 0 : {whole_blocks}")
        else:
            yield c.Const("i8", "full", whole_blocks)
        yield c.Const("i8", "rest", "n_inner - full")
        yield c.Const("i8", "whole", f"(n_inner + {self.lanes - 1}) & -{self.lanes}")
        if self.blocks > 1:
            yield c.Const("i8", self._room, "whole - full")

    def declare(self) -> Iterator[c.Statement]:
        room = self.lanes * self.blocks * self.rows.most
        for each in self.operands.moving:
            yield c.Array(f"u{each.size}", f"e{each.name}", room)

    def enter(self) -> Iterator[c.Statement]:
        rows = f"outer, {self.rows.count}, rest, {self._room}"
        copies: list[c.Statement] = []
        for each, end, stride in self._ends():
            if each.is_read:
                copy = self._call("pad_ends", each, 5, f"e{each.name}, {end}, {stride}, {rows}")
                # Values that are the same for all rows are there already.
                copies.append(c.If(f"{stride} || !outer", [copy]))
        if copies:
            yield c.If(self.pads, copies)

    def leave(self) -> Iterator[c.Statement]:
        rows = f"{self.rows.count}, rest, {self._room}"
        copies: list[c.Statement] = []
        for each, end, stride in self._ends():
            if each.is_written:
                results = f"e{each.name}{self.results}"
                copy = self._call("copy_ends", each, 4, f"{end}, {results}, {stride}, {rows}")
                # Results to which all rows add wait for the last row.
                is_last = f"outer + {self.rows.count} >= n_outer"
                copies.append(c.If(f"{stride} || {is_last}", [copy]) if each.is_read else copy)
        if copies:
            yield c.If(self.copies, copies)

    def turn_block(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        own = (each for each in moving if not each.is_buffer)
        yield c.If("i == full", [self._turned(each) for each in own])

    def turn_row(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        starts = [
            c.Assign(f"w{each.name}", f"{self.rows.end(each)} - full * {each.size}")
            for each in moving
            if not each.is_buffer
        ]
        yield c.If("i == full", [c.Assign("end", "n_inner"), *starts])

    def enter_portion(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        yield c.Declare("i8", "i", "b")
        yield c.Declare("i8", "end", "full")
        yield from self.turn_row(moving)

    def after_end(self, statements: Sequence[c.Statement]) -> Iterator[c.Statement]:
        if statements:
            yield c.If("i > full", statements)

    def _turned(self, operand: Moving) -> c.Assign:
        """Point to the copy instead of the present block."""
        return c.Assign(f"q{operand.name}", self.rows.end(operand))

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


class RepeatedEnds(CopiedEnds):
    """The last block of a row ends where the row does: it repeats elements of the block before.

    Where results are written over an operand, those of this block are copied, but for the
    elements that it repeats: these may be made of results. A row shorter than a block is copied, or
    goes on into the next rows, whose turn comes after, where rows lie without gaps.
    """

    pads, copies = "pads", "copies"
    results = " + repeated"
    counter = "b"

    def __init__(
        self, values: Values, operands: Operands, rows: Rows, *, may_overlap: bool
    ) -> None:
        super().__init__(values, operands, rows)
        self.may_overlap = may_overlap

    def declare_lengths(self) -> Iterator[c.Statement]:
        yield c.Const("i8", "full", f"n_inner & -{self.lanes}")
        yield c.Const("i8", "rest", "n_inner - full")
        yield c.Const("b1", "is_short", "(full == 0) & (rest != 0)")
        yield c.Const("i8", "last", f"is_short ? 0 : n_inner - {self.lanes}")
        yield c.Const("i8", "repeated", "full - last")

    def declare(self) -> Iterator[c.Statement]:
        yield from super().declare()
        moving = self.operands.moving
        read = [each.name for each in moving if each.is_read]
        written = [each.name for each in moving if each.is_written]
        yield from _overlapping(written, read)
        if self.may_overlap:
            strides = (
                f" & ({self.operands.stride(each.name)} == n_inner * {each.size})"
                for each in moving
            )
            yield c.Const("b1", "dense", f"is_short & !over{''.join(strides)}")

    def enter_row(self) -> Iterator[c.Statement]:
        short = "is_short"
        if self.may_overlap:
            overlaps = f"dense && (n_outer - outer) * n_inner >= {self.lanes}"
            short = f"is_short && !({overlaps})"
        yield c.Const("b1", "pads", short)
        yield c.Const("b1", "copies", "pads || (over && rest)")

    def start_block(self) -> Iterator[c.Statement]:
        yield c.Const("i8", "i", "b < last ? b : last")

    def turn_block(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        own = [each for each in moving if not each.is_buffer]
        read = [each for each in own if not each.is_written]
        written = [each for each in own if each.is_written]
        if read:
            yield c.If("pads", [self._turned(each) for each in read])
        if written:
            yield c.If("copies && b == full", [self._turned(each) for each in written])

    def enter_portion(self, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        own = [each for each in moving if not each.is_buffer]
        yield c.Declare("i8", "i", "b < last ? b : last")
        yield c.Declare("i8", "end", f"b < full ? full : i + {self.lanes}")
        # Only a row shorter than a block is padded; its first element is 0.
        read = [c.Assign(f"w{x.name}", self.rows.end(x)) for x in own if not x.is_written]
        written = [
            c.Assign(f"w{x.name}", f"{self.rows.end(x)} - last * {x.size}")
            for x in own
            if x.is_written
        ]
        if read:
            yield c.If("pads", read)
        if written:
            yield c.If("copies && b == full", written)


# From so many comparisons on, a loop compiles sooner: gcc takes a minute for 10,000 in one line.
_COMPARED_BY_LOOP = 64


def _overlapping(written: Sequence[str], read: Sequence[str]) -> Iterator[c.Statement]:
    """Define ``over``: whether a result is written over an operand."""
    if len(written) * len(read) < _COMPARED_BY_LOOP:
        # With && there would be branches, which take long to compile.
        over = " | ".join(f"(p{to} == p{of})" for to in written for of in read)
        yield c.Const("b1", "over", over or "0")
        return
    for name, operands in ("written", written), ("read", read):
        pointers = ", ".join(f"p{own}" for own in operands)
        yield c.Declare("char *const", f"{name}[{len(operands)}]", f"{{{pointers}}}")
    yield c.Declare("b1", "over", "0")
    compare = c.Assign("over", "written[to] == read[of]", "|=")
    inner = c.For("i8 of = 0", f"of < {len(read)}", "of += 1", [compare])
    yield c.For("i8 to = 0", f"to < {len(written)}", "to += 1", [inner])


def ends_of(values: Values, operands: Operands, rows: Rows) -> Ends:
    """The treatment of the ends of rows in a kernel."""
    if values.kernel.lanes == 1:
        return Ends(values, operands, rows)
    if not _may_repeat(values):
        return CopiedEnds(values, operands, rows)
    return RepeatedEnds(values, operands, rows, may_overlap=_may_overlap(values))


def _may_repeat(values: Values) -> bool:
    """Whether elements may be computed twice, also from results: nothing is folded or put where
    indices say, and nothing can fail, as indices that are made of results do.
    """
    kernel = values.kernel
    return (
        not (kernel.folds or kernel.puts or values.calls)
        and all(write.reduce is None for write in kernel.writes)
        and not any(isinstance(own, Cumulate) for own in kernel.ops.values())
        and kernel.takes.keys() == kernel.row_takes.keys()
        and not any(map(values.can_fail, values.expressions))
    )


def _may_overlap(values: Values) -> bool:
    """Whether a short row may go on into the next rows.

    Rows that have uniform values cannot be joined. Where little is done with an element, copying
    short rows takes most of the time.
    """
    kernel = values.kernel
    return (
        kernel.is_light
        and not all(read.inner for read in kernel.reads)
        and all(write.inner for write in kernel.writes)
    )
