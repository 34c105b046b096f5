"""The Python text of loop kernels, as Numba compiles it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.link.kernel.indices import Indices, indices_of_put, indices_of_take
from frazil.link.kernel.loop_kernel import (
    PATIENCE,
    Cumulate,
    LoopKernel,
    Status,
    Take,
    Write,
)
from frazil.link.kernel.passes import Pass, plan
from frazil.link.kernel.reduction import (
    LEVELS,
    SETS,
    TURNS,
    fold_operands,
    folds_row,
    has_levels,
    identity,
)
from frazil.link.numba import functions
from frazil.link.numba.expressions import Expressions
from frazil.link.numba.translation import Defined
from frazil.scalar.elementary import Elementary


class KernelSource(Expressions):
    """One kernel as the text of a Python function, and the names that the text refers to."""

    def __init__(self, kernel: LoopKernel) -> None:
        super().__init__()
        self.kernel = kernel
        self.n_reads = len(kernel.reads)
        self.plan = plan(kernel)
        self.is_dense = False
        self.text = "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        kernel = self.kernel
        yield "def kernel(pointers, n_outer, n_inner, strides):"
        yield "    status = int32(0)"
        least = "n_inner < 0" if kernel.takes_rows else "n_inner <= 0"
        yield f"    if n_outer <= 0 or {least}:"
        yield "        return status"
        for k, literal in enumerate(kernel.literals, self.n_reads):
            value = np.dtype(literal.dtype).type(literal.value).item()
            if isinstance(value, float):
                yield f"    v{k} = {literal.dtype}({self._global(f'c{k}', value)})"
            else:
                yield f"    v{k} = {literal.dtype}({value!r})"
        for k, operand in enumerate(kernel.pointers):
            yield f"    p{operand} = pointers[{k}]"
        for k, value in enumerate(self.plan.buffers, len(kernel.pointers)):
            yield f"    pb{value} = pointers[{k}]"
        for one in self.plan.passes:
            for folding in self._folding(one):
                yield from _indented(self._declare_partials(folding), 1)
        yield "    for outer in range(n_outer):"
        yield from _indented(self._row(), 2)
        for k, operand in enumerate(kernel.pointers):
            if operand[0] not in "ghr":
                yield f"        p{operand} = advance(p{operand}, strides[{k}])"
        yield "    return status"

    def _row(self) -> Iterator[str]:
        """The work that is done once a row."""
        kernel = self.kernel
        for k, read in enumerate(kernel.reads):
            if not read.inner:
                yield f"v{k} = {self._load(read.dtype, f'p{k}', '0')}"
        for one in self.plan.passes:
            yield from self._statements(one.uniform, "0")
            yield from self._pass(one)
        for k, write in enumerate(kernel.writes, self.n_reads):
            if not write.walks:
                if not kernel.uniform[write.value]:
                    raise ValueError("a write that does not move needs a value that does not")
                yield from self._store_value(k, write, "0", reduce=None)

    def _folding(self, one: Pass) -> list[_Folding]:
        """The folds of a pass."""
        kernel = self.kernel
        writes = [(self.n_reads + k, kernel.writes[k]) for k in one.writes]
        made = [_Folding(k, write, None) for k, write in writes if folds_row(write)]
        for k in one.folds:
            fold = kernel.folds[k]
            write = Write(fold.arg, fold.dtype, inner=False, reduce=fold.reduce)
            made.append(_Folding(len(kernel.writes) + k, write, k))
        return made

    def _pass(self, one: Pass) -> Iterator[str]:
        """One walk along the row."""
        for k in one.varying:
            if isinstance(own := self.kernel.ops[k], Cumulate):
                empty = identity(own.reduce, own.dtype)
                yield f"v{k} = {own.dtype}({self._global(f'i{k}', empty)})"
        folding = self._folding(one)
        if not (folding or one.writes or one.stores or one.puts):
            return
        for each in folding:
            if each.value is not None:
                yield from self._start_partials(each)
        dense = yield from self._enter_indexed_rows(one)
        if dense:
            yield f"if {' and '.join(dense)}:"
            yield from _indented(self._walk(one, folding, is_dense=True), 1)
            yield "else:"
            yield from _indented(self._walk(one, folding, is_dense=False), 1)
        else:
            yield from self._walk(one, folding, is_dense=False)
        for each in folding:
            yield from self._end_partials(each)

    def _walk(self, one: Pass, folding: Sequence[_Folding], *, is_dense: bool) -> Iterator[str]:
        """The loop over the elements of a row; ``is_dense``: those of all rows that indices choose
        lie side by side.
        """
        self.is_dense = is_dense
        lanes = self.kernel.lanes
        if folding:
            yield f"for start in range(0, n_inner, {lanes}):"
            if self.kernel.takes_rows:
                yield from _indented(self._ask(f"start & {PATIENCE - 1} == 0 and start > 0"), 1)
            for each in folding:
                yield f"    offset{each.k} = (blocks{each.k} & {SETS - 1}) * {lanes} - start"
            yield f"    for i in range(start, min(start + {lanes}, n_inner)):"
            yield from _indented(self._element(one, folding), 2)
            for each in folding:
                yield from _indented(self._advance_partials(each), 1)
        elif self.kernel.takes_rows:
            yield f"for start in range(0, n_inner, {PATIENCE}):"
            yield from _indented(self._ask("start > 0"), 1)
            yield f"    for i in range(start, min(start + {PATIENCE}, n_inner)):"
            yield from _indented(self._element(one, folding), 2)
        else:
            yield "for i in range(n_inner):"
            yield from _indented(self._element(one, folding), 1)

    def _ask(self, when: str) -> Iterator[str]:
        """Leave the kernel if the run is to stop."""
        stops = self.name("loop_stops", functions.function("loop_stops", "int32"))
        yield f"if {when} and {stops}() != 0:"
        yield f"    return int32({Status.STOPPED:d})"

    def _statements(self, numbers: Iterable[int], element: str) -> Iterator[str]:
        kernel = self.kernel
        self.loops.clear()  # what was computed elsewhere may not be there
        for k in numbers:
            statement = kernel.ops[k]
            if isinstance(statement, Take):
                yield from self._take(k, statement, element)
                continue
            if isinstance(statement, Cumulate):
                own = statement.dtype
                *lines, value = self.convert(
                    f"v{statement.args[0]}", kernel.dtypes[statement.args[0]], own
                )
                yield from lines
                *lines, value = self._fold(statement.reduce, own, f"v{k}", value)
                yield from lines
                yield f"v{k} = {value}"
                continue
            operands = [(f"v{a}", kernel.dtypes[a]) for a in statement.args]
            *lines, value = self.apply(statement.op, operands, statement.dtype)
            yield from lines
            yield f"v{k} = {value}"

    def _element(self, one: Pass, folding: Sequence[_Folding]) -> Iterator[str]:
        """The work on one element."""
        kernel = self.kernel
        for k in one.reads:
            yield f"v{k} = {self._load(kernel.reads[k].dtype, f'p{k}', 'i')}"
        for k in one.loads:
            yield f"v{k} = {self._load(kernel.dtypes[k], f'pb{k}', 'i')}"
        yield from self._statements(one.varying, "i")
        for k in one.stores:
            yield self._store(kernel.dtypes[k], f"pb{k}", "i", f"v{k}")
        for each in folding:
            *lines, value = self._written(each.write)
            yield from lines
            where = f"offset{each.k} + i"
            yield from self._fold_into(each.write, f"a{each.k}", where, value)
        for position in one.writes:
            write = kernel.writes[position]
            if write.inner:
                yield from self._store_value(
                    self.n_reads + position, write, "i", reduce=write.reduce
                )
        yield from self._puts(one)

    # ------------------------------------------------------------ indices

    def _enter_indexed_rows(self, one: Pass) -> Generator[str, None, list[str]]:
        """Check the indices of rows once a row, and let ``y`` or ``z`` point to those; the
        conditions that their elements lie side by side.
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
            yield f"{name} = {base}"
            # The indices of a row without elements are not looked at.
            yield "if n_inner > 0:"
            *lines, place = self._placed(indices)
            yield from _indented([*lines, f"{name} = advance({base}, {place})"], 1)
            step = self._load("int64", indices.table, "0")
            dense.append(f"{step} == int64({np.dtype(dtype).itemsize})")
        return dense

    def _in_row(self, row: str, table: str) -> tuple[str, str]:
        """The pointer and the index of element ``i`` of a row that indices choose."""
        if self.is_dense:
            return row, "i"
        return f"advance({row}, i * {self._load('int64', table, '0')})", "0"

    def _take(self, k: int, take: Take, element: str) -> Iterator[str]:
        """The element of a source, with checked indices."""
        indices = indices_of_take(self.kernel, k)
        if k in self.kernel.row_takes:
            yield f"v{k} = {self._load(take.dtype, *self._in_row(f'z{k}', indices.table))}"
            return
        source = self.kernel.sources[take.source]
        *lines, place = self._placed(indices)
        yield from lines
        if source.inner:
            place = f"{place} + {element} * {self._load('int64', indices.table, '0')}"
        where = f"advance(px{take.source}, {place})"
        yield f"v{k} = {self._load(take.dtype, where, '0')}"

    def _puts(self, one: Pass) -> Iterator[str]:
        """The values that are put at indices."""
        kernel = self.kernel
        for k in one.puts:
            put, indices = kernel.puts[k], indices_of_put(kernel, k)
            if k in kernel.row_puts:
                where, at = self._in_row(f"y{k}", indices.table)
            else:
                *lines, place = self._placed(indices)
                yield from lines
                if put.inner:
                    place = f"{place} + i * {self._load('int64', indices.table, '0')}"
                yield f"y{k} = advance(py{k}, {place})"
                where, at = f"y{k}", "0"
            write = Write(put.value, put.dtype, put.inner, put.reduce)
            *lines, value = self._written(write)
            yield from lines
            if put.reduce is None:
                yield self._store(put.dtype, where, at, value)
            else:
                yield from self._fold_into(write, where, at, value)

    def _placed(self, indices: Indices) -> list[str]:
        """Lines that check indices; the last one is the offset in bytes of where they point."""
        return [*self._checked(indices), self._offset(indices)]

    def _offset(self, indices: Indices) -> str:
        steps = (
            f"{indices.number(j)} * {self._load('int64', indices.table, str(2 * j + 2))}"
            for j in range(len(indices.args))
        )
        return " + ".join(steps)

    def _checked(self, indices: Indices) -> Iterator[str]:
        table = indices.table
        for j, argument in enumerate(indices.args):
            index = indices.number(j)
            *lines, value = self.convert(f"v{argument}", self.kernel.dtypes[argument], "int64")
            yield from lines
            length = self._load("int64", table, str(2 * j + 1))
            yield f"{index} = {value}"
            yield f"if {index} < int64(0):"
            yield f"    {index} = {index} + {length}"
            yield f"if {index} < int64(0) or {index} >= {length}:"
            yield f"    {self._store('int64', 'preport', '0', f'int64({indices.first + j})')}"
            yield f"    {self._store('int64', 'preport', '1', value)}"
            yield f"    return int32({int(Status.OUT_OF_BOUNDS)})"

    # ------------------------------------------------------------ what is written

    def _written(self, write: Write) -> list[str]:
        return self.convert(f"v{write.value}", self.kernel.dtypes[write.value], write.dtype)

    def _store_value(
        self, k: int, write: Write, index: str, *, reduce: str | None
    ) -> Iterator[str]:
        *lines, value = self._written(write)
        yield from lines
        if reduce is None:
            yield self._store(write.dtype, f"p{k}", index, value)
        else:
            yield from self._fold_into(write, f"p{k}", index, value)

    def _load(self, dtype: str, where: str, index: str) -> str:
        parallel = _is_own(index)
        name = f"load_{dtype}{'_apart' * parallel}"
        return f"{self._global(name, functions.load(dtype, parallel=parallel))}({where}, {index})"

    def _store(self, dtype: str, where: str, index: str, value: str) -> str:
        parallel = _is_own(index)
        name = f"store_{dtype}{'_apart' * parallel}"
        store = self._global(name, functions.store(dtype, parallel=parallel))
        return f"{store}({where}, {index}, {value})"

    # ------------------------------------------------------------ reductions of rows

    def _partial_function(self, name: str, write: Write) -> str:
        function = partial_function(name, str(write.reduce), write.dtype)
        return self._global(f"{name}_{write.reduce}_{write.dtype}", function)

    def _fold(self, reduce: str, dtype: str, so_far: str, value: str) -> list[str]:
        """Lines of Python; the last is the expression that folds one more value in."""
        operands = [(text, dtype) for text in fold_operands(reduce, so_far, value)]
        return self.apply(Elementary(reduce), operands, dtype)

    def _fold_into(self, write: Write, where: str, index: str, value: str) -> Iterator[str]:
        """Fold one more value of the write's dtype into an element."""
        self.temporaries += 1
        own = f"t{self.temporaries}_so_far"
        yield f"{own} = {self._load(write.dtype, where, index)}"
        *lines, folded = self._fold(str(write.reduce), write.dtype, own, value)
        yield from lines
        yield self._store(write.dtype, where, index, folded)

    def _advance_partials(self, folding: _Folding) -> Iterator[str]:
        """Let the next block have the next set, and the next level the sums of this one."""
        k, write = folding.k, folding.write
        yield f"blocks{k} += 1"
        if has_levels(write):
            turns, width = SETS * TURNS, SETS * self.kernel.lanes
            yield f"if blocks{k} % {turns} == 0:"
            carry = self._partial_function("carry", write)
            yield f"    {carry}(a{k}, blocks{k} // {turns}, {width})"

    def _declare_partials(self, folding: _Folding) -> Iterator[str]:
        """The partial results of folds, and the number of them that will be used."""
        k, write, lanes = folding.k, folding.write, self.kernel.lanes
        width = SETS * lanes
        size = width * (LEVELS if has_levels(write) else 1) * np.dtype(write.dtype).itemsize
        yield f"a{k} = {self._global(f'stack_{size}', functions.stack(size))}()"
        yield f"blocks{k} = int64(0)"
        # A row without elements has one block of nothing but identities.
        yield f"total{k} = max(n_inner - 1, 0) // {lanes} + 1"
        if folding.value is None:
            yield f"if strides[{self.kernel.pointers.index(f'{k}')}] == 0:"
            yield f"    total{k} *= n_outer"
        yield f"used{k} = total{k} * {lanes} if total{k} < 3 else int64({width})"
        if has_levels(write):
            yield f"if total{k} >= {SETS * TURNS}:"
            yield f"    used{k} = int64({2 * width})"
            yield f"if total{k} >= {SETS * TURNS**2}:"
            yield f"    used{k} = int64({LEVELS * width})"
        if folding.value is None:
            yield from self._start_partials(folding)

    def _start_partials(self, folding: _Folding) -> Iterator[str]:
        k = folding.k
        yield f"{self._partial_function('fill', folding.write)}(a{k}, used{k})"
        yield f"blocks{k} = int64(0)"

    def _end_partials(self, folding: _Folding) -> Iterator[str]:
        """Fold the partial results: into the output where it moves on, or at the end."""
        k, write = folding.k, folding.write
        fold = f"{self._partial_function('fold', write)}(a{k}, used{k})"
        total = self._load(write.dtype, f"a{k}", "0")
        if folding.value is not None:
            yield fold
            start = f"v{self.kernel.folds[folding.value].start}"
            *lines, folded = self._fold(str(write.reduce), write.dtype, start, total)
            yield from lines
            yield f"v{folding.value} = {folded}"
            return
        yield f"if blocks{k} == total{k}:"
        yield f"    {fold}"
        yield from _indented(self._fold_into(write, f"p{k}", "0", total), 1)
        yield from _indented(self._start_partials(folding), 1)


