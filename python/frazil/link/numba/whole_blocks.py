"""The loop over rows of whole blocks that indices choose, in the Python text of kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frazil.link.kernel.indices import Indices, indices_of_put, indices_of_take
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import folds_row
from frazil.link.kernel.whole_blocks import AHEAD
from frazil.link.numba import functions, vectors
from frazil.link.numba.blocks import Blocks
from frazil.link.numba.lines import indented
from frazil.link.numba.row_folds import BlockFolding


class WholeBlockRows:
    """Writes the loop, after which the kernel is done."""

    def __init__(self, source: Blocks) -> None:
        self.source = source
        self.kernel = kernel = source.kernel
        [self.row_pass] = source.plan.passes
        numbered = enumerate(kernel.writes, source.n_reads)
        self.foldings = [
            BlockFolding(source, k, write) for k, write in numbered if folds_row(write)
        ]
        takes = ((f"px{own.source}", k, own.dtype) for k, own in kernel.row_takes.items())
        puts = ((f"py{k}", k, put.dtype) for k, put in kernel.row_puts.items())
        self.indexed: list[tuple[str, Indices, int]] = [
            *((base, indices_of_take(kernel, k), np.dtype(d).itemsize) for base, k, d in takes),
            *((base, indices_of_put(kernel, k), np.dtype(d).itemsize) for base, k, d in puts),
        ]
        """The first row, the indices and the bytes of an element of what indices choose."""

    def lines(self) -> Iterator[str]:
        """The loop, where rows are such."""
        source, lanes = self.source, self.kernel.lanes
        yield f"if {' and '.join(self._conditions())}:"
        yield f"    count = int64({lanes})"
        yield "    for outer in range(n_outer):"
        yield from indented(source.read_uniform(), 2)
        yield from indented(self._row(self.row_pass), 2)
        yield from indented(source.write_uniform(), 2)
        yield from indented(source.advance_rows("1"), 2)
        yield "    return status"

    def _conditions(self) -> Iterator[str]:
        kernel, lanes = self.kernel, self.kernel.lanes
        yield f"n_inner == {lanes}" if self.foldings else f"n_inner & {lanes - 1} == 0"
        for _, indices, size in self.indexed:
            yield f"{self.source.load('int64', indices.table, '0')} == int64({size})"
        # An output that stays where it is gathers all rows.
        for each in self.foldings:
            yield f"strides[{kernel.pointers.index(f'{each.k}')}] != 0"

    def _row(self, row_pass: Pass) -> Iterator[str]:
        source = self.source
        yield from source.statements(row_pass.uniform, 1, {})
        yield from source.enter_indexed_rows(row_pass, is_empty=False)
        if self.foldings:
            yield "i = int64(0)"
            yield from source.block(row_pass, self.foldings, is_dense=True)
        else:
            yield from self._prefetched()
            yield f"for i in range(0, n_inner, {self.kernel.lanes}):"
            yield from indented(source.block(row_pass, (), is_dense=True), 1)
        for each in self.foldings:
            yield from each.leave_row()

    def _prefetched(self) -> Iterator[str]:
        """Prefetch the rows that are chosen some rows later, if they have several blocks: the
        processor itself reads several rows of a block side by side.
        """
        source, kernel, lanes = self.source, self.kernel, self.kernel.lanes
        foretold = [
            (f"later{at}", *each)
            for at, each in enumerate(self.indexed)
            if all(k < source.n_reads for k in each[1].args)
        ]
        if not foretold:
            return
        prefetch = source.name("prefetch", vectors.prefetch)
        yield f"if n_inner > {lanes}:"
        yield f"    later = int64({AHEAD}) if outer + {AHEAD} < n_outer else int64(0)"
        for name, base, indices, _ in foretold:
            yield f"    {name} = {base}"
            for j, k in enumerate(indices.args):
                dtype = kernel.dtypes[k]
                at = f"advance(p{k}, later * strides[{kernel.pointers.index(f'{k}')}])"
                *lines, index = source.convert(source.load(dtype, at, "0"), dtype, "int64")
                yield from indented(lines, 1)
                step = source.load("int64", indices.table, f"{2 * j + 2}")
                yield f"    {name} = advance({name}, {self._product(index, step)})"
        yield f"    for i in range(0, n_inner, {lanes}):"
        for name, _, _, size in foretold:
            yield f"        {prefetch}(advance({name}, i * {size}))"

    def _product(self, index: str, step: str) -> str:
        """The product of an index that is not checked yet, which may overflow."""
        product = self.source.name("mul_int64", functions.function("mul", "int64"))
        return f"{product}({index}, {step})"
