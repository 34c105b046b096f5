"""Folds over rows in the Python text of kernels, with the partial results that all linkers have.

The sets of partial results are in variables, which LLVM keeps in registers. Each block folds into
the first, and the sets rotate by one. Where a pass has too many folds for that, each set stays in
its place in memory.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol

import numpy as np

import frazil._core as _core
from frazil.graph.dataclass import dataclass
from frazil.link.kernel.loop_kernel import LoopKernel, Write
from frazil.link.kernel.reduction import LEVELS, SETS, TURNS, has_levels, identity
from frazil.link.numba import functions, runtime, vectors
from frazil.link.numba.lines import indented

CARRIED = SETS * TURNS
"""The blocks after which float sums are carried."""


_BY_PLACE = frozenset(("maximum", "minimum"))
"""The reductions whose result depends on the order of operands: of zeros, on their signs."""


def most_in_registers() -> int:
    """The folds of a pass up to which their sets, four blocks each, stay in registers.

    AVX-512 has 32 registers of a block each, AVX2 16 of half a block.
    """
    return 4 if _core.vector_bits() == 512 else 1


class KernelText(Protocol):
    """The text that a fold is a part of."""

    kernel: LoopKernel
    row: str
    is_last: str

    def name(self, name: str, value: object) -> str:
        """The name of a value in the text."""
        ...

    def fold(self, reduce: str, dtype: str, so_far: str, value: str) -> list[str]:
        """Lines of Python; the last is the expression that folds one more value in."""
        ...

    def fold_into(self, write: Write, where: str, index: str, value: str) -> Iterator[str]:
        """Fold one more value of the write's dtype into an element."""
        ...

    def written(self, write: Write) -> list[str]:
        """Lines of Python; the last is the value of a write, of its dtype."""
        ...


class BlockFold(Protocol):
    """A fold that takes the elements of a block."""

    def fold_block(self, *, is_end: bool) -> Iterator[str]:
        """Fold a block; ``is_end``: the row ends within it."""
        ...


