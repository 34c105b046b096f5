"""The walk of a pass along a row, in the Python text of kernels: block after block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.link.kernel.loop_kernel import PATIENCE, Cumulate, Status, Write
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import folds_row, has_levels, identity
from frazil.link.kernel.tiles import gathers_rows, takes_tiles
from frazil.link.numba import functions, vectors
from frazil.link.numba.blocks import Blocks
from frazil.link.numba.lines import indented
from frazil.link.numba.row_folds import CARRIED, Folding, most_in_registers
from frazil.link.numba.tile_folds import RowFolding


class Walks(Blocks):
    """Writes the walks of a kernel along its rows."""

    def foldings(self, one: Pass) -> list[Folding]:
        """The folds of a pass."""
        kernel = self.kernel
        writes = [(self.n_reads + k, kernel.writes[k]) for k in one.writes]
        writes = [(k, write) for k, write in writes if folds_row(write)]
        # Where a tile is walked through block by block, sets do not come in turn.
        by_blocks = takes_tiles(kernel) and gathers_rows(kernel, one)
        in_memory = by_blocks or len(writes) + len(one.folds) > most_in_registers()
        kind = RowFolding if takes_tiles(kernel) else Folding
        made = [Folding(self, k, write, None, in_memory) for k, write in writes]
        for k in one.folds:
            fold = kernel.folds[k]
            write = Write(fold.arg, fold.dtype, inner=False, reduce=fold.reduce)
            made.append(kind(self, len(kernel.writes) + k, write, k, in_memory))
        return made

    def walk_row(self, one: Pass) -> Iterator[str]:
        """One walk along the row."""
        for k in one.varying:
            if isinstance(own := self.kernel.ops[k], Cumulate):
                empty = identity(own.reduce, own.dtype)
                yield f"so_far{k} = {own.dtype}({self._global(f'i{k}', empty)})"
        folding = self.foldings(one)
        if not (folding or one.writes or one.stores or one.puts):
            return
        for each in folding:
            if each.value is not None:
                yield from each.start()
        dense = yield from self.enter_indexed_rows(one, is_empty=self.kernel.takes_rows)
        if dense:
            yield f"if {' and '.join(dense)}:"
            yield from indented(self._walk_blocks(one, folding, is_dense=True), 1)
            yield "else:"
            yield from indented(self._walk_blocks(one, folding, is_dense=False), 1)
        else:
            yield from self._walk_blocks(one, folding, is_dense=False)
        for each in folding:
            yield from each.leave_row()

    def _walk_blocks(
        self, one: Pass, folding: Sequence[Folding], *, is_dense: bool
    ) -> Iterator[str]:
        """The loop over the blocks of a row; ``is_dense``: the elements of all rows that indices
        choose lie side by side.
        """
        lanes = self.kernel.lanes
        yield f"whole = n_inner & {-lanes}"
        yield f"count = int64({lanes})"
        stretches = [*self._stretches(folding)]
        if stretches:
            yield "start = int64(0)"
            yield "while start < whole:"
            yield "    stop = whole"
            yield from indented(stretches, 1)
            yield f"    for i in range(start, stop, {lanes}):"
            yield from indented(self.block(one, folding, is_dense=is_dense), 2)
            for each in folding:
                yield from indented(each.carry(), 1)
            yield "    start = stop"
        else:
            yield f"for i in range(0, whole, {lanes}):"
            yield from indented(self.block(one, folding, is_dense=is_dense), 1)
        if lanes > 1:
            yield "if whole < n_inner:"
            yield "    i = whole"
            yield "    count = n_inner - whole"
            yield f"    mask = {self.name(f'first_{lanes}', vectors.first(lanes))}(count)"
            yield from indented(self.block(one, folding, is_dense=is_dense, is_end=True), 1)
            for each in folding:
                yield from indented(each.carry(), 1)

    def _stretches(self, folding: Sequence[Folding]) -> Iterator[str]:
        """Let ``stop`` be where the kernel has to do something else than the next block."""
        if self.kernel.takes_rows:
            yield from self._ask(f"start & {PATIENCE - 1} == 0 and start > 0")
            yield f"stop = min(stop, (start | {PATIENCE - 1}) + 1)"
        for each in folding:
            if has_levels(each.write):
                left = f"({CARRIED} - (blocks{each.k} & {CARRIED - 1}))"
                yield f"stop = min(stop, start + {left} * {self.kernel.lanes})"

    def _ask(self, when: str) -> Iterator[str]:
        """Leave the kernel if the run is to stop."""
        stops = self.name("loop_stops", functions.function("loop_stops", "int32"))
        yield f"if {when} and {stops}() != 0:"
        yield f"    return int32({Status.STOPPED:d})"
