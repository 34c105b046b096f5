"""The C function of a loop kernel.

A kernel walks its inner dimension in blocks of a fixed number of lanes. The loop over the lanes of
a block is the only one that the compiler has to vectorise. Its length is known, so there is no
remainder loop: the last block of a row computes elements of the block before again, or the end of
the row is copied to the stack and padded with its last element (see
:mod:`~frazil.link.c.ends`). Both go through the same code. So an element's value never depends on
where in an array it stands, and the compiler makes half the code, in half the time, that it needs
for an open loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from frazil.link.c import syntax as c
from frazil.link.c.columns import RowColumns, takes_columns_of_rows
from frazil.link.c.ends import ends_of
from frazil.link.c.operands import Operands
from frazil.link.c.rows import rows_of
from frazil.link.c.short_rows import ShortRows, takes_short_rows
from frazil.link.c.tile_blocks import tile_blocks
from frazil.link.c.unit import Unit
from frazil.link.c.values import Values
from frazil.link.c.walk import Frame, PassWriter, foldings_of
from frazil.link.c.whole_blocks import WholeBlockRows
from frazil.link.kernel.loop_kernel import LoopKernel, Read, Write
from frazil.link.kernel.passes import plan
from frazil.link.kernel.whole_blocks import has_whole_block_rows


def add_kernel(unit: Unit, name: str, kernel: LoopKernel) -> None:
    """Append a kernel to the unit as the function ``name``."""
    writer = _KernelWriter(unit, kernel)
    if writer.whole_blocks is not None:
        unit.add(writer.whole_blocks.function(_of_whole_blocks(name)))
    if writer.short_rows is not None:
        unit.add(writer.short_rows.function(_of_short_rows(name)))
    unit.add(writer.function(name))


def _of_whole_blocks(name: str) -> str:
    """The name of the function that does the rows of whole blocks of a kernel."""
    return f"{name}_of_whole_blocks"


def _of_short_rows(name: str) -> str:
    """The name of the function that does the short rows of a kernel of one pass."""
    return f"{name}_of_short_rows"


class _KernelWriter:
    """Writes one kernel."""

    def __init__(self, unit: Unit, kernel: LoopKernel) -> None:
        self.kernel = kernel
        self.values = Values(unit, kernel)
        self.passes = plan(kernel)
        self.operands = Operands(kernel, self.passes.buffers)
        self.rows = rows_of(self.values, self.operands, self.passes)
        self.ends = ends_of(self.values, self.operands, self.rows)
        self.takes_columns = _takes_columns(kernel)
        self.whole_blocks: WholeBlockRows | None = None
        if has_whole_block_rows(kernel):
            [only] = self.passes.passes
            self.whole_blocks = WholeBlockRows(self.values, self.operands, self.rows, only)
        self.short_rows: ShortRows | None = None
        if takes_short_rows(self.values, self.passes):
            self.short_rows = ShortRows(self.values, self.operands, self.passes)
        self.columns: RowColumns | None = None
        if self.rows.most > 1 and takes_columns_of_rows(self.values, self.passes):
            self.columns = RowColumns(self.values, self.operands, self.rows, self.passes)
        frame = Frame(self.values, self.operands, self.rows, self.ends, self.takes_columns)
        self.writers = [
            PassWriter(frame, one, foldings_of(frame, one)) for one in self.passes.passes
        ]

    def function(self, name: str) -> c.Function:
        """The function of the kernel."""
        operands = ("char *const *ptr", "i8 n_outer", "i8 n_inner", "const i8 *outer_stride")
        return c.Function("i4", name, operands, [*self._body(name)])

    def _body(self, name: str) -> Iterator[c.Statement]:
        none = "n_inner < 0" if self.kernel.takes_rows else "n_inner <= 0"
        yield c.Declare("i4", "status", "0")
        yield c.If(f"n_outer <= 0 || {none}", [c.Return("status")])
        yield from self.operands.declare()
        if self.whole_blocks is not None:
            yield self.whole_blocks.call(_of_whole_blocks(name))
        if self.short_rows is not None:
            yield self.short_rows.call(_of_short_rows(name))
        if self._folds():
            yield from self.rows.declare_prefetch()
        if self.takes_columns:
            yield from self._turn_columns()
        yield from self.ends.declare_lengths()
        yield from self.rows.declare()
        yield from self.ends.declare()
        for writer in self.writers:
            for each in writer.foldings:
                yield from each.declare()
        if self.columns is not None:
            yield from self.columns.declare()
        step = f"outer += {self.rows.step}"
        yield c.For("i8 outer = 0", "outer < n_outer", step, [*self._present_rows()])
        yield c.Return("status")

    def _present_rows(self) -> Iterator[c.Statement]:
        """The body of the loop over all rows."""
        yield from self.rows.enter()
        yield from self.ends.enter_row()
        yield from self.ends.enter()
        yield from self.rows.uniform_reads()
        if self.columns is not None:
            yield from self.columns.enter()
        for at, writer in enumerate(self.writers):
            yield from self.rows.uniform_values(at)
            yield from self._walk(writer)
        yield from self.ends.leave()
        yield from self.rows.uniform_writes()
        for name in self.operands.moved:
            yield c.Assign(f"p{name}", self.rows.advance(self.operands.stride(name)), "+=")

    def _walk(self, writer: PassWriter) -> Iterator[c.Statement]:
        """One walk of a pass along each of the present rows, or by columns of them."""
        along_rows = [*writer.walk()]
        if self.columns is None:
            yield from along_rows
        elif self.columns.takes(writer.row_pass):
            yield self.columns.walk(writer.row_pass, along_rows)
        else:
            yield from self.columns.leave()
            yield from self._last_walk(writer, along_rows)

    def _last_walk(
        self, writer: PassWriter, along_rows: Sequence[c.Statement]
    ) -> Iterator[c.Statement]:
        """The walk of the last pass of short rows: by blocks of a tile where that pays."""
        blocks = tile_blocks(writer.frame, writer.row_pass, writer.foldings)
        if blocks is None:
            yield from along_rows
        else:
            condition = f"{RowColumns.condition} && {blocks.condition}"
            yield c.If(condition, [*blocks.walk()], along_rows)

    def _folds(self) -> bool:
        """Whether rows are folded, or into a row."""
        into_rows = any(write.reduce for write in self.kernel.writes)
        return into_rows or any(writer.foldings for writer in self.writers)

    def _turn_columns(self) -> Iterator[c.Statement]:
        """Join rows of one element to one row, where they lie side by side."""
        operands: tuple[Read | Write, ...] = (*self.kernel.reads, *self.kernel.writes)
        beside = (
            f"({self.operands.stride(k)} == {np.dtype(own.dtype).itemsize})"
            for k, own in enumerate(operands)
        )
        condition = f"(n_inner == 1) & (n_outer > 1) & {' & '.join(beside)}"
        yield c.Const("b1", "columns", condition)
        yield c.If("columns", [c.Assign("n_inner", "n_outer"), c.Assign("n_outer", "1")])


def _takes_columns(kernel: LoopKernel) -> bool:
    """Whether rows of one element can be joined to one long row, whose elements are not folded: all
    operands move along it.
    """
    return (
        kernel.lanes > 1
        and kernel.is_light
        and all(read.inner for read in kernel.reads)
        and all(write.walks for write in kernel.writes)
        and any(write.of_rows for write in kernel.writes)
    )
