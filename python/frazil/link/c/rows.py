"""How a kernel goes through its rows, in C: one by one, or by tiles of a few.

A kernel that folds rows takes several short rows at a time, a tile, through each of its passes:
what happens once a row between passes is a loop over the rows of the tile, which is vectorised,
too, and no row waits for the fold of the one before. The values that do not move are then kept in
arrays ``t``, an element a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, place
from frazil.link.c.folding import CARRIED
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indices import take
from frazil.link.c.operands import Moving, Operands
from frazil.link.c.values import Values
from frazil.link.kernel.cost import cost
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, Statement, Take, Write
from frazil.link.kernel.passes import Pass, Passes
from frazil.link.kernel.reduction import SETS

TILE = 8
"""Rows of a tile: as many as buffers with a stride have room for."""

AHEAD = 4096
"""Bytes ahead at which memory is asked for: a page, as the processor foresees what comes within one
alone."""

MANY = 1 << 14
"""Elements from which on an array may lie beyond the caches: fewer come only from smaller ones."""


class Rows:
    """Rows are taken one by one.

    Attributes
    ----------
    most : int
        The rows that are taken at a time, at most.
    count : str
        The expression of the rows that are taken at the present time.
    step : str
        The expression of the rows after which the next ones are taken.
    is_last : str
        Whether a row is the last one.
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
        """What all rows share."""
        return ()

    def declare_prefetch(self) -> Iterable[c.Statement]:
        """How far ahead memory is asked for by kernels that fold."""
        return (c.Const("i8", "ahead", f"n_outer * n_inner >= {MANY} ? {AHEAD} : 0"),)

    def enter(self) -> Iterable[c.Statement]:
        """Find how many rows are taken now."""
        return ()

    def moved(self, stride: str) -> str:
        """The bytes to the next rows of an operand."""
        return stride

    def start(self, operand: Moving) -> str:
        """Where the present row of an operand starts."""
        return f"p{operand.name}"

    def end(self, operand: Moving) -> str:
        """The copy of the end of the present row of an operand."""
        return f"(char *)e{operand.name}"

    def element(self, k: int) -> str:
        """The pointer to the element of a read or write that does not move along the row."""
        return f"p{k}"

    def at_hand(self, values: Iterable[int]) -> Iterable[c.Statement]:
        """Let those of the values that do not move be at hand for the present row."""
        return ()

    def uniform_reads(self) -> Iterable[c.Statement]:
        """Read the operands that do not move along the row."""
        for k, read in enumerate(self.kernel.reads):
            if not read.inner:
                yield c.Const(C_TYPES[read.dtype], f"v{k}", self._read(k))

    def uniform_values(self, at: int) -> Iterable[c.Statement]:
        """What is computed once a row before pass number ``at``."""
        return self._computed(at, "0")

    def walk(self, body: Sequence[c.Statement]) -> c.Statement:
        """What is done with each of the present rows."""
        return c.Block(body)

    def enter_pass(self, one: Pass) -> Iterable[c.Statement]:
        """Find the memory that is asked for during a pass."""
        return ()

    def prefetch(self, one: Pass, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Ask for memory that comes later than the present block of a pass."""
        return _ahead(moving, self.kernel.lanes)

    def prefetch_sets(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        """Ask for memory that comes later than the present blocks, one for each set."""
        return _ahead(moving, SETS * self.kernel.lanes)

    def uniform_writes(self) -> Iterator[c.Statement]:
        """Write the values that do not move along the row."""
        kernel = self.kernel
        numbered = enumerate(kernel.writes, self.values.n_reads)
        writes = [(k, write) for k, write in numbered if not write.walks]
        if not writes:
            return
        if not all(kernel.uniform[write.value] for _, write in writes):
            raise ValueError("a write that does not move needs a value that does not")
        needed = self.at_hand(write.value for _, write in writes)
        yield from self._written([*needed, *(self._store(k, write) for k, write in writes)])

    def _written(self, stores: Sequence[c.Statement]) -> Iterable[c.Statement]:
        """Write values that do not move, for each of the present rows."""
        return stores

    def _store(self, k: int, write: Write) -> c.Assign:
        return c.Assign(place(write.dtype, self.element(k), "0"), self.values.written(write))

    def _read(self, k: int) -> str:
        """The element of a read that does not move along the row."""
        return load(self.kernel.reads[k].dtype, self.element(k), "0")

    def _folds_before(self, at: int) -> Sequence[int]:
        """The folds that the pass before has folded."""
        return self.passes[at - 1].folds if at else ()

    def _computed(self, at: int, row: str) -> Iterator[c.Statement]:
        """Compute what does not move, for one row, before pass number ``at``."""
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
        self._kept = self._find_kept()
        self._busiest = self._find_busiest()
        self._next = [each for each in operands.moving if each.is_read != each.is_written]

    def declare(self) -> Iterator[c.Statement]:
        # A row that is short enough to be summed in registers, and a buffer for several.
        conditions = [f"n_inner <= {(CARRIED - 1) * self.kernel.lanes}"]
        conditions += [self.operands.stride(name) for name in self.operands.buffers]
        yield c.Const("i8", "tile", f"{' && '.join(conditions)} ? {TILE} : 1")
        for k in self._kept:
            yield c.Array(self.values.type(k), f"t{k}", TILE)

    def declare_prefetch(self) -> Iterable[c.Statement]:
        return ()  # what is asked for is the next tile

    def enter(self) -> Iterable[c.Statement]:
        return (c.Const("i8", "rows", "n_outer - outer < tile ? n_outer - outer : tile"),)

    def moved(self, stride: str) -> str:
        return f"rows * {stride}"

    def start(self, operand: Moving) -> str:
        return f"p{operand.name} + r * {self.operands.stride(operand.name)}"

    def end(self, operand: Moving) -> str:
        # What rows are gathered in has one end.
        gathers = operand.is_read and operand.is_written
        row = f"({self.operands.stride(operand.name)} ? r : 0)" if gathers else "r"
        return f"(char *)(e{operand.name} + {row} * {self.kernel.lanes})"

    def element(self, k: int) -> str:
        return f"(p{k} + r * {self.operands.stride(k)})"

    def at_hand(self, values: Iterable[int]) -> Iterator[c.Statement]:
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
            *self.at_hand(operands.difference(made)),
            *self._computed(at, "r"),
            *(c.Assign(f"t{k}[r]", f"v{k}") for k in made if k in self._kept),
        ]
        if all(map(self.values.is_vector, uniform)):
            yield c.For("i4 r = 0", f"r < {TILE}", "++r", body, c.SIMD)
        else:
            yield c.For("i4 r = 0", "r < rows", "++r", body)

    def walk(self, body: Sequence[c.Statement]) -> c.Statement:
        return c.For("i8 r = 0", "r < rows", "++r", body)

    def _written(self, stores: Sequence[c.Statement]) -> Iterable[c.Statement]:
        return (self.walk(stores),)

    def enter_pass(self, one: Pass) -> Iterator[c.Statement]:
        if one is self._busiest:
            for each in self._next:
                start = f"p{each.name} + (rows + r) * {self.operands.stride(each.name)}"
                yield c.Declare("char", f"*n{each.name}", start)

    def prefetch(self, one: Pass, moving: Sequence[Moving]) -> Iterator[c.Statement]:
        """In the pass that takes the longest: ask for the next tile's operands."""
        if one is self._busiest:
            for each in self._next:
                yield c.Do(f"__builtin_prefetch(n{each.name} + i * {each.size})")

    def prefetch_sets(self, moving: Sequence[Moving]) -> Iterable[c.Statement]:
        return ()

    def _find_kept(self) -> list[int]:
        """The values without motion that are kept for each row of a tile: those of which something
        is made later on.
        """
        kernel, uniform = self.kernel, self.kernel.uniform
        loops: dict[int, int] = {}  # the loop over the rows that makes each value
        for at, one in enumerate(self.passes):
            loops.update(dict.fromkeys(one.folds, at + 1) | dict.fromkeys(one.uniform, at))
        used = {write.value for write in kernel.writes}
        used.update(fold.arg for fold in kernel.folds.values())
        for k, own in kernel.ops.items():
            used.update(a for a in own.args if not uniform[k] or loops.get(a) != loops[k])
        return [k for k in sorted(used) if uniform[k] and self.values.is_declared(k)]

    def _find_busiest(self) -> Pass:
        """The pass in which there is most time to fetch the next tile's operands."""
        ops = self.kernel.ops
        costs = []
        for one in self.passes:
            own = (ops[k] for k in one.varying)
            costs.append(sum(cost(op.op if isinstance(op, Statement) else op) for op in own))
        return self.passes[costs.index(max(costs))]


def rows_of(values: Values, operands: Operands, passes: Passes) -> Rows:
    """How the rows of a kernel are taken."""
    kernel = values.kernel
    # Indices move from row to row, and may end the kernel in the middle of one.
    indexed = bool(kernel.sources or kernel.puts)
    by_tiles = bool(kernel.folds) and kernel.lanes > 1 and not indexed
    return (RowTiles if by_tiles else Rows)(values, operands, passes)


def _ahead(moving: Sequence[Moving], elements: int) -> Iterator[c.Statement]:
    """Ask for memory ahead where only one array is read, of which some elements are taken at a
    time: the processor reads several arrays side by side as fast by itself.
    """
    read = [operand for operand in moving if operand.is_read and not operand.is_written]
    if len(read) != 1:
        return
    [operand] = read
    for line in range(0, elements * operand.size, BLOCK_BYTES):
        # Not behind a condition: a loop with branches may not be vectorised.
        yield c.Do(f"__builtin_prefetch(q{operand.name} + {line} + ahead)")
