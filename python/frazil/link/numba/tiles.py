"""The way of a kernel through its rows by tiles, in its Python text.

Uniform values, which are the same for all elements of a row, are vectors ``u`` there, with a lane
for each row. They are kept in arrays ``t`` for the walks along single rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from frazil.link.kernel.passes import Pass
from frazil.link.kernel.tiles import SHORT, TILE, busiest, gathers_rows, kept_values
from frazil.link.numba import functions, vectors
from frazil.link.numba.columns import RowColumns, takes_columns_of_rows
from frazil.link.numba.lines import indented
from frazil.link.numba.row_folds import CARRIED
from frazil.link.numba.tile_folds import RowFolding
from frazil.link.numba.walk import Walks


class RowTiles:
    """Writes the loop over the tiles of a kernel."""

    def __init__(self, source: Walks) -> None:
        self.source = source
        self.kernel = kernel = source.kernel
        self.passes = source.plan.passes
        self.kept = kept_values(kernel, self.passes)
        self.busiest = busiest(kernel, self.passes)
        buffers = (f"b{value}" for value in source.plan.buffers)
        self.strides = {
            name: f"strides[{k}]" for k, name in enumerate((*kernel.pointers, *buffers))
        }
        moving = [(f"{k}", read.dtype) for k, read in enumerate(kernel.reads) if read.inner]
        moving += [
            (f"{k}", write.dtype)
            for k, write in enumerate(kernel.writes, source.n_reads)
            if write.inner and write.reduce is None
        ]
        columns = takes_columns_of_rows(source)
        self.columns = RowColumns(source, self.strides) if columns else None
        self.later = {name: np.dtype(dtype).itemsize for name, dtype in moving}
        """Operands whose next rows are prefetched, with the sizes of their elements."""

    def lines(self) -> Iterator[str]:
        """The loop."""
        source = self.source
        # Rows must be short enough to be summed in registers, and buffers have room for several.
        conditions = [f"n_inner <= {(CARRIED - 1) * self.kernel.lanes}"]
        conditions += [f"{self.strides[f'b{value}']} != 0" for value in source.plan.buffers]
        yield f"tile = int64({TILE}) if {' and '.join(conditions)} else int64(1)"
        for k in self.kept:
            size = TILE * np.dtype(self.kernel.dtypes[k]).itemsize
            yield f"t{k} = {source.name(f'stack_{size}', functions.stack(size))}()"
        if self.columns:
            yield from self.columns.declare()
        yield "outer = int64(0)"
        yield "while outer < n_outer:"
        yield "    rows = min(tile, n_outer - outer)"
        yield from indented(self._tile(), 1)
        yield from indented(source.advance_rows("rows"), 1)
        yield "    outer = outer + rows"

    def _tile(self) -> Iterator[str]:
        """The work on the present rows."""
        yield from self._read_uniform()
        if self.columns:
            yield from self.columns.enter()
        folds: tuple[int, ...] = ()
        for one in self.passes:
            yield from self._uniform_values(folds, one)
            yield from self._one_pass(one)
            folds = one.folds
        yield from self._write_uniform()

    def _one_pass(self, one: Pass) -> Iterator[str]:
        """The walks of a pass: side by side where rows are short, else along the rows."""
        columns = self.columns
        if columns and one is not self.passes[-1]:
            yield f"if {columns.condition}:"
            yield from indented(columns.walk(one), 1)
            yield "else:"
            yield from indented(self._walk(one), 1)
        else:
            if columns:
                yield from columns.leave()
            yield from self._walk(one)

    def _read_uniform(self) -> Iterator[str]:
        for k, read in enumerate(self.kernel.reads):
            if not read.inner:
                gather = self.source.name(
                    f"gather_{read.dtype}", vectors.gather_rows(read.dtype, TILE)
                )
                yield f"u{k} = {gather}(p{k}, {self.strides[f'{k}']}, rows - 1)"
                yield from self._keep(k)

    def _keep(self, k: int) -> Iterator[str]:
        """Keep a value for the walks along single rows, if one uses it."""
        if k in self.kept:
            dtype = self.kernel.dtypes[k]
            store = self.source.name(f"store_rows_{dtype}", vectors.store(dtype, TILE))
            yield f"{store}(t{k}, 0, u{k})"

    def _uniform_values(self, folds: tuple[int, ...], one: Pass) -> Iterator[str]:
        """The folds of the pass before, and the uniform values that a pass needs first."""
        source, kernel = self.source, self.kernel
        for k in folds:
            own = kernel.folds[k]
            totals = f"totals{len(kernel.writes) + k}"
            *lines, folded = source.fold(own.reduce, own.dtype, f"v{own.start}", totals)
            yield from lines
            yield f"u{k} = {folded}"
            yield from self._keep(k)
        if one.uniform:
            yield "count = rows"
            first = source.name(f"first_{TILE}", vectors.first(TILE))
            yield f"of_rows = {first}(rows)"
            source.uniform = "u"
            yield from source.statements(one.uniform, TILE, {}, "of_rows")
            source.uniform = "v"
            for k in one.uniform:
                yield from self._keep(k)

    def _walk(self, one: Pass) -> Iterator[str]:
        """The walks along the present rows."""
        folds = [each for each in self.source.foldings(one) if isinstance(each, RowFolding)]
        walk = [*self._walk_row(one)]
        if walk and gathers_rows(self.kernel, one):
            gathering = [k for k in self._written(one) if self._gathers(k)]
            still = [*gathering, *(each.k for each in self.source.foldings(one))]
            same = " and ".join(f"{self.strides[f'{k}']} == 0" for k in still)
            yield f"if rows == {TILE} and n_inner <= {SHORT} and {same}:"
            yield from indented(self._walk_blocks(one, gathering), 1)
            yield "else:"
            yield "    for r in range(rows):"
            yield from indented(walk, 2)
        elif walk:
            yield "for r in range(rows):"
            yield from indented(walk, 1)
        for each in folds:
            yield from each.leave_rows()

    def _walk_row(self, one: Pass) -> Iterator[str]:
        source = self.source
        if one is self.busiest:
            source.later = {f"n{name}": size for name, size in self.later.items()}
        source.row, source.is_last = "w", "outer + r == n_outer - 1"
        walk = [*source.walk_row(one)]
        source.row, source.is_last, source.later = "p", "outer == n_outer - 1", {}
        if not walk:
            return
        yield from self._enter_row(one)
        if one is self.busiest:
            for name in self.later:
                yield f"n{name} = advance(p{name}, (rows + r) * {self.strides[name]})"
        yield from walk

    def _enter_row(self, one: Pass) -> Iterator[str]:
        """Load what is the same along row ``r``, and point to its operands."""
        source, kernel = self.source, self.kernel
        used = {a for k in one.varying for a in kernel.ops[k].args}
        used.update(kernel.folds[k].arg for k in one.folds)
        used.update(kernel.writes[k].value for k in one.writes)
        for k in sorted(used.intersection(self.kept)):
            yield f"v{k} = {source.load(kernel.dtypes[k], f't{k}', 'r')}"
        buffers = (f"b{k}" for k in (*one.loads, *one.stores))
        for name in (*map(str, (*one.reads, *self._written(one))), *buffers):
            yield f"w{name} = advance(p{name}, r * {self.strides[name]})"

    def _written(self, one: Pass) -> list[int]:
        """The operands that a pass writes."""
        return [self.source.n_reads + k for k in one.writes]

    def _gathers(self, k: int) -> bool:
        """Whether rows are gathered into the elements of an operand."""
        write = self.kernel.writes[k - self.source.n_reads]
        return write.inner and write.reduce is not None

    def _walk_blocks(self, one: Pass, gathering: Sequence[int]) -> Iterator[str]:
        """The walk block by block, each through all rows: the rows of a block follow each other, so
        elements are folded in the order of the walk along rows.

        All rows are gathered into a block in a variable, which need not go through memory.
        """
        source, lanes, kernel = self.source, self.kernel.lanes, self.kernel
        folding = source.foldings(one)
        for each in folding:
            yield f"before{each.k} = blocks{each.k}"
        yield f"of_row = (n_inner + {lanes - 1}) // {lanes}"
        yield f"for i in range(0, n_inner, {lanes}):"
        yield f"    count = min(n_inner - i, int64({lanes}))"
        yield f"    mask = {source.name(f'first_{lanes}', vectors.first(lanes))}(count)"
        source.is_end = True
        dtypes = {k: kernel.writes[k - source.n_reads].dtype for k in gathering}
        for k, dtype in dtypes.items():
            yield f"    g{k} = {source.load_block(dtype, f'p{k}')}"
        yield f"    for r in range({TILE}):"
        yield from indented(self._enter_row(one), 2)
        for each in folding:
            yield f"        blocks{each.k} = before{each.k} + r * of_row + i // {lanes}"
        source.row, source.held = "w", frozenset(gathering)
        yield from indented(source.block(one, folding, is_dense=False, is_end=True), 2)
        source.row, source.held = "p", frozenset()
        for k, dtype in dtypes.items():
            yield f"    {source.store_block(dtype, f'p{k}', f'g{k}')}"
        source.is_last = f"outer + {TILE} == n_outer"
        for each in folding:
            yield f"blocks{each.k} = before{each.k} + {TILE} * of_row"
            yield from each.carry()
            yield from each.leave_row()
        source.is_last = "outer == n_outer - 1"

    def _write_uniform(self) -> Iterator[str]:
        """Write the values of the present rows that are the same along each."""
        source, kernel = self.source, self.kernel
        stores: list[str] = []
        for k, write in enumerate(kernel.writes, source.n_reads):
            if write.walks:
                continue
            value, dtype = f"v{write.value}", kernel.dtypes[write.value]
            if write.value in self.kept:
                value = source.load(dtype, f"t{write.value}", "r")
            *lines, value = source.convert(value, dtype, write.dtype)
            place = f"advance(p{k}, r * {self.strides[f'{k}']})"
            stores += [*lines, source.store(write.dtype, place, "0", value)]
        if stores:
            yield "for r in range(rows):"
            yield from indented(stores, 1)
