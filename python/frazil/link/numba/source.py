"""The Python text of loop kernels, as Numba compiles it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frazil.link.kernel.loop_kernel import LoopKernel
from frazil.link.kernel.prefetching import AHEAD, PREFETCHED_FROM
from frazil.link.kernel.tiles import takes_tiles
from frazil.link.kernel.whole_blocks import has_whole_block_rows
from frazil.link.numba.lines import indented
from frazil.link.numba.tiles import RowTiles
from frazil.link.numba.walk import Walks
from frazil.link.numba.whole_blocks import WholeBlockRows


class KernelSource(Walks):
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
        yield f"    ahead = int64({AHEAD}) if n_outer * n_inner >= {PREFETCHED_FROM} else int64(0)"
        if has_whole_block_rows(kernel):
            yield from indented(WholeBlockRows(self).lines(), 1)
        for one in self.plan.passes:
            for folding in self.foldings(one):
                yield from indented(folding.declare(), 1)
        if takes_tiles(kernel):
            yield from indented(RowTiles(self).lines(), 1)
        else:
            yield "    for outer in range(n_outer):"
            yield from indented(self._row(), 2)
            yield from indented(self.advance_rows("1"), 2)
        yield "    return status"

    def _row(self) -> Iterator[str]:
        """The work on a row."""
        yield from self.read_uniform()
        for one in self.plan.passes:
            yield from self.statements(one.uniform, 1, {})
            yield from self.walk_row(one)
        yield from self.write_uniform()
