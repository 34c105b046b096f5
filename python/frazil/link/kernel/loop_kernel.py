"""The loop kernel: fused elementwise ops and reductions.

A :class:`LoopKernel` describes the work on one element of a loop; it knows no shapes and no rank.
The runtime walks the outer dimensions and gives the kernel the last two. Every linker that makes
native code lowers the same kernel.

The native form of a kernel is ``int32_t kernel(char *const *pointers, int64_t n_outer, int64_t
n_inner, const int64_t *outer_strides)``. Pointers and strides (in bytes) list the reads, the
sources, the writes and the puts. More pointers follow. For each source and put: a table of
integers, which holds its stride along the inner dimension and, for each index, the length and the
stride of its axis. If there are any such tables: room for a report of two integers. At last the
buffers of the kernel's passes (:mod:`frazil.link.kernel.passes`): a buffer with a stride has room
for eight rows, one without for a single row. The function returns a :class:`Status`.

The parts of a kernel are tuples with names: a kernel of many statements is made, hashed and
compared in half the time that frozen dataclasses would take.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.kernel.cost import cost

if TYPE_CHECKING:
    from frazil.scalar.op import ScalarOp

BLOCK_BYTES = 64
"""The size of a block of one type: a cache line, and a vector of AVX-512."""

LIGHT = 16
"""The highest cost of all statements at which a kernel has blocks of its narrowest type. Values of
wider types then take several vectors, and each statement that much more code."""


class Read(NamedTuple):
    """An operand. ``inner``: it moves along the innermost dimension; else it is constant there."""

    dtype: str
    inner: bool


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A scalar constant: a Python bool, int or float that ``dtype`` represents exactly.

    Compared by content: 0.0 and -0.0 differ, a NaN equals itself.
    """

    dtype: str
    value: bool | int | float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal) or self.dtype != other.dtype:
            return False
        own, value = self.value, other.value
        if own and value and type(own) is type(value):  # most often, and quicker than their texts
            return own == value or (own != own and value != value)
        return repr(own) == repr(value)

    def __hash__(self) -> int:
        own = self.value
        return hash((self.dtype, own if own == own else "nan"))


PATIENCE = 1 << 16
"""Elements of a row after which a kernel that takes whole rows asks whether to stop."""


class Statement(NamedTuple):
    """One scalar op; ``args`` index the kernel's values: reads, then literals, then statements."""

    op: ScalarOp
    args: tuple[int, ...]
    dtype: str


class RowFold(NamedTuple):
    """The reduction of a row by the scalar op that ``reduce`` names, as a value of the kernel.

    It is one value a row, known at the row's end; statements that use it walk the row again.
    ``start`` is the number of the literal that the elements are folded into.
    """

    reduce: str
    start: int
    arg: int
    dtype: str


class Source(NamedTuple):
    """An operand that is read at indices; ``inner`` as for :class:`Read`.

    ``indices`` is the number of indices; each selects along one axis.
    """

    dtype: str
    inner: bool
    indices: int


class Take(NamedTuple):
    """The element of a source at the indices ``args``, which are values of the kernel.

    Negative indices count from the end. The first index out of bounds ends the kernel.
    """

    source: int
    args: tuple[int, ...]
    dtype: str


class Cumulate(NamedTuple):
    """A cumulative sum or product: the elements of the row so far, folded in order.

    ``reduce`` names the scalar op.
    """

    reduce: str
    args: tuple[int, ...]
    dtype: str


class Put(NamedTuple):
    """An output that is written at the indices ``args``, in order; the reverse of :class:`Take`.

    ``reduce`` as for :class:`Write`; ``inner`` as for :class:`Source`.
    """

    value: int
    args: tuple[int, ...]
    dtype: str
    inner: bool
    reduce: str | None


class Write(NamedTuple):
    """An output."""

    value: int
    dtype: str
    inner: bool
    """Whether it moves along the innermost dimension. A reduction over that dimension does not."""
    reduce: str | None
    """The scalar op that folds elements into the output (add, mul, maximum, minimum, and_, or_).
    The runtime fills the output with the identity first.
    """
    of_rows: bool = False
    """Whether it is a reduction over the innermost dimension that moves along another one."""

    @property
    def walks(self) -> bool:
        """Whether it takes an element at each position of the row, instead of one for each row."""
        return self.inner or self.reduce is not None