@dataclass(frozen=True, slots=True)
class Folding:
    """What is folded over the row: a write, which may go on from row to row, or the fold that is
    the kernel's ``value``. ``in_memory``: there are too many folds for the registers.
    """

    source: KernelText
    k: int
    write: Write
    value: int | None
    in_memory: bool

    @property
    def lanes(self) -> int:
        """The lanes of a block."""
        return self.source.kernel.lanes

    def declare(self) -> Iterator[str]:
        """The sets of partial results, and the number of blocks that were folded."""
        k, write = self.k, self.write
        if self.in_memory or has_levels(write):
            levels = LEVELS if has_levels(write) else 1
            size = levels * SETS * self.lanes * np.dtype(write.dtype).itemsize
            yield f"a{k} = {self.source.name(f'stack_{size}', functions.stack(size))}()"
        if self.value is None:
            yield from self.start()

    def start(self) -> Iterator[str]:
        yield from self._empty_sets()
        yield f"blocks{self.k} = int64(0)"

    def _empty_sets(self) -> Iterator[str]:
        k, dtype, lanes = self.k, self.write.dtype, self.lanes
        empty = self.source.name(f"empty{k}", identity(str(self.write.reduce), dtype))
        for turn in range(SETS):
            if self.in_memory:
                yield self._store_set(f"{turn * lanes}", f"{dtype}({empty})")
            else:
                name = f"spread_{lanes}_{dtype}"
                spread = self.source.name(name, vectors.spread(dtype, lanes))
                yield f"a{k}_{turn} = {spread}({dtype}({empty}))"

    def _store_set(self, place: str, value: str) -> str:
        dtype = self.write.dtype
        own = self.source.name(f"store_block_{dtype}", vectors.store(dtype, self.lanes))
        return f"{own}(a{self.k}, {place}, {value})"

    def _load_set(self, place: str) -> str:
        dtype = self.write.dtype
        own = self.source.name(f"load_block_{dtype}", vectors.load(dtype, self.lanes))
        return f"{own}(a{self.k}, {place})"

    def fold_block(self, *, is_end: bool) -> Iterator[str]:
        """Fold a block into the set that has waited longest."""
        k, write = self.k, self.write
        *lines, value = self.source.written(write)
        yield from lines
        so_far = f"a{k}_0"
        if self.in_memory:
            so_far = f"so_far_of{k}"
            yield f"place{k} = (blocks{k} & {SETS - 1}) * {self.lanes}"
            yield f"{so_far} = {self._load_set(f'place{k}')}"
        *lines, folded = self.source.fold(str(write.reduce), write.dtype, so_far, value)
        yield from lines
        if is_end:
            select = self.source.name("select", functions.function("select", write.dtype))
            folded = f"{select}(mask, {folded}, {so_far})"
        if self.in_memory:
            yield self._store_set(f"place{k}", folded)
        else:
            yield f"folded{k} = {folded}"
            yield from self._rotate(f"folded{k}")
        yield f"blocks{k} += 1"

    def carry(self) -> Iterator[str]:
        """Let the next level have the sums of this one, if it is time."""
        k, write = self.k, self.write
        if has_levels(write):
            carry = self.source.name(f"carry_{write.dtype}", runtime.carry(write.dtype))
            turns = f"blocks{k} >> {CARRIED.bit_length() - 1}"
            yield f"if blocks{k} & {CARRIED - 1} == 0:"
            yield from indented(self._store_sets(), 1)
            yield f"    {carry}(a{k}, {turns}, {SETS * self.lanes})"
            if not self.in_memory:
                yield from indented(self._empty_sets(), 1)

    def _rotate(self, last: str) -> Iterator[str]:
        k = self.k
        for turn in range(1, SETS):
            yield f"a{k}_{turn - 1} = a{k}_{turn}"
        yield f"a{k}_{SETS - 1} = {last}"

    def _store_sets(self) -> Iterator[str]:
        """Put the sets to memory, at the first level, unless they are there."""
        if not self.in_memory:
            for turn in range(SETS):
                place = f"{turn * self.lanes}"
                yield self._store_set(place, f"a{self.k}_{turn}")

    def _to_places(self) -> Iterator[str]:
        """Let each set be in its place again."""
        k = self.k
        if self.in_memory:
            return
        yield f"for turn in range(-blocks{k} & {SETS - 1}):"
        yield f"    first{k} = a{k}_0"
        yield from indented(self._rotate(f"first{k}"), 1)

    def leave_row(self) -> Iterator[str]:
        """Fold the partial results: into the output where it moves on, or at the end."""
        k, write = self.k, self.write
        if self.value is not None:
            yield from self._fold_sets()
            start = f"v{self.source.kernel.folds[self.value].start}"
            *lines, folded = self.source.fold(str(write.reduce), write.dtype, start, f"total{k}")
            yield from lines
            yield f"v{self.value} = {folded}"
            return
        stride = f"strides[{self.source.kernel.pointers.index(f'{k}')}]"
        yield f"if {stride} != 0 or {self.source.is_last}:"
        yield from indented(self._fold_sets(), 1)
        place = f"{self.source.row}{k}"
        yield from indented(self.source.fold_into(write, place, "0", f"total{k}"), 1)
        yield from indented(self.start(), 1)

    def _fold_sets(self) -> Iterator[str]:
        """Let ``total`` be the fold of all partial results."""
        if not has_levels(self.write):
            yield from self._fold_registers()
            return
        yield f"if blocks{self.k} >= {CARRIED}:"
        yield from indented(self.fold_carried(), 1)
        yield "else:"
        yield from indented(self._fold_registers(), 1)

    def fold_carried(self) -> Iterator[str]:
        """Let ``total`` be the sum of partial sums, some of which were carried."""
        k, write, width = self.k, self.write, SETS * self.lanes
        fold = self.source.name(f"fold_sums_{write.dtype}", runtime.fold_sums(write.dtype))
        yield from self._to_places()
        yield from self._store_sets()
        few = f"int64({2 * width}) if blocks{k} < {CARRIED * TURNS} else int64({LEVELS * width})"
        yield f"total{k} = {fold}(a{k}, {few}, 0, {self.lanes})"

    def _fold_registers(self) -> Iterator[str]:
        """Let ``total`` be the fold of the sets in registers."""
        part = yield from self.join_sets()
        total = yield from _halved(self.source, self.k, self.write, part)
        yield f"total{self.k} = {total}"

    def join_sets(self) -> Generator[str, None, str]:
        """Fold the sets to one; its name."""
        k, dtype, reduce = self.k, self.write.dtype, str(self.write.reduce)
        if self.in_memory:
            for turn in range(SETS):
                place = f"{turn * self.lanes}"
                yield f"a{k}_{turn} = {self._load_set(place)}"
        elif reduce in _BY_PLACE:
            yield from self._to_places()
        part = f"part{k}_{self.lanes}"
        pairs = ((f"a{k}_0", f"a{k}_2"), (f"a{k}_1", f"a{k}_3"), (f"even{k}", f"odd{k}"))
        for name, (x, y) in zip((f"even{k}", f"odd{k}", part), pairs, strict=True):
            *lines, folded = self.source.fold(reduce, dtype, x, y)
            yield from lines
            yield f"{name} = {folded}"
        return part


@dataclass(frozen=True, slots=True)
class BlockFolding:
    """The fold of a row of one block, into an output with an element for each row."""

    source: KernelText
    k: int
    write: Write

    def fold_block(self, *, is_end: bool) -> Iterator[str]:
        """Keep the block."""
        *lines, value = self.source.written(self.write)
        yield from lines
        yield f"block{self.k} = {value}"

    def leave_row(self) -> Iterator[str]:
        """Fold the elements, and the result into the output."""
        total = yield from _halved(self.source, self.k, self.write, f"block{self.k}")
        yield from self.source.fold_into(self.write, f"p{self.k}", "0", total)


def _halved(source: KernelText, k: int, write: Write, part: str) -> Generator[str, None, str]:
    """Fold the lanes of a set by halves; the name of the number that is left."""
    lanes = source.kernel.lanes
    low, high = source.name("low", vectors.low), source.name("high", vectors.high)
    while lanes > 1:
        lanes //= 2
        yield f"low{k}_{lanes} = {low}({part})"
        yield f"high{k}_{lanes} = {high}({part})"
        halves = f"low{k}_{lanes}", f"high{k}_{lanes}"
        *lines, folded = source.fold(str(write.reduce), write.dtype, *halves)
        yield from lines
        part = f"part{k}_{lanes}"
        yield f"{part} = {folded}"
    return part
