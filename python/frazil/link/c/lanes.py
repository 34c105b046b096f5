"""The work of a pass on a block, in C: loops over its lanes, calls of functions of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.c.definitions import lane_type, load, memory_type, place
from frazil.link.c.exponential import block_exponential, hold_constants
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indices import (
    are_below,
    before_runs,
    gather,
    has_runs,
    put_lane,
    put_lane_of_runs,
    take,
)
from frazil.link.c.row_folds import MemoryFolding
from frazil.link.c.scalar_loop import OWN, SAME
from frazil.link.c.stages import Kind, Stages
from frazil.link.c.values import Values, reduction
from frazil.link.kernel.indices import indices_of_take
from frazil.link.kernel.loop_kernel import Cumulate, Take, Write
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import SETS
from frazil.link.kernel.scalar_loop import ScalarLoopCall


class BlockFolding(Protocol):
    """The writes folded in a block: :class:`~frazil.link.c.row_folds.Folding`, or simpler ones."""

    @property
    def k(self) -> int: ...

    @property
    def write(self) -> Write: ...

    def enter_block(self) -> Iterable[c.Statement]:
        """The statements before the block."""

    def fold_lane(self, value: str) -> c.Statement:
        """Fold the value of lane ``l``."""


class BlockWriter:
    """Writes the work of a pass on a block."""

    def __init__(
        self, values: Values, row_pass: Pass, stages: Stages, foldings: Sequence[BlockFolding]
    ) -> None:
        self.values = values
        self.kernel = values.kernel
        self.lanes = values.kernel.lanes
        self.row_pass = row_pass
        self.stages = stages
        self.foldings = foldings

    def before_blocks(self) -> Iterator[c.Statement]:
        """Load the constants of functions of whole blocks before a loop over blocks."""
        functions = self.stages.block_functions.items()
        dtypes = {self.values.dtypes[k] for k, own in functions if own is block_exponential}
        for dtype in sorted(dtypes):
            yield c.Do(hold_constants(self.values.unit, dtype))

    def one_block(self) -> Iterator[c.Statement]:
        """A loop over the lanes for each stage, or calls of functions of whole blocks."""
        stages = self.stages
        for k in sorted(stages.kept - stages.block_functions.keys()):
            yield c.Array(stages.stack_type(k), f"s{k}", self.lanes)
        widened: set[int] = set()
        for stage in sorted(stages.needed):
            match stage % 3:
                case Kind.BLOCK:
                    yield from self._block_functions(stage)
                case Kind.VECTOR:
                    yield from self._vector_stage(stage, widened)
                case _:
                    yield from self._lanes_stage(stage)

    def all_sets(self, foldings: Sequence[MemoryFolding]) -> Iterator[c.Statement]:
        """A block for each set of partial results: all are whole, and the pass has one stage."""
        for each in foldings:
            yield each.enter_all_sets()
        lanes = PlainLanes(self.values, self.stages, self.stages.last)
        fold_lanes = [each.fold_inner_lane for each in foldings]
        body = [*self._stage_values(lanes), *self._written(lanes, fold_lanes)]
        yield c.lanes_loop(SETS * self.lanes, body, pragma=c.SIMD)

    # ------------------------------------------------------------ stages

    def _vector_stage(self, stage: int, widened: set[int]) -> Iterator[c.Statement]:
        """A vectorised loop; ``widened``: the operands that an earlier stage widened."""
        if stage == self.stages.last:
            yield from self._enter_foldings()
        lanes = WideLanes(self.values, self.stages, stage)
        yield from lanes.enter(widened)
        body = self._body(lanes)
        yield from lanes.declare()
        yield c.lanes_loop(self.lanes, body, index=self._index, pragma=c.simd(self.lanes))
        yield from lanes.leave()

    def _lanes_stage(self, stage: int) -> Iterator[c.Statement]:
        """A loop from lane to lane, and before it the scalar loops that begin in this stage."""
        stages = self.stages
        begun = [k for k in sorted(stages.needed[stage]) if stages.begins(k, stage)]
        for call in dict.fromkeys(self.values.calls[k] for k in begun):
            yield self._call(call)
        if stage == stages.last:
            yield from self._enter_foldings()
        count: int | str = self.lanes
        if stage == stages.put_stage and self.lanes > 1:
            count = f"(n_inner - i < {self.lanes} ? n_inner - i : {self.lanes})"
        body = self._body(PlainLanes(self.values, stages, stage))
        one_by_one = c.lanes_loop(count, body, index=self._index)
        if stage in stages.gathers:
            yield self._gathers(stage, one_by_one)
        elif stage == stages.put_stage:
            yield self._puts(count, one_by_one)
        else:
            yield one_by_one

    def _puts(self, count: int | str, one_by_one: c.Statement) -> c.Statement:
        """The puts of a block; another loop does those in which most indices are repeated."""
        puts = self.stages.puts
        runs = has_runs(self.values, puts)
        if runs is None:
            return one_by_one
        lanes = PlainLanes(self.values, self.stages, self.stages.put_stage)
        body = [*self._stage_values(lanes), *put_lane_of_runs(self.values, puts)]
        of_runs = c.lanes_loop(count, body, index=self._index)
        return c.If(runs, [*before_runs(self.values, puts), of_runs], [one_by_one])

    def _gathers(self, stage: int, one_by_one: c.Statement) -> c.Statement:
        """The takes of a stage by instructions on vectors, if all indices allow that."""
        unit, stages = self.values.unit, self.stages
        below: list[str] = []
        gathered: list[c.Statement] = []
        for k in stages.gathers[stage]:
            (a,) = self.kernel.takes[k].args
            block = f"s{a}" if a in stages.of else stages.place(a)
            below.append(are_below(unit, indices_of_take(self.kernel, k), block))
            gathered.append(gather(self.values, k, block))
        condition = f"__builtin_expect({' & '.join(below)}, 1)"
        return c.If(condition, gathered, [one_by_one])

    @property
    def _index(self) -> str:
        """The type of a lane's number."""
        return lane_type(self.lanes) if self.lanes > 1 else "i4"

    def _enter_foldings(self) -> Iterator[c.Statement]:
        # Only now: with stores in between, partial results would not stay in registers.
        for each in self.foldings:
            yield from each.enter_block()

    def _body(self, lanes: PlainLanes) -> list[c.Statement]:
        """The work of a stage on lane ``l``."""
        body = [*self._stage_values(lanes)]
        if lanes.stage == self.stages.last:
            body += self._written(lanes, [each.fold_lane for each in self.foldings])
        if lanes.stage == self.stages.put_stage:
            body += put_lane(self.values, self.stages.puts)
        return body

    def _block_functions(self, stage: int) -> Iterator[c.Statement]:
        """Calls of functions of whole blocks."""
        values, stages = self.values, self.stages
        for k in sorted(k for k in stages.needed[stage] if stages.of.get(k) == stage):
            function = stages.block_functions[k](values.unit, values.dtypes[k])
            if not values.unit.has_wide_registers:
                yield from self._from_block_to_block(k, function)
                continue
            vector = values.unit.vector(values.dtypes[k], self.lanes)
            operands = ", ".join(self._block(a, vector) for a in self.kernel.ops[k].args)
            yield c.Const(vector, f"s{k}", f"{function}({operands})")
            if k in self.row_pass.stores:
                yield c.Assign(f"*({vector}_at *)qb{k}", f"s{k}")

    def _from_block_to_block(self, k: int, function: str) -> Iterator[c.Statement]:
        """The call of a function that takes and leaves blocks in memory."""
        (a,) = self.kernel.ops[k].args
        code = self.values.type(k)
        given = f"s{a}" if a in self.stages.of else f"(const {code} *){self.stages.place(a)}"
        yield c.Array(code, f"s{k}", self.lanes)
        yield c.Do(f"{function}(s{k}, {given})")
        if k in self.row_pass.stores:
            yield c.Do(f"__builtin_memcpy(qb{k}, s{k}, sizeof s{k})")

    def _block(self, k: int, vector: str) -> str:
        """The block of an operand of a function."""
        if self.kernel.uniform[k]:
            code = C_TYPES[self.values.dtypes[k]]
            return f"(({code}){self.values.texts[k]} - ({vector}){{}})"
        if k not in self.stages.of:
            return f"*(const {vector}_at *){self.stages.place(k)}"
        return f"s{k}" if k in self.stages.block_functions else f"*(const {vector} *)s{k}"

    def _call(self, call: ScalarLoopCall) -> c.Block:
        """A scalar loop for all elements of a block: its results go to the stack."""
        values, stages, lanes, first = self.values, self.stages, self.lanes, call.numbers[0]
        count = SAME if self.kernel.uniform[call.args[0]] else OWN
        function = values.unit.loop(call.loop).block(lanes, call.results, count)
        arrays: list[c.Statement] = []
        filled: list[c.Statement] = []
        operands: list[str] = []
        for at, (a, to) in enumerate(zip(call.args, call.operands, strict=True)):
            if self.kernel.uniform[a]:
                text = values.texts[a]
            elif a in stages.of:
                text = stages.stacked(a)
            else:
                text = load(values.dtypes[a], stages.place(a), "l")
            value = values.unit.convert(text, values.dtypes[a], to)
            if at == 0 and count is SAME:
                operands.append(value)
                continue
            name = f"x{first}_{at}"
            arrays.append(c.Array(C_TYPES[to], name, lanes))
            filled.append(c.Assign(f"{name}[l]", value))
            operands.append(name)
        operands += [*(f"s{k}" for k in call.numbers), "&status"]
        called = c.Do(f"{function}({', '.join(operands)})")
        return c.Block([*arrays, c.lanes_loop(lanes, filled, pragma=c.SIMD), called])

    # ------------------------------------------------------------ one lane

    def _stage_values(self, lanes: PlainLanes) -> Iterator[c.Statement]:
        """Load or compute all values that the stage needs, for lane ``l``."""
        values, stages, stage = self.values, self.stages, lanes.stage
        for k in sorted(stages.needed[stage]):
            if stages.of.get(k) != stage or k in values.calls:
                yield lanes.load_value(k)
                if stage == stages.last and k in stages.read_before:
                    yield c.Assign(f"s{k}[l]", f"v{k}")
                stored = k in self.row_pass.stores and stages.begins(k, stage)
            else:
                yield from self._computed(k)
                if k in stages.kept:
                    yield c.Assign(f"s{k}[l]", f"v{k}")
                stored = k in self.row_pass.stores
            if stored:
                yield lanes.store(values.dtypes[k], f"qb{k}", f"v{k}")

    def _computed(self, k: int) -> Iterator[c.Statement]:
        """Compute a value for lane ``l``."""
        values, own = self.values, self.kernel.ops[k]
        if isinstance(own, Take):
            # There may be no memory behind the end of a row.
            inner = self.kernel.sources[own.source].inner and self.lanes > 1
            element = "(i + (i + l < n_inner ? l : rest - 1))" if inner else "(i + l)"
            yield from take(values, k, own, element)
        elif isinstance(own, Cumulate):
            so_far = values.written(reduction(own, own.args[0]))
            folded = values.unit.fold(own.reduce, own.dtype, f"r{k}", so_far)
            if self.lanes > 1:  # behind the end the last value is repeated
                folded = f"(i + l < n_inner ? {folded} : r{k})"
            yield c.Assign(f"r{k}", folded)
            yield c.Const(values.type(k), f"v{k}", f"r{k}")
        else:
            yield c.Const(values.type(k), f"v{k}", values.expressions[k])

    def _written(
        self, lanes: PlainLanes, fold_lanes: Sequence[Callable[[str], c.Statement]]
    ) -> Iterator[c.Statement]:
        """Writes, reductions and rows put, of one lane; the second by a function for each."""
        for each, fold_lane in zip(self.foldings, fold_lanes, strict=True):
            value = self.values.written(each.write)
            yield lanes.fold(f"of{each.k}", each.write.dtype, value, fold_lane)
        for position in self.row_pass.writes:
            write = self.kernel.writes[position]
            if write.inner:
                yield self._stored(lanes, write, f"q{self.values.n_reads + position}")

        for k in self.stages.row_puts:
            put = self.kernel.puts[k]
            write = Write(put.value, put.dtype, inner=True, reduce=put.reduce)
            yield self._stored(lanes, write, f"qh{k}")

    def _stored(self, lanes: PlainLanes, write: Write, pointer: str) -> c.Statement:
        """Write one lane to the block at a pointer, or fold it into that."""
        value = self.values.written(write)
        if write.reduce is None:
            return lanes.store(write.dtype, pointer, value)
        gathered = partial(self._gathered, write, pointer)
        return lanes.fold(f"o{pointer}", write.dtype, value, gathered)

    def _gathered(self, write: Write, pointer: str, value: str) -> c.Assign:
        """Fold an element into an element of an output."""
        so_far = load(write.dtype, pointer, "l")
        folded = self.values.unit.fold(str(write.reduce), write.dtype, so_far, value)
        return c.Assign(place(write.dtype, pointer, "l"), folded)


