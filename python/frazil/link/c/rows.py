"""The way of a kernel through its rows, in C: one by one, or by tiles of a few.

In a tile, what happens once a row between passes is a loop over the rows, which is vectorised, too.
Uniform values, which are the same for all elements of a row, are then kept in arrays ``t``, one
element a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indices import take
from frazil.link.c.operands import Moving, Operands
from frazil.link.c.row_folds import CARRIED
from frazil.link.c.values import Values
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, Take, Write
from frazil.link.kernel.passes import Pass, Passes
from frazil.link.kernel.prefetching import AHEAD, PREFETCHED_FROM
from frazil.link.kernel.reduction import SETS
from frazil.link.kernel.tiles import TILE, busiest, kept_values, takes_tiles


class Rows:
    """Rows are taken one by one.

    Attributes
    ----------
    most : int
        The most rows that are taken at a time.
    count : str
        The expression of how many rows are taken now.
    step : str
        The expression of how many rows are taken at a time, unless fewer are left.
    is_last : str
        The condition that the present row is the last one.
    """

    most = 1
    count = "1"
    step = "1"
    is_last = "outer == n_outer - 1"

    def __init__(self, values: Values, operands: Operands, passes: Passes) -> None:
        self.values = values
        self.kernel = values.kernel
        self.operands = operands
        self.passes = passes.passes

    def declare(self) -> Iterable[c.Statement]:
        """Data that all rows share."""
        return ()

    def declare_prefetch(self) -> Iterable[c.Statement]:
        """The distance by which kernels that fold prefetch."""
        return (c.Const("i8", "ahead", f"n_outer * n_inner >= {PREFETCHED_FROM} ? {AHEAD} : 0"),)

    def enter(self) -> Iterable[c.Statement]:
        """Count the rows that are taken now."""
        return ()

    def advance(self, stride: str) -> str:
        """The bytes from the present rows of an operand to the next ones."""
        return stride

    def start(self, operand: Moving) -> str:
        """The pointer to the present row of an operand."""
        return f"p{operand.name}"

    def end(self, operand: Moving) -> str:
        """The pointer to the copy of the end of the present row of an operand."""
        return f"(char *)e{operand.name}"

    def element(self, k: int) -> str:
        """The pointer to the element of a uniform read or write in the present row."""
        return f"p{k}"

    def load_uniform(self, values: Iterable[int]) -> Iterable[c.Statement]:
        """Load the values that are uniform, for the present row."""
        return ()

    def uniform_reads(self) -> Iterable[c.Statement]:
        """Read the uniform operands."""
        for k, read in enumerate(self.kernel.reads):
            if not read.inner:
                yield c.Const(C_TYPES[read.dtype], f"v{k}", self._read(k))

    def uniform_values(self, at: int) -> Iterable[c.Statement]:
        """Compute the uniform values that pass number ``at`` needs first."""
        return self._computed(at, "0")

    def walk(self, body: Sequence[c.Statement]) -> c.Statement:
        """The loop over the present rows."""
        return c.Block(body)

    def enter_pass(self, row_pass: Pass) -> Iterable[c.Statement]:
        """Point to the memory that is prefetched during a pass."""
        return ()

    def prefetch(self, row_pass: Pass, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Prefetch memory that comes after the present block of a pass."""
        return _ahead(moving, self.kernel.lanes)

    def prefetch_sets(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Prefetch memory that comes after the present blocks, one for each set."""
        return _ahead(moving, SETS * self.kernel.lanes)

    def uniform_writes(self) -> Iterator[c.Statement]:
        """Write the uniform values."""
        kernel = self.kernel
        numbered = enumerate(kernel.writes, self.values.n_reads)
        writes = [(k, write) for k, write in numbered if not write.walks]
        if not writes:
            return
        if not all(kernel.uniform[write.value] for _, write in writes):
            raise ValueError("a write that does not move needs a value that does not")
        needed = self.load_uniform(write.value for _, write in writes)
        yield from self._for_each_row([*needed, *(self._store(k, write) for k, write in writes)])

    def _for_each_row(self, stores: Sequence[c.Statement]) -> Iterable[c.Statement]:
        """Store something for each of the present rows."""
        return stores

    def _store(self, k: int, write: Write) -> c.Assign:
        return c.Assign(place(write.dtype, self.element(k), "0"), self.values.written(write))

    def _read(self, k: int) -> str:
        """The element of a uniform read in the present row."""
        return load(self.kernel.reads[k].dtype, self.element(k), "0")

    def _folds_before(self, at: int) -> Sequence[int]:
        """The folds of the pass before, whose results are there now."""
        return self.passes[at - 1].folds if at else ()

    def _computed(self, at: int, row: str) -> Iterator[c.Statement]:
        """Compute the uniform values of one row that pass number ``at`` needs first."""
        kernel = self.kernel
        for k in self._folds_before(at):
            fold = kernel.folds[k]
            folded = f"row{len(kernel.writes) + k}[{row}]"
            start = self.values.texts[fold.start]
            value = self.values.unit.fold(fold.reduce, fold.dtype, start, folded)
            yield c.Const(C_TYPES[fold.dtype], f"v{k}", value)
        for k in self.passes[at].uniform:
            own = kernel.ops[k]
            if isinstance(own, Take):
                yield from take(self.values, k, own, "0")
            else:
                yield from self.values.computed(k)


class RowTiles(Rows):
    """Rows are taken by tiles."""

    most = TILE
    count = "rows"
    step = "tile"
    is_last = "outer + r == n_outer - 1"

    def __init__(self, values: Values, operands: Operands, passes: Passes) -> None:
        super().__init__(values, operands, passes)
        self._kept = kept_values(self.kernel, self.passes)
        self._busiest = busiest(self.kernel, self.passes)
        self._next = [each for each in operands.moving if each.is_read != each.is_written]

    def declare(self) -> Iterator[c.Statement]:
        # Rows must be short enough to be summed in registers, and buffers have room for several.
        conditions = [f"n_inner <= {(CARRIED - 1) * self.kernel.lanes}"]
        conditions += [self.operands.stride(name) for name in self.operands.buffers]
        yield c.Const("i8", "tile", f"{' && '.join(conditions)} ? {TILE} : 1")
        yield from self.declare_kept()

    def declare_kept(self) -> Iterator[c.Statement]:
        """Room for the uniform values that are kept for each row of the tile."""
        for k in self._kept:
            yield c.Array(self.values.type(k), f"t{k}", TILE)

    def declare_prefetch(self) -> Iterable[c.Statement]:
        return ()  # the next tile is prefetched

    def enter(self) -> Iterable[c.Statement]:
        return (c.Const("i8", "rows", "n_outer - outer < tile ? n_outer - outer : tile"),)

    def advance(self, stride: str) -> str:
        return f"rows * {stride}"

    def start(self, operand: Moving) -> str:
        return f"p{operand.name} + r * {self.operands.stride(operand.name)}"

    def end(self, operand: Moving) -> str:
        # An output into which rows are gathered has one end.
        gathers = operand.is_read and operand.is_written
        row = f"({self.operands.stride(operand.name)} ? r : 0)" if gathers else "r"
        return f"(char *)(e{operand.name} + {row} * padded)"

    def element(self, k: int) -> str:
        return f"(p{k} + r * {self.operands.stride(k)})"

    def load_uniform(self, values: Iterable[int]) -> Iterator[c.Statement]:
        for k in sorted(set(values)):
            if self.kernel.uniform[k] and self.values.is_declared(k):
                yield c.Const(self.values.type(k), f"v{k}", f"t{k}[r]")

    def uniform_reads(self) -> Iterator[c.Statement]:
        reads = self.kernel.reads
        if all(read.inner for read in reads):
            return
        kept = [k for k in self._kept if k < len(reads)]
        body = [c.Assign(f"t{k}[r]", self._read(k)) for k in kept]
        yield c.For("i8 r = 0", "r < rows", "++r", body)

    def uniform_values(self, at: int) -> Iterator[c.Statement]:
        folds, uniform = self._folds_before(at), self.passes[at].uniform
        if not folds and not uniform:
            return
        made = (*folds, *uniform)
        operands = {a for k in uniform for a in self.kernel.ops[k].args}
        body = [
            *self.load_uniform(operands.difference(made)),
            *self._computed(at, "r"),
            *(c.Assign(f"t{k}[r]", f"v{k}") for k in made if k in self._kept),
        ]
        if all(map(self.values.is_vector, uniform)):
            yield c.For("i4 r = 0", f"r < {TILE}", "++r", body, c.SIMD)
        else:
            yield c.For("i4 r = 0", "r < rows", "++r", body)

    def walk(self, body: Sequence[c.Statement]) -> c.Statement:
        return c.For("i8 r = 0", "r < rows", "++r", body)

    def _for_each_row(self, stores: Sequence[c.Statement]) -> Iterable[c.Statement]:
        return (self.walk(stores),)

    def enter_pass(self, row_pass: Pass) -> Iterator[c.Statement]:
        if row_pass is self._busiest:
            for each in self._next:
                start = f"p{each.name} + (rows + r) * {self.operands.stride(each.name)}"
                yield c.Declare("char", f"*n{each.name}", start)

    def prefetch(self, row_pass: Pass, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        """Prefetch the operands of the next tile, in the pass that takes the longest."""
        if row_pass is self._busiest:
            for each in self._next:
                yield c.Do(f"__builtin_prefetch(n{each.name} + i * {each.size})")

    def prefetch_sets(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        return ()


def rows_of(values: Values, operands: Operands, passes: Passes) -> Rows:
    """The way in which a kernel takes its rows."""
    by_tiles = takes_tiles(values.kernel)
    return (RowTiles if by_tiles else Rows)(values, operands, passes)


def _ahead(moving: Sequence[Moving], elements: int) -> Iterator[c.Statement]:
    """Prefetch memory where only one array is read, so many elements at a time: the processor reads
    several arrays side by side as fast by itself.
    """
    read = [operand for operand in moving if operand.is_read and not operand.is_written]
    if len(read) != 1:
        return
    [operand] = read
    for line in range(0, elements * operand.size, BLOCK_BYTES):
        # Not behind a condition: a loop with branches may not be vectorised.
        yield c.Do(f"__builtin_prefetch(q{operand.name} + {line} + ahead)")