@dataclass(frozen=True)
class LoopKernel:
    """The body of one loop, in single assignment form.

    With a :class:`RowFold` or a :class:`Cumulate` among its statements it *takes whole rows*: the
    runtime gives it all of the last dimension at once. Sources and puts are operands and outputs
    with indices.
    """

    reads: tuple[Read, ...]
    literals: tuple[Literal, ...]
    statements: tuple[Statement | Take | Cumulate | RowFold, ...]
    writes: tuple[Write, ...]
    sources: tuple[Source, ...] = ()
    puts: tuple[Put, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """The hash, kept: kernels are looked up often, and have many statements."""
        parts = (self.reads, self.literals, self.statements, self.writes, self.sources, self.puts)
        return hash(parts)

    @cached_property
    def _kinds(self) -> frozenset[type[object]]:
        """The classes of its statements: most kernels have plain ones alone."""
        return frozenset(map(type, self.statements))

    @cached_property
    def ops(self) -> dict[int, Statement | Take | Cumulate]:
        """The statements computed at each element, by the number of their value."""
        numbered = enumerate(self.statements, len(self.reads) + len(self.literals))
        return {k: own for k, own in numbered if not isinstance(own, RowFold)}

    @cached_property
    def folds(self) -> Mapping[int, RowFold]:
        """The folds of rows, by the number of their value."""
        if RowFold not in self._kinds:
            return {}
        numbered = enumerate(self.statements, len(self.reads) + len(self.literals))
        return {k: own for k, own in numbered if isinstance(own, RowFold)}

    @cached_property
    def takes_rows(self) -> bool:
        """Whether it takes whole rows."""
        return not self._kinds.isdisjoint((RowFold, Cumulate))

    @property
    def reduces(self) -> bool:
        """Whether it reduces rows, as a value or as an output."""
        return bool(self.folds) or any(write.reduce is not None for write in self.writes)

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
        stays = known.__getitem__
        for statement in self.statements:
            match statement:
                case Statement():
                    known.append(all(map(stays, statement.args)))
                case RowFold():
                    known.append(True)
                case Cumulate():
                    known.append(False)
                case Take():
                    moves = self.sources[statement.source].inner
                    known.append(not moves and all(map(stays, statement.args)))
        return tuple(known)

    @cached_property
    def takes(self) -> Mapping[int, Take]:
        """The takes, by the number of their value."""
        if Take not in self._kinds:
            return {}
        return {k: own for k, own in self.ops.items() if isinstance(own, Take)}

    @cached_property
    def row_takes(self) -> Mapping[int, Take]:
        """The takes that move along a row at indices that do not, by the number of their value."""
        return {
            k: own
            for k, own in self.takes.items()
            if self.sources[own.source].inner and all(self.uniform[a] for a in own.args)
        }

    @cached_property
    def row_puts(self) -> Mapping[int, Put]:
        """The puts that move along a row at indices that do not, by their number."""
        return {
            k: put
            for k, put in enumerate(self.puts)
            if put.inner and all(self.uniform[a] for a in put.args)
        }

    @cached_property
    def lanes(self) -> int:
        """The number of elements in a block: as many of one type as a cache line holds.

        The type is the widest one of the kernel. Light kernels (:attr:`is_light`) take the
        narrowest one in memory: compilers turn a vector of narrow elements into several vectors of
        wide ones, but do not do so with a part of a vector.

        The number is the same on every machine and for every compiler. So are sums, which have one
        partial sum a lane. A kernel in which nothing moves takes one element at a time.
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
        """Whether the kernel walks each row once, and does little with an element."""
        if self.takes_rows or self.sources or self.puts or len(self.statements) > LIGHT:
            return False  # no statement costs less than one
        return sum(cost(own.op) for own in self.ops.values() if isinstance(own, Statement)) <= LIGHT

    @property
    def pointers(self) -> tuple[str, ...]:
        """A name for every pointer that the kernel gets.

        Reads and then writes have numbers.
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
    """The return values of native kernels."""

    OK = 0
    NEGATIVE_POWER = 1  # integers to negative integer powers are not allowed
    OUT_OF_BOUNDS = 2  # the report says which index, and its value
    ENDED = 3  # no fault: the condition of a scan held
    STOPPED = 4  # no fault: the kernel asked whether to stop, and the answer was yes


class LoweringError(NotImplementedError):
    """An op has no form in the language of a kernel compiler."""
