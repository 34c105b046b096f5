"""Short rows of a full tile side by side, in the Python text of kernels: a vector has one element
of each row, a column.

Passes but the last go column by column through arrays on the stack: ``k`` has the columns of an
operand or of a kept value, ``of`` those of a fold. Rows are folded in the order in which the walk
along a row folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import frazil._core as _core
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import identity
from frazil.link.kernel.tiles import SHORT, TILE, is_side_by_side
from frazil.link.numba import functions, vectors
from frazil.link.numba.lines import indented
from frazil.link.numba.row_folds import Folding
from frazil.link.numba.walk import Walks

HALVES = (4, 2, 1)
"""How far the lanes are apart that are folded, one step after the other."""


class RowColumns:
    """Writes the way of a kernel through full tiles of short rows, in all passes but the last.

    ``strides`` are the texts of the bytes from one row to the next, by operands.
    """

    condition = "beside"

    def __init__(self, source: Walks, strides: Mapping[str, str]) -> None:
        self.source = source
        self.kernel = kernel = source.kernel
        self.strides = strides
        *self.first, self.last = source.plan.passes
        self.read = {f"{k}": kernel.dtypes[k] for one in self.first for k in one.reads}
        kept = (k for one in self.first for k in (*one.loads, *one.stores))
        self.kept = {f"b{k}": kernel.dtypes[k] for k in kept}

    def declare(self) -> Iterator[str]:
        """Room for the columns of a tile; what is behind the end of a row changes no fold."""
        size = SHORT * TILE * 8
        stack = self.source.name(f"stack_{size}", functions.stack(size))
        for name in (*self.read, *self.kept):
            yield f"k{name} = {stack}()"
        for each in self._foldings(*self.first):
            yield f"of{each.k} = {stack}()"
            dtype = each.write.dtype
            empty = self.source.name(f"empty{each.k}", identity(str(each.write.reduce), dtype))
            yield f"for i in range(n_inner, {SHORT}):"
            padding = self._store(dtype, f"of{each.k}", f"i * {TILE}", f"{dtype}({empty})")
            yield f"    {padding}"

    def enter(self) -> Iterator[str]:
        """Find out whether the present rows are taken side by side, and gather their operands."""
        yield f"{self.condition} = rows == {TILE} and n_inner > 0 and n_inner <= {SHORT}"
        for name, dtype in self.read.items():
            # Values that are the same for all rows are there already.
            yield f"if {self.condition} and ({self.strides[name]} != 0 or outer == 0):"
            yield from indented(self._gathered(name, dtype), 1)

    def walk(self, one: Pass) -> Iterator[str]:
        """A pass, column by column; ``totals`` are the folds of the rows."""
        source, kernel = self.source, self.kernel
        loads = {k: self._load(kernel.dtypes[k], f"k{k}", f"i * {TILE}") for k in one.reads}
        loads |= {k: self._load(kernel.dtypes[k], f"kb{k}", f"i * {TILE}") for k in one.loads}
        source.uniform = "u"
        work = [*source.statements(one.varying, TILE, loads)]
        work += [f"v{k} = {text}" for k, text in loads.items()]
        work += [
            self._store(kernel.dtypes[k], f"kb{k}", f"i * {TILE}", f"v{k}") for k in one.stores
        ]
        for each in self._foldings(one):
            *lines, value = source.written(each.write)
            work += [*lines, self._store(each.write.dtype, f"of{each.k}", f"i * {TILE}", value)]
        source.uniform = "v"
        yield "for i in range(n_inner):"
        yield from indented(work, 1)
        for each in self._foldings(one):
            yield from self._folded(each)

    def leave(self) -> Iterator[str]:
        """Scatter the kept values to the rows through which the last pass walks."""
        for k in self.last.loads:
            yield f"if {self.condition}:"
            yield from indented(self._scattered(f"b{k}", self.kept[f"b{k}"]), 1)

    def _foldings(self, *passes: Pass) -> list[Folding]:
        return [each for one in passes for each in self.source.foldings(one)]

    def _folded(self, each: Folding) -> Iterator[str]:
        """Fold the columns of rows to one, as the lanes of blocks are folded."""
        columns, dtype = f"of{each.k}", each.write.dtype
        for lane in range(TILE):
            yield f"x{lane} = {self._load(dtype, columns, f'{lane * TILE}')}"
        yield f"if n_inner > {TILE}:"
        for lane in range(TILE):
            second = f"y{lane} = {self._load(dtype, columns, f'{(lane + TILE) * TILE}')}"
            yield from indented([second, *self._pair(each, lane, f"y{lane}")], 1)
        for apart in HALVES:
            for lane in range(apart):
                yield from self._pair(each, lane, f"x{lane + apart}")
        yield f"totals{each.k} = x0"

    def _pair(self, each: Folding, lane: int, other: str) -> Iterator[str]:
        write = each.write
        *lines, folded = self.source.fold(str(write.reduce), write.dtype, f"x{lane}", other)
        yield from lines
        yield f"x{lane} = {folded}"

    # ------------------------------------------------------------ rows and columns

    def _gathered(self, name: str, dtype: str) -> Iterator[str]:
        """Rows to columns, eight elements of each at a time."""
        some = self.source.name(f"load_some_{dtype}", vectors.load_some(dtype, TILE))
        yield from self._squares(
            lambda row: f"{some}(advance(p{name}, {row} * {self.strides[name]}), i, mask)",
            lambda at, value: self._store(dtype, f"k{name}", f"(i + {at}) * {TILE}", value),
        )

    def _scattered(self, name: str, dtype: str) -> Iterator[str]:
        """Columns to rows."""
        some = self.source.name(f"store_some_{dtype}", vectors.store_some(dtype, TILE))
        yield from self._squares(
            lambda at: self._load(dtype, f"k{name}", f"(i + {at}) * {TILE}"),
            lambda row, value: (
                f"{some}(advance(p{name}, {row} * {self.strides[name]}), i, {value}, mask)"
            ),
        )

    def _squares(
        self, load: Callable[[int], str], store: Callable[[int, str], str]
    ) -> Iterator[str]:
        """Turn squares of a block's side in registers, and store what was loaded."""
        yield f"for i in range(0, n_inner, {TILE}):"
        yield f"    count = min(n_inner - i, int64({TILE}))"
        yield f"    mask = {self.source.name(f'first_{TILE}', vectors.first(TILE))}(count)"
        yield from (f"    x{lane} = {load(lane)}" for lane in range(TILE))
        x, y = "x", "y"
        for apart in HALVES:
            for lane in range(TILE):
                kind = "high" if lane & apart else "low"
                own = vectors.exchanged(apart, is_high=bool(lane & apart))
                exchange = self.source.name(f"{kind}_exchanged_{apart}", own)
                yield f"    {y}{lane} = {exchange}({x}{lane & ~apart}, {x}{lane | apart})"
            x, y = y, x
        yield from (f"    {store(lane, f'{x}{lane}')}" for lane in range(TILE))

    def _load(self, dtype: str, where: str, index: str) -> str:
        own = self.source.name(f"load_block_{dtype}", vectors.load(dtype, TILE))
        return f"{own}({where}, {index})"

    def _store(self, dtype: str, where: str, index: str, value: str) -> str:
        own = self.source.name(f"store_block_{dtype}", vectors.store(dtype, TILE))
        return f"{own}({where}, {index}, {value})"


def takes_columns_of_rows(source: Walks) -> bool:
    """Whether a kernel that takes tiles takes short rows side by side."""
    fits = _core.vector_bits() >= 256
    return fits and is_side_by_side(source.kernel, source.plan.passes)
