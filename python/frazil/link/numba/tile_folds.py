"""The folds of the rows of a tile: each row leaves a set, and all sets are folded together."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.link.kernel.reduction import has_levels, identity
from frazil.link.kernel.tiles import TILE
from frazil.link.numba import functions, vectors
from frazil.link.numba.lines import indented
from frazil.link.numba.row_folds import CARRIED, Folding


@dataclass(frozen=True, slots=True)
class RowFolding(Folding):
    """The fold of each row of a tile: the kernel's ``value``.

    The sets of the rows, ``j``, are folded by halves as one alone would be. A row whose sums were
    carried is alone in its tile.
    """

    def declare(self) -> Iterator[str]:
        """Room for a set of each row."""
        yield from Folding.declare(self)
        k, dtype, lanes = self.k, self.write.dtype, self.lanes
        size = TILE * lanes * np.dtype(dtype).itemsize
        yield f"j{k} = {self.source.name(f'stack_{size}', functions.stack(size))}()"
        empty = self.source.name(f"empty{k}", identity(str(self.write.reduce), dtype))
        for row in range(TILE):
            yield self._store_row(f"{row * lanes}", f"{dtype}({empty})")

    def _store_row(self, place: str, value: str) -> str:
        dtype = self.write.dtype
        own = self.source.name(f"store_block_{dtype}", vectors.store(dtype, self.lanes))
        return f"{own}(j{self.k}, {place}, {value})"

    def leave_row(self) -> Iterator[str]:
        """Fold the sets of row ``r`` to one."""
        if has_levels(self.write):
            yield f"if blocks{self.k} >= {CARRIED}:"
            yield from indented(self.fold_carried(), 1)
            yield "else:"
            yield from indented(self._leave_set(), 1)
        else:
            yield from self._leave_set()

    def _leave_set(self) -> Iterator[str]:
        part = yield from self.join_sets()
        yield self._store_row(f"r * {self.lanes}", part)

    def leave_rows(self) -> Iterator[str]:
        """Let ``totals`` have the fold of each row in a lane."""
        k = self.k
        folded = [*self._folded_rows()]
        if has_levels(self.write):
            name = f"spread_{TILE}_{self.write.dtype}"
            spread = self.source.name(name, vectors.spread(self.write.dtype, TILE))
            yield f"if n_inner > {(CARRIED - 1) * self.lanes}:"
            yield f"    totals{k} = {spread}(total{k})"
            yield "else:"
            yield from indented(folded, 1)
        else:
            yield from folded

    def _folded_rows(self) -> Iterator[str]:
        dtype, lanes = self.write.dtype, self.lanes
        own = self.source.name(f"load_block_{dtype}", vectors.load(dtype, lanes))
        rows = []
        for row in range(TILE):
            name = f"row{self.k}_{row}"
            yield f"{name} = {own}(j{self.k}, {row * lanes})"
            rows.append((yield from self._halved(name, name, lanes, to=TILE)))
        width = TILE
        while len(rows) > 1:
            pairs = [*zip(rows[::2], rows[1::2], strict=True)]
            rows = []
            for at, (x, y) in enumerate(pairs):
                rows.append(
                    (yield from self._folded_pair(x, y, width, f"pair{self.k}_{width}_{at}"))
                )
            width //= 2
        yield f"totals{self.k} = {rows[0]}"

    def _halved(self, name: str, part: str, lanes: int, to: int) -> Generator[str, None, str]:
        """Fold the lanes of a set by halves until so many are left."""
        while lanes > to:
            lanes //= 2
            low, high = self.source.name("low", vectors.low), self.source.name("high", vectors.high)
            yield f"{name}_low{lanes} = {low}({part})"
            yield f"{name}_high{lanes} = {high}({part})"
            yield from self._fold(f"{name}_{lanes}", f"{name}_low{lanes}", f"{name}_high{lanes}")
            part = f"{name}_{lanes}"
        return part

    def _folded_pair(self, x: str, y: str, width: int, name: str) -> Generator[str, None, str]:
        """Fold each group of lanes of two vectors by halves, and put the groups together."""
        for half, is_low in (("low", True), ("high", False)):
            own = self.source.name(f"{half}_of_{width}", vectors.halves(width, is_low=is_low))
            yield f"{name}_{half} = {own}({x}, {y})"
        yield from self._fold(name, f"{name}_low", f"{name}_high")
        return name

    def _fold(self, name: str, x: str, y: str) -> Iterator[str]:
        *lines, folded = self.source.fold(str(self.write.reduce), self.write.dtype, x, y)
        yield from lines
        yield f"{name} = {folded}"