class PlainLanes:
    """Loads and stores of a loop over lanes: of elements of their own types."""

    def __init__(self, values: Values, stages: Stages, stage: int) -> None:
        self.values = values
        self.stages = stages
        self.stage = stage

    def load_value(self, k: int) -> c.Const:
        """Load a value that an earlier stage computed, or an element of an operand."""
        stages = self.stages
        on_stack = k in stages.of or (self.stage == stages.put_stage and k in stages.read_before)
        text = stages.stacked(k) if on_stack else load(self.values.dtypes[k], stages.place(k), "l")
        return c.Const(self.values.type(k), f"v{k}", text)

    def store(self, dtype: str, pointer: str, value: str) -> c.Assign:
        """Write an element to memory."""
        return c.Assign(place(dtype, pointer, "l"), value)

    def fold(
        self, array: str, dtype: str, value: str, folded: Callable[[str], c.Statement]
    ) -> c.Statement:
        """Fold an element, by the statement that ``folded`` makes of its expression.

        Elements that are narrowed first wait in ``array``.
        """
        return folded(value)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A narrow result of a vectorised loop, which waits in a wide array to be stored or folded."""

    array: str
    dtype: str
    leave: Callable[[str], Iterator[c.Statement]]
    """What becomes of it, from the expression of the narrow block."""


class WideLanes(PlainLanes):
    """Loads and stores of a vectorised loop: narrow elements are wide in it."""

    def __init__(self, values: Values, stages: Stages, stage: int) -> None:
        super().__init__(values, stages, stage)
        self.narrow = stages.narrow
        self._lanes = values.kernel.lanes
        self._results: list[_Waiting] = []

    def enter(self, widened: set[int]) -> Iterator[c.Statement]:
        """Widen the narrow operands, unless an earlier stage did."""
        stages = self.stages
        come = {k for k in stages.needed[self.stage] if stages.comes_narrow(k)}
        for k in sorted(come - widened):
            pointer = f"s{k}" if k in self.values.calls else stages.place(k)
            yield self.narrow.widen(f"wide{k}", self.values.dtypes[k], pointer)
        widened |= come

    def load_value(self, k: int) -> c.Const:
        dtype = self.values.dtypes[k]
        if not self.narrow.has(dtype):
            return super().load_value(k)
        array = "wide" if self.stages.comes_narrow(k) else "s"
        code, value = self.narrow.value(dtype, f"{array}{k}[l]")
        return c.Const(code, f"v{k}", value)

    def store(self, dtype: str, pointer: str, value: str) -> c.Assign:
        if not self.narrow.has(dtype):
            return super().store(dtype, pointer, value)
        stored = partial(self._store_block, dtype, pointer)
        return self._wait(_Waiting(f"o{pointer}", dtype, stored), value)

    def fold(
        self, array: str, dtype: str, value: str, folded: Callable[[str], c.Statement]
    ) -> c.Statement:
        if not self.narrow.has(dtype):
            return folded(value)
        fold = partial(self._fold_block, array, dtype, folded)
        return self._wait(_Waiting(array, dtype, fold), value)

    def declare(self) -> Iterator[c.Statement]:
        """Declare the arrays in which results wait."""
        for own in self._results:
            yield c.Array(self.narrow.wide, own.array, self._lanes)

    def leave(self) -> Iterator[c.Statement]:
        """Narrow the results, and store or fold them."""
        for own in self._results:
            yield from own.leave(self.narrow.narrowed(own.dtype, own.array))

    def _store_block(self, dtype: str, pointer: str, block: str) -> Iterator[c.Statement]:
        vector, _ = self.narrow.vectors(dtype)
        yield c.Assign(f"*({vector}_at *){pointer}", block)

    def _fold_block(
        self, wide: str, dtype: str, folded: Callable[[str], c.Statement], block: str
    ) -> Iterator[c.Statement]:
        vector, _ = self.narrow.vectors(dtype)
        array = f"n{wide}"
        yield c.Array(memory_type(dtype), array, self._lanes)
        yield c.Assign(f"*({vector} *){array}", block)
        element = f"({array}[l] != 0)" if dtype == "bool" else f"{array}[l]"
        yield c.lanes_loop(self._lanes, [folded(element)], index=self.narrow.wide, pragma=c.SIMD)

    def _wait(self, own: _Waiting, value: str) -> c.Assign:
        self._results.append(own)
        return c.Assign(f"{own.array}[l]", value)
