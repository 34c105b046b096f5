"""Rows that indices choose, in C: blocks of them are read and written like those of operands.

Where indices are the same along a row, they are checked once a row, before anything of the row is
written. The end of such a row, and a row whose elements do not lie side by side, goes through a
copy on the stack, block by block: there may be no memory behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.c.definitions import load
from frazil.link.c.indices import checked, offset, step, stride_of
from frazil.link.c.operands import Operands
from frazil.link.c.values import Values
from frazil.link.kernel.indices import Indices, indices_of_put, indices_of_take
from frazil.link.kernel.passes import Pass


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A row that indices choose.

    Its pointers have the letters of :mod:`frazil.link.c.operands`, and ``e`` is the copy of a
    block. ``base`` points to the first of the rows from which the indices choose.
    """

    values: Values
    name: str
    base: str
    dtype: str
    indices: Indices
    is_read: bool
    is_written: bool

    @property
    def is_dense(self) -> str:
        """The condition that the elements of the row lie side by side."""
        return f"d{self.name}"

    @property
    def lies_densely(self) -> str:
        """The condition of :attr:`is_dense`, the same for all rows."""
        return f"{step(self.indices)} == {self._size}"

    def find(self) -> Iterator[c.Statement]:
        """Check the indices, and point to the row."""
        name = self.name
        found = [
            *checked(self.values, self.indices),
            c.Assign(f"w{name}", offset(self.indices), "+="),
        ]
        yield c.Declare("char", f"*w{name}", self.base)
        # The indices of a row without elements are not looked at.
        yield c.If("n_inner > 0", found) if self.values.kernel.takes_rows else c.Block(found)

    @property
    def is_foretold(self) -> bool:
        """Whether the indices of later rows are in memory."""
        return all(k < self.values.n_reads for k in self.indices.args)

    def find_later(self, operands: Operands) -> Iterator[c.Statement]:
        """Point to the row that is chosen ``ahead`` rows later, unless its indices are negative."""
        found = [f"(u8){self.base}"]  # the indices are not checked yet: the sum may overflow
        for j, k in enumerate(self.indices.args):
            dtype = self.values.dtypes[k]
            later = load(dtype, f"(p{k} + ahead * {operands.stride(k)})", "0")
            index = self.values.unit.convert(later, dtype, "int64")
            yield c.Const("u8", f"l{self.name}_{j}", f"(u8){index}")
            found.append(f"l{self.name}_{j} * (u8){stride_of(self.indices, j)}")
        yield c.Const("char", f"*l{self.name}", f"(const char *)({' + '.join(found)})")

    def prefetch(self) -> c.Do:
        """Prefetch the present block of that row."""
        for_writing = ", 1" if self.is_written else ""
        return c.Do(f"__builtin_prefetch(l{self.name} + i * {self._size}{for_writing})")

    def enter_row(self) -> Iterator[c.Statement]:
        """Find the row, and whether its blocks need copies."""
        yield from self.find()
        yield c.Const("b1", self.is_dense, self.lies_densely)
        yield c.Array(self._type, f"e{self.name}", self.values.kernel.lanes)

    def start_block(self) -> c.Declare:
        """Point to the present block."""
        return c.Declare("char", f"*q{self.name}", f"w{self.name} + i * {self._size}")

    def turn_block(self) -> c.If:
        """Point to the copy where the present block needs one."""
        name, lanes = self.name, self.values.kernel.lanes
        turned: list[c.Statement] = [c.Assign(f"q{name}", f"(char *)e{name}")]
        if self.is_read:
            element = self._element("(i + l < n_inner ? i + l : n_inner - 1)")
            turned.append(c.lanes_loop(lanes, [c.Assign(f"e{name}[l]", element)]))
        return c.If(self._is_copied, turned)

    def leave_block(self) -> Iterator[c.Statement]:
        """Copy the present block back."""
        if self.is_written:
            lanes = self.values.kernel.lanes
            count = f"(n_inner - i < {lanes} ? n_inner - i : {lanes})"
            back = c.Assign(self._element("(i + l)"), f"e{self.name}[l]")
            yield c.If(self._is_copied, [c.lanes_loop(count, [back])])

    @property
    def _size(self) -> int:
        return int(np.dtype(self.dtype).itemsize)

    @property
    def _type(self) -> str:
        return f"u{self._size}"

    @property
    def _is_copied(self) -> str:
        return f"i == full || !{self.is_dense}"

    def _element(self, at: str) -> str:
        return f"(({self._type} *)(w{self.name} + {at} * {step(self.indices)}))[0]"


def indexed_rows(values: Values, row_pass: Pass) -> list[IndexedRow]:
    """The rows that a pass takes and puts where indices say."""
    kernel = values.kernel
    rows = [
        IndexedRow(
            values,
            name=f"t{k}",
            base=f"px{take.source}",
            dtype=take.dtype,
            indices=indices_of_take(kernel, k),
            is_read=True,
            is_written=False,
        )
        for k, take in kernel.row_takes.items()
        if k in row_pass.varying
    ]
    rows += [
        IndexedRow(
            values,
            name=f"h{k}",
            base=f"py{k}",
            dtype=put.dtype,
            indices=indices_of_put(kernel, k),
            is_read=put.reduce is not None,
            is_written=True,
        )
        for k, put in kernel.row_puts.items()
        if k in row_pass.puts
    ]
    return rows
