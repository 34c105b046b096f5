"""The Python text of loop kernels, as Numba compiles it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from frazil.link.kernel.loop_kernel import PATIENCE, Cumulate, LoopKernel, Status, Write
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.prefetching import AHEAD, MANY
from frazil.link.kernel.reduction import folds_row, has_levels, identity
from frazil.link.kernel.whole_blocks import has_whole_block_rows
from frazil.link.numba import functions, vectors
from frazil.link.numba.blocks import Blocks
from frazil.link.numba.folding import CARRIED, IN_REGISTERS, Folding
from frazil.link.numba.lines import indented
from frazil.link.numba.whole_blocks import WholeBlockRows


class KernelSource(Blocks):
    """One kernel as the text of a Python function, and the names that the text refers to."""

    def __init__(self, kernel: LoopKernel) -> None:
        super().__init__(kernel)
        self.text = "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        kernel = self.kernel
        yield "def kernel(pointers, n_outer, n_inner, strides):"
        yield "    status = int32(0)"
        least = "n_inner < 0" if kernel.takes_rows else "n_inner <= 0"
        yield f"    if n_outer <= 0 or {least}:"
        yield "        return status"
        for k, literal in enumerate(kernel.literals, self.n_reads):
            value = np.dtype(literal.dtype).type(literal.value).item()
            if isinstance(value, float):
                yield f"    v{k} = {literal.dtype}({self._global(f'c{k}', value)})"
            else:
                yield f"    v{k} = {literal.dtype}({value!r})"
        for k, operand in enumerate(kernel.pointers):
            yield f"    p{operand} = pointers[{k}]"
        for k, value in enumerate(self.plan.buffers, len(kernel.pointers)):
            yield f"    pb{value} = pointers[{k}]"
        if has_whole_block_rows(kernel):
            yield from indented(WholeBlockRows(self).lines(), 1)
        for one in self.plan.passes:
            for folding in self._folding(one):
                yield from indented(folding.declare(), 1)
        yield f"    ahead = int64({AHEAD}) if n_outer * n_inner >= {MANY} else int64(0)"
        yield "    for outer in range(n_outer):"
        yield from indented(self._row(), 2)
        yield from indented(self.advance_rows("1"), 2)
        yield "    return status"

    def _row(self) -> Iterator[str]:
        """The work on a row."""
        yield from self.read_uniform()
        for one in self.plan.passes:
            yield from self.statements(one.uniform, 1, {})
            yield from self._pass(one)
        yield from self.write_uniform()

    def _folding(self, one: Pass) -> list[Folding]:
        """The folds of a pass."""
        kernel = self.kernel
        writes = [(self.n_reads + k, kernel.writes[k]) for k in one.writes]
        writes = [(k, write) for k, write in writes if folds_row(write)]
        in_memory = len(writes) + len(one.folds) > IN_REGISTERS
        made = [Folding(self, k, write, None, in_memory) for k, write in writes]
        for k in one.folds:
            fold = kernel.folds[k]
            write = Write(fold.arg, fold.dtype, inner=False, reduce=fold.reduce)
            made.append(Folding(self, len(kernel.writes) + k, write, k, in_memory))
        return made

    def _pass(self, one: Pass) -> Iterator[str]:
        """One walk along the row."""
        for k in one.varying:
            if isinstance(own := self.kernel.ops[k], Cumulate):
                empty = identity(own.reduce, own.dtype)
                yield f"so_far{k} = {own.dtype}({self._global(f'i{k}', empty)})"
        folding = self._folding(one)
        if not (folding or one.writes or one.stores or one.puts):
            return
        for each in folding:
            if each.value is not None:
                yield from each.start()
        dense = yield from self.enter_indexed_rows(one, is_empty=self.kernel.takes_rows)
        if dense:
            yield f"if {' and '.join(dense)}:"
            yield from indented(self._walk(one, folding, is_dense=True), 1)
            yield "else:"
            yield from indented(self._walk(one, folding, is_dense=False), 1)
        else:
            yield from self._walk(one, folding, is_dense=False)
        for each in folding:
            yield from each.leave_row()

    def _walk(self, one: Pass, folding: Sequence[Folding], *, is_dense: bool) -> Iterator[str]:
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
