"""The work of kernels on blocks of elements, in the Python text that becomes LLVM's."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

import numpy as np

from frazil.link.kernel.indices import Indices, indices_of_put, indices_of_take
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, Cumulate, LoopKernel, Status, Take, Write
from frazil.link.kernel.passes import Pass, plan
from frazil.link.kernel.reduction import fold_operands
from frazil.link.kernel.scalar_loop import scalar_loop_calls
from frazil.link.numba import functions, vectors
from frazil.link.numba.expressions import Expressions
from frazil.link.numba.lines import indented
from frazil.link.numba.row_folds import BlockFold
from frazil.scalar.elementary import Elementary


class Blocks(Expressions):
    """Writes what a kernel does with a row's values and with blocks of its elements."""

    def __init__(self, kernel: LoopKernel) -> None:
        super().__init__()
        self.kernel = kernel
        self.n_reads = len(kernel.reads)
        self.plan = plan(kernel)
        for call in scalar_loop_calls(kernel.ops).values():
            known = self.loop_results.get(call.loop, frozenset())
            self.loop_results[call.loop] = known.union(call.results)
        self.is_dense = self.is_end = False
        self.row = "p"
        """The letter of the pointers to the present row."""
        self.uniform = "v"
        """The letter of values that are the same along the row."""
        self.is_last = "outer == n_outer - 1"
        """The condition that the present row is the last one."""
        self.held: frozenset[int] = frozenset()
        """The writes whose present blocks are variables ``g``, into which other rows fold, too."""
        self.later: dict[str, int] = {}
        """The pointers to rows that come later, with the sizes of elements: they are prefetched."""

    def value(self, k: int) -> str:
        """The name of a value."""
        n_literals = len(self.kernel.literals)
        is_literal = self.n_reads <= k < self.n_reads + n_literals
        return f"v{k}" if is_literal or not self.kernel.uniform[k] else f"{self.uniform}{k}"

    # ------------------------------------------------------------ rows

    def read_uniform(self) -> Iterator[str]:
        """Read the operands that are the same along the row."""
        for k, read in enumerate(self.kernel.reads):
            if not read.inner:
                yield f"v{k} = {self.load(read.dtype, f'p{k}', '0')}"

    def advance_rows(self, count: str) -> Iterator[str]:
        """Go on by so many rows."""
        for k, operand in enumerate(self.kernel.pointers):
            if operand[0] not in "ghr":
                yield f"p{operand} = advance(p{operand}, {count} * strides[{k}])"

    def write_uniform(self) -> Iterator[str]:
        """Write what is the same along the row."""
        kernel = self.kernel
        for k, write in enumerate(kernel.writes, self.n_reads):
            if not write.walks:
                if not kernel.uniform[write.value]:
                    raise ValueError("a write that does not move needs a value that does not")
                *lines, value = self.written(write)
                yield from lines
                yield self.store(write.dtype, f"p{k}", "0", value)

    def statements(
        self, numbers: Iterable[int], lanes: int, loads: dict[int, str], mask: str = ""
    ) -> Iterator[str]:
        """The statements of a row, which is one lane, of several rows, or of a block.

        ``loads`` are the expressions of values in memory, each of which is loaded where it is used
        first: so it needs a register no longer than that. ``mask`` is the name of the mask of the
        lanes that may fail, unless all may.
        """
        kernel = self.kernel
        self.lanes, self.mask = lanes, mask
        self.loops.clear()  # what was computed elsewhere may not be there
        for k in numbers:
            statement = kernel.ops[k]
            for argument in statement.args:
                if argument in loads:
                    yield f"v{argument} = {loads.pop(argument)}"
            if isinstance(statement, Take):
                yield from self._take(k, statement)
                continue
            if isinstance(statement, Cumulate):
                yield from self._cumulate(k, statement)
                continue
            operands = [(self.value(a), kernel.dtypes[a]) for a in statement.args]
            *lines, value = self.apply(statement.op, operands, statement.dtype)
            yield from lines
            if lanes > 1:
                # The value of an op may be an operand that is the same along the row.
                name = f"spread_{lanes}_{statement.dtype}"
                value = f"{self.name(name, vectors.spread(statement.dtype, lanes))}({value})"
            yield f"{self.value(k)} = {value}"
        self.lanes, self.mask = 1, ""

    def block(
        self, one: Pass, folding: Sequence[BlockFold], *, is_dense: bool, is_end: bool = False
    ) -> Iterator[str]:
        """The work on the elements of a block; ``is_end``: the row ends within it."""
        kernel = self.kernel
        self.is_dense, self.is_end = is_dense, is_end
        row = self.row
        loads = {k: self.load_block(kernel.dtypes[k], f"{row}{k}") for k in one.reads}
        loads |= {k: self.load_block(kernel.dtypes[k], f"{row}b{k}") for k in one.loads}
        if not is_end:
            yield from self._prefetch(one)
        for name, size in self.later.items():
            prefetch = self.name("prefetch", vectors.prefetch)
            yield f"{prefetch}(advance({name}, i * {size}))"
        yield from self.statements(one.varying, kernel.lanes, loads, "mask" if is_end else "")
        yield from (f"v{k} = {text}" for k, text in loads.items())
        for k in one.stores:
            yield self.store_block(kernel.dtypes[k], f"{row}b{k}", f"v{k}")
        for each in folding:
            yield from each.fold_block(is_end=self.is_end)
        for position in one.writes:
            write = kernel.writes[position]
            if write.inner:
                *lines, value = self.written(write)
                yield from lines
                k = self.n_reads + position
                if k in self.held:
                    *lines, folded = self.fold(str(write.reduce), write.dtype, f"g{k}", value)
                    yield from lines
                    yield f"g{k} = {folded}"
                else:
                    yield from self._store_or_fold(write, f"{row}{k}", value)
        for k in one.puts:
            yield from self._put(k)

    def _prefetch(self, one: Pass) -> Iterator[str]:
        """Prefetch what is folded, if that is one array: the processor reads several arrays side by
        side as fast by itself.
        """
        kernel = self.kernel
        folds = any(write.reduce for write in kernel.writes) and not kernel.folds
        if folds and len(one.reads) == 1 and not one.loads:
            [k] = one.reads
            size = np.dtype(kernel.reads[k].dtype).itemsize
            prefetch = self.name("prefetch", vectors.prefetch)
            for line in range(0, kernel.lanes * size, BLOCK_BYTES):
                yield f"{prefetch}(advance(p{k}, i * {size} + {line} + ahead))"

    def _cumulate(self, k: int, own: Cumulate) -> Iterator[str]:
        """The elements of a block folded in order."""
        [argument] = own.args
        dtype = self.kernel.dtypes[argument]
        *lines, value = self.convert(self.value(argument), dtype, own.dtype)
        yield from lines
        yield f"s{k} = {self._spill(own.dtype, value)}"
        yield "for lane in range(count):"
        one = self.load(own.dtype, f"s{k}", "lane")
        *lines, folded = self.fold(own.reduce, own.dtype, f"so_far{k}", one)
        yield from indented(lines, 1)
        yield f"    so_far{k} = {folded}"
        yield f"    {self.store(own.dtype, f's{k}', 'lane', f'so_far{k}')}"
        yield f"v{k} = {self._load_whole(own.dtype, f's{k}')}"

    # ------------------------------------------------------------ indices

    def enter_indexed_rows(self, one: Pass, *, is_empty: bool) -> Generator[str, None, list[str]]:
        """Check the indices of rows once a row, and let ``y`` or ``z`` point to those; the
        conditions that their elements lie side by side. ``is_empty``: there may be no elements.
        """
        kernel = self.kernel
        rows = [
            (f"z{k}", f"px{own.source}", indices_of_take(kernel, k), own.dtype)
            for k, own in kernel.row_takes.items()
            if k in one.varying
        ]
        rows += [
            (f"y{k}", f"py{k}", indices_of_put(kernel, k), put.dtype)
            for k, put in kernel.row_puts.items()
            if k in one.puts
        ]
        dense = []
        for name, base, indices, dtype in rows:
            *lines, place = self._placed(indices, {})
            found = [*lines, f"{name} = advance({base}, {place})"]
            if is_empty:
                # The indices of a row without elements are not looked at.
                yield f"{name} = {base}"
                yield "if n_inner > 0:"
                yield from indented(found, 1)
            else:
                yield from found
            step = self.load("int64", indices.table, "0")
            dense.append(f"{step} == int64({np.dtype(dtype).itemsize})")
        return dense

    def _take(self, k: int, take: Take) -> Iterator[str]:
        """The elements of a source, with checked indices."""
        kernel = self.kernel
        indices, source = indices_of_take(kernel, k), kernel.sources[take.source]
        if kernel.uniform[k]:
            *lines, place = self._placed(indices, {})
            yield from lines
            yield f"v{k} = {self.load(take.dtype, f'advance(px{take.source}, {place})', '0')}"
            return
        if k in kernel.row_takes and self.is_dense:
            yield f"v{k} = {self.load_block(take.dtype, f'z{k}')}"
            return
        step = f"(i + lane) * {self.load('int64', indices.table, '0')}"
        elements = yield from self._elements(indices.args)
        yield f"s{k} = {self._spill(take.dtype, f'{take.dtype}(0)')}"
        yield "for lane in range(count):"
        if k in kernel.row_takes:
            where = f"advance(z{k}, {step})"
        else:
            *lines, place = self._placed(indices, elements)
            yield from indented(lines, 1)
            where = f"advance(px{take.source}, {place}{f' + {step}' if source.inner else ''})"
        one = self.load(take.dtype, where, "0")
        yield f"    {self.store(take.dtype, f's{k}', 'lane', one)}"
        yield f"v{k} = {self._load_whole(take.dtype, f's{k}')}"

    def _elements(self, values: Iterable[int]) -> Generator[str, None, dict[int, str]]:
        """Put vectors to memory; the element of each in ``lane``."""
        found: dict[int, str] = {}
        for value in dict.fromkeys(values):
            if not self.kernel.uniform[value]:
                dtype = self.kernel.dtypes[value]
                yield f"e{value} = {self._spill(dtype, f'v{value}')}"
                found[value] = self.load(dtype, f"e{value}", "lane")
        return found

    def _put(self, k: int) -> Iterator[str]:
        """The values of a block, put at indices."""
        kernel = self.kernel
        put, indices = kernel.puts[k], indices_of_put(kernel, k)
        write = Write(put.value, put.dtype, put.inner, put.reduce)
        if k in kernel.row_puts and self.is_dense:
            *lines, value = self.written(write)
            yield from lines
            yield from self._store_or_fold(write, f"y{k}", value)
            return
        elements = yield from self._elements((put.value, *indices.args))
        yield "for lane in range(count):"
        step = f"(i + lane) * {self.load('int64', indices.table, '0')}"
        if k in kernel.row_puts:
            where = f"advance(y{k}, {step})"
        else:
            *lines, place = self._placed(indices, elements)
            yield from indented(lines, 1)
            where = f"advance(py{k}, {place}{f' + {step}' if put.inner else ''})"
        value = elements.get(put.value, f"v{put.value}")
        *lines, value = self.convert(value, kernel.dtypes[put.value], put.dtype)
        yield from indented(lines, 1)
        yield f"    at{k} = {where}"
        if put.reduce is None:
            yield f"    {self.store(put.dtype, f'at{k}', '0', value)}"
        else:
            yield from indented(self.fold_into(write, f"at{k}", "0", value), 1)

    def _placed(self, indices: Indices, elements: Mapping[int, str]) -> list[str]:
        """Lines that check indices; the last one is the offset in bytes of where they point.

        ``elements`` are what stands for values that are vectors.
        """
        return [*self._checked(indices, elements), self._offset(indices)]

    def _offset(self, indices: Indices) -> str:
        steps = (
            f"{indices.number(j)} * {self.load('int64', indices.table, str(2 * j + 2))}"
            for j in range(len(indices.args))
        )
        return " + ".join(steps)

    def _checked(self, indices: Indices, elements: Mapping[int, str]) -> Iterator[str]:
        table = indices.table
        for j, argument in enumerate(indices.args):
            index = indices.number(j)
            given = elements.get(argument, f"v{argument}")
            *lines, value = self.convert(given, self.kernel.dtypes[argument], "int64")
            yield from lines
            length = self.load("int64", table, str(2 * j + 1))
            yield f"{index} = {value}"
            yield f"if {index} < int64(0):"
            yield f"    {index} = {index} + {length}"
            yield f"if {index} < int64(0) or {index} >= {length}:"
            yield f"    {self.store('int64', 'preport', '0', f'int64({indices.first + j})')}"
            yield f"    {self.store('int64', 'preport', '1', value)}"
            yield f"    return int32({int(Status.OUT_OF_BOUNDS)})"

    # ------------------------------------------------------------ what is written

    def written(self, write: Write) -> list[str]:
        """Lines of Python; the last is the value of a write, of its dtype."""
        return self.convert(self.value(write.value), self.kernel.dtypes[write.value], write.dtype)

    def load(self, dtype: str, where: str, index: str) -> str:
        return f"{self.name(f'load_{dtype}', functions.load(dtype))}({where}, {index})"

    def store(self, dtype: str, where: str, index: str, value: str) -> str:
        own = self.name(f"store_{dtype}", functions.store(dtype))
        return f"{own}({where}, {index}, {value})"

    # ------------------------------------------------------------ blocks

    def load_block(self, dtype: str, where: str) -> str:
        """The block of elements from ``i`` on, as far as the row goes."""
        lanes = self.kernel.lanes
        if self.is_end:
            own = self.name(f"load_some_{dtype}", vectors.load_some(dtype, lanes))
            return f"{own}({where}, i, mask)"
        return f"{self.name(f'load_block_{dtype}', vectors.load(dtype, lanes))}({where}, i)"

    def _load_whole(self, dtype: str, where: str) -> str:
        """A block in memory that was spilled."""
        own = self.name(f"load_block_{dtype}", vectors.load(dtype, self.kernel.lanes))
        return f"{own}({where}, 0)"

    def store_block(self, dtype: str, where: str, value: str) -> str:
        lanes = self.kernel.lanes
        if self.is_end:
            own = self.name(f"store_some_{dtype}", vectors.store_some(dtype, lanes))
            return f"{own}({where}, i, {value}, mask)"
        own = self.name(f"store_block_{dtype}", vectors.store(dtype, lanes))
        return f"{own}({where}, i, {value})"

    def _store_or_fold(self, write: Write, where: str, value: str) -> Iterator[str]:
        """Write a block, or fold it into what is there."""
        if write.reduce is None:
            yield self.store_block(write.dtype, where, value)
            return
        self.temporaries += 1
        own = f"t{self.temporaries}_so_far"
        yield f"{own} = {self.load_block(write.dtype, where)}"
        *lines, folded = self.fold(write.reduce, write.dtype, own, value)
        yield from lines
        yield self.store_block(write.dtype, where, folded)

    def _spill(self, dtype: str, value: str) -> str:
        own = self.name(f"spill_{dtype}", vectors.spill(dtype, self.kernel.lanes))
        return f"{own}({value})"

    # ------------------------------------------------------------ reductions of rows

    def fold(self, reduce: str, dtype: str, so_far: str, value: str) -> list[str]:
        """Lines of Python; the last is the expression that folds one more value in."""
        operands = [(text, dtype) for text in fold_operands(reduce, so_far, value)]
        return self.apply(Elementary(reduce), operands, dtype)

    def fold_into(self, write: Write, where: str, index: str, value: str) -> Iterator[str]:
        """Fold one more value of the write's dtype into an element."""
        self.temporaries += 1
        own = f"t{self.temporaries}_so_far"
        yield f"{own} = {self.load(write.dtype, where, index)}"
        *lines, folded = self.fold(str(write.reduce), write.dtype, own, value)
        yield from lines
        yield self.store(write.dtype, where, index, folded)
