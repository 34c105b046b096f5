"""The loop kernel: what a fused chain of elementwise ops and reductions becomes.

A :class:`LoopKernel` says what happens to one element of a loop; it knows no shapes and no rank.
The runtime walks the outer dimensions and gives the kernel the last two. Every linker that makes
native code lowers the same kernel.

The native form of a kernel is ``int32_t kernel(char *const *pointers, int64_t n_outer, int64_t
n_inner, const int64_t *outer_strides)``; pointers and strides, in bytes, list the reads, the
sources, the writes and the puts. Behind them stand, for each source and put, a table of integers:
its step along the inner dimension, and for each index the length and stride of its axis; if there
are any, room for a report of two integers; and the buffers of the kernel's passes
(:mod:`frazil.link.kernel.passes`): a buffer with a stride has room for eight rows, else for one. It
returns a :class:`Status`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from frazil.graph.cached_property import cached_property
from frazil.link.kernel.cost import cost

if TYPE_CHECKING:
    from frazil.scalar.op import ScalarOp

BLOCK_BYTES = 64
"""The size of a block of one type: a cache line, and a vector of AVX-512."""

LIGHT = 16
"""What the statements of a kernel cost together, at most, whose blocks are of its narrowest type:
several vectors of wider ones, and so the code for each statement several times."""


@dataclass(frozen=True, slots=True)
class Read:
    """An operand. ``inner``: it moves along the innermost dimension, else it is constant there."""

    dtype: str
    inner: bool


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A scalar constant: a Python bool, int or float that ``dtype`` represents exactly.

    Compared by content: 0.0 and -0.0 differ, a NaN equals itself.
    """

    dtype: str
    value: bool | int | float

    def _content(self) -> tuple[str, str]:
        return self.dtype, repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())