@dataclass(frozen=True, slots=True)
class _Folding:
    """What is folded over the row: a write, which may go on from row to row, or the fold that is
    the kernel's ``value``.
    """

    k: int
    write: Write
    value: int | None


@cache
def partial_function(name: str, reduce: str, dtype: str) -> Defined:
    """A function on the partial results of a reduction: ``fill``, ``carry`` or ``fold``."""
    source = KernelSource(LoopKernel((), (), (), ()))
    write = Write(0, dtype, inner=False, reduce=reduce)
    empty = source._store(dtype, "a", "slot", f"{dtype}(empty)")
    params: tuple[str, ...] = ("pointer", "int64")
    match name:
        case "fill":
            lines = ["def fill(a, count):", "    for slot in range(count):", f"        {empty}"]
        case "carry":
            params = (*params, "int64")
            lower = source._load(dtype, "a", "slot")
            lines = [
                "def carry(a, turn, width):",
                f"    for level in range({LEVELS - 1}):",
                "        for slot in range(level * width, (level + 1) * width):",
                *_indented(source._fold_into(write, "a", "slot + width", lower), 3),
                f"            {empty}",
                f"        if turn % {TURNS} != 0:",
                "            break",
                f"        turn //= {TURNS}",
            ]
        case _:
            upper = source._load(dtype, "a", "slot + half")
            lines = [
                "def fold(a, count):",
                "    half = count // 2",
                "    while half > 0:",
                "        for slot in range(half):",
                *_indented(source._fold_into(write, "a", "slot", upper), 3),
                "        half //= 2",
            ]
    names = {**source.globals, "empty": identity(reduce, dtype)}
    symbol = f"frazil.{name}.{reduce}.{dtype}"
    return Defined(symbol, params, "void", "\n".join(lines), names)


def _is_own(index: str) -> bool:
    """Whether each turn of the loop over a row has an element of this index for itself."""
    return index == "i" or index.endswith(" + i")


def _indented(lines: Iterable[str], depth: int) -> Iterator[str]:
    return (f"{'    ' * depth}{line}" for line in lines)
