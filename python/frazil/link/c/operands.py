"""The operands of a kernel, and the names of their pointers.

A pointer has the name of its operand behind a letter: ``p`` points to the present rows, ``w`` to a
row, ``q`` to a block, ``e`` to a copy of the end of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.kernel.loop_kernel import LoopKernel
from frazil.link.kernel.passes import Pass


@dataclass(frozen=True, slots=True)
class Moving:
    """An operand that moves along the row.

    A buffer has room for whole blocks, so the end of a row is no different there.
    """

    name: str
    dtype: str
    is_read: bool
    is_written: bool
    is_buffer: bool = False

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return int(np.dtype(self.dtype).itemsize)


class Operands:
    """The operands of a kernel: reads, sources, writes, puts, tables, buffers."""

    def __init__(self, kernel: LoopKernel, buffers: Sequence[int]) -> None:
        self.buffers = [f"b{value}" for value in buffers]
        self.pointers = (*kernel.pointers, *self.buffers)
        self.moved = [name for name in kernel.pointers if name[0] not in "ghr"]
        """The operands whose pointers move from row to row."""
        self._strides: Mapping[str, str] = {
            name: f"outer_stride[{k}]" for k, name in enumerate(self.pointers)
        }
        self._dtypes = kernel.dtypes
        self._n_reads = len(kernel.reads)
        reads = [
            Moving(f"{k}", read.dtype, is_read=True, is_written=False)
            for k, read in enumerate(kernel.reads)
            if read.inner
        ]
        writes = [
            Moving(f"{k}", write.dtype, is_read=write.reduce is not None, is_written=True)
            for k, write in enumerate(kernel.writes, self._n_reads)
            if write.inner
        ]
        self.moving = [*reads, *writes]
        """Reads and writes that move along the row."""

    def declare(self) -> Iterator[c.Statement]:
        """Declare the pointers."""
        for k, pointer in enumerate(self.pointers):
            yield c.Declare("char", f"*p{pointer}", f"ptr[{k}]")

    def stride(self, name: str | int) -> str:
        """The expression of the bytes from one row to the next."""
        return self._strides[f"{name}"]

    def of_pass(self, row_pass: Pass) -> list[Moving]:
        """The operands that move along the row in a pass."""
        names = {f"{k}" for k in row_pass.reads} | {f"{self._n_reads + k}" for k in row_pass.writes}
        moving = [operand for operand in self.moving if operand.name in names]
        for k in (*row_pass.loads, *row_pass.stores):
            dtype = self._dtypes[k]
            moving.append(Moving(f"b{k}", dtype, is_read=False, is_written=False, is_buffer=True))
        return moving