@dataclass(frozen=True, slots=True)
class Statement:
    """One scalar op; ``args`` index the kernel's values: reads, then literals, then statements."""

    op: ScalarOp
    args: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Fold:
    """A value folded over the row by the scalar op that ``reduce`` names.

    It does not move, and is known when the row has been walked: what uses it walks the row again.
    ``start`` is the literal that the row is folded into.
    """

    reduce: str
    start: int
    arg: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read where indices say; ``inner`` as for :class:`Read`.

    Each index moves along one axis of it: ``indices`` is their number.
    """

    dtype: str
    inner: bool
    indices: int


@dataclass(frozen=True, slots=True)
class Take:
    """The element of a source that indices, the values ``args``, point at.

    Negative ones count from the end. The first that is out of bounds ends the kernel.
    """

    source: int
    args: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Scan:
    """All elements of the row so far, folded by the scalar op that ``reduce`` names, in order."""

    reduce: str
    args: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Put:
    """An output that is written where indices, the values ``args``, say, in order.

    ``reduce`` as for :class:`Write`; ``inner`` as for :class:`Source`.
    """

    value: int
    args: tuple[int, ...]
    dtype: str
    inner: bool
    reduce: str | None


@dataclass(frozen=True, slots=True)
class Write:
    """An output. ``reduce``: None, or the name of the scalar op that folds elements into it
    (add, mul, maximum, minimum, and_, or_); the runtime fills it with the identity first.
    ``inner``: it moves along the innermost dimension; a reduction over that dimension has False.
    ``of_rows``: such a reduction, which moves along another dimension.
    """

    value: int
    dtype: str
    inner: bool
    reduce: str | None
    of_rows: bool = False

    @property
    def walks(self) -> bool:
        """Whether it takes an element at each position of the row, not one of each row."""
        return self.inner or self.reduce is not None


@dataclass(frozen=True)
class LoopKernel:
    """The body of one loop, in single assignment form.

    With a :class:`Fold` or a :class:`Scan` among its statements it *takes whole rows*: the runtime
    gives it all of the last dimension at once. Sources and puts are there for indices.
    """

    reads: tuple[Read, ...]
    literals: tuple[Literal, ...]
    statements: tuple[Statement | Take | Scan | Fold, ...]
    writes: tuple[Write, ...]
    sources: tuple[Source, ...] = ()
    puts: tuple[Put, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Kernels are looked up often, and have many statements."""
        parts = (self.reads, self.literals, self.statements, self.writes, self.sources, self.puts)
        return hash(parts)

    @cached_property
    def ops(self) -> Mapping[int, Statement | Take | Scan]:
        """The statements that make an element of elements, by the number of their value."""
        first = len(self.reads) + len(self.literals)
        return {k: own for k, own in enumerate(self.statements, first) if not isinstance(own, Fold)}

    @cached_property
    def folds(self) -> Mapping[int, Fold]:
        """The folds of rows, by the number of their value."""
        first = len(self.reads) + len(self.literals)
        return {k: own for k, own in enumerate(self.statements, first) if isinstance(own, Fold)}

    @cached_property
    def takes_rows(self) -> bool:
        """Whether it takes whole rows."""
        return any(isinstance(own, (Fold, Scan)) for own in self.statements)

    @cached_property
    def dtypes(self) -> tuple[str, ...]:
        """The dtype of every value: reads, literals, statements."""
        reads = tuple(read.dtype for read in self.reads)
        literals = tuple(literal.dtype for literal in self.literals)
        return reads + literals + tuple(statement.dtype for statement in self.statements)

    @cached_property
    def uniform(self) -> tuple[bool, ...]:
        """For every value, whether it is constant along the innermost dimension."""
        known = [not read.inner for read in self.reads] + [True] * len(self.literals)
        for statement in self.statements:
            if isinstance(statement, Fold):
                known.append(True)
                continue
            moves = isinstance(statement, Scan) or (
                isinstance(statement, Take) and self.sources[statement.source].inner
            )
            known.append(not moves and all(known[argument] for argument in statement.args))
        return tuple(known)

    @cached_property
    def lanes(self) -> int:
        """How many elements make a block: as many of one type as a cache line holds.

        That is the widest one; but where little is done with an element it is the narrowest one in
        memory, since compilers turn vectors of narrow elements into several of wide ones, and do
        not do so with a part of one.

        It is the same on every machine and for every compiler, and so are sums, which have a
        partial sum for each. A kernel in which nothing moves takes one element at a time.
        """
        inner = [read.inner for read in self.reads] + [write.inner for write in self.writes]
        inner += [source.inner for source in self.sources] + [put.inner for put in self.puts]
        if True not in inner:
            return 1
        varying = [d for d, uniform in zip(self.dtypes, self.uniform, strict=True) if not uniform]
        folded = [fold.dtype for fold in self.folds.values()]
        written = [write.dtype for write in self.writes] + [put.dtype for put in self.puts]
        dtypes = (*varying, *folded, *written)
        if self.is_light:
            dtypes = (*(read.dtype for read in self.reads if read.inner), *written)
            return BLOCK_BYTES // min(np.dtype(dtype).itemsize for dtype in dtypes)
        return BLOCK_BYTES // max(np.dtype(dtype).itemsize for dtype in dtypes)

    @cached_property
    def is_light(self) -> bool:
        """Whether a row is walked once, and little is done with an element."""
        if self.takes_rows or self.sources or self.puts:
            return False
        return sum(cost(own.op) for own in self.ops.values() if isinstance(own, Statement)) <= LIGHT

    @property
    def pointers(self) -> tuple[str, ...]:
        """A name for every pointer that the kernel is given; those of reads and writes are numbers,
        reads first.
        """
        reads, sources = range(len(self.reads)), range(len(self.sources))
        writes, puts = range(len(self.writes)), range(len(self.puts))
        tables = [f"g{k}" for k in sources] + [f"h{k}" for k in puts]
        return (
            *(f"{k}" for k in reads),
            *(f"x{k}" for k in sources),
            *(f"{len(reads) + k}" for k in writes),
            *(f"y{k}" for k in puts),
            *tables,
            *(["report"] if tables else []),
        )


class Status(IntEnum):
    """What a native kernel returns."""

    OK = 0
    NEGATIVE_POWER = 1  # integers to negative integer powers are not allowed
    OUT_OF_BOUNDS = 2  # an index: which one, and its value, stand in the report
    ENDED = 3  # no fault: a recurrence's condition held
    STOPPED = 4  # no fault: it asked whether to stop, and the answer was yes


class LoweringError(NotImplementedError):
    """An op has no form in the language of a kernel compiler."""
