"""What a pass does with one block, as C: loops over its lanes.

The statements of a pass fall into stages, so that one call of ``lgamma`` does not keep the rest
from being vectorised: loops that are vectorised, functions of whole blocks, and loops that are not
vectorised take turns. What a later stage needs of an earlier one goes through the stack, which is
to say through registers where the compiler sees whole vectors. Writes belong to the last stage:
when an output shares its memory with an operand, that has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from frazil.link.c import partials
from frazil.link.c.exponential import block_exponential, hold_constants
from frazil.link.c.folding import Folding
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indices import Indices
from frazil.link.c.logarithm import block_log, block_log1p
from frazil.link.c.narrow import Narrow, NarrowResult
from frazil.link.c.unit import Unit, load, store
from frazil.link.element_loop import LoopCall
from frazil.link.kernel import BLOCK_BYTES, LoopKernel, Scan, Statement, Take, Write
from frazil.link.passes import Pass
from frazil.scalar import exp, log, log1p
from frazil.scalar.op import ScalarOp

_BLOCK_FUNCTIONS: Mapping[ScalarOp, Callable[[Unit, str], str]] = {
    exp: block_exponential,
    log: block_log,
    log1p: block_log1p,
}

QUICK = 4
"""The number of statements, none of them a function, up to which a block of a pass is quick."""


@dataclass(frozen=True, slots=True)
class Moving:
    """An operand that moves along the inner dimension: a block of it starts at ``q`` and its name.

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


class Kind(IntEnum):
    """How a stage goes through the lanes: stage ``n`` is of kind ``n % 3``."""

    VECTOR = 0
    BLOCK = 1
    LANES = 2


class Stages:
    """Writes what a pass does with a block."""

    def __init__(
        self,
        unit: Unit,
        kernel: LoopKernel,
        one: Pass,
        expressions: Mapping[int, str],
        calls: Mapping[int, LoopCall],
        indices: Indices,
    ) -> None:
        self.unit = unit
        self.kernel = kernel
        self.one = one
        self.expressions = expressions
        self.calls = calls
        self.indices = indices
        self.texts = indices.texts
        self.n_reads = len(kernel.reads)
        self.lanes = kernel.lanes
        self.narrow = Narrow(unit, kernel)
        self.block_functions = {
            k: _BLOCK_FUNCTIONS[own.op]
            for k in one.varying
            if isinstance(own := kernel.ops[k], Statement) and self._is_block_function(own)
        }
        self.stages = self._find_stages()
        last = max(self.stages.values(), default=0)
        self.last = last if last % 3 != Kind.BLOCK else _next(last, Kind.VECTOR)
        self.put_stage = _next(self.last + 1, Kind.LANES) if one.puts else -1
        # What is put comes after the writes, which may go to the memory of operands.
        self.read_before = {k for k in self._put_values() if self._varies_and_is_read(k)}
        self.needed = self._needed()

    def _find_stages(self) -> dict[int, int]:
        """The stage of every value that the pass computes."""
        stages: dict[int, int] = {}
        for k in self.one.varying:
            earliest = max((stages.get(a, 0) for a in self.kernel.ops[k].args), default=0)
            if k in self.calls and any(a in stages for a in self.kernel.ops[k].args):
                earliest += 1  # it takes blocks of its operands
            stages[k] = _next(earliest, self._kind(k))
        return stages

    def _kind(self, k: int) -> Kind:
        own = self.kernel.ops[k]
        if not isinstance(own, Statement):
            return Kind.LANES
        if k in self.block_functions:
            return Kind.BLOCK
        if self.narrow.computes_with(own):
            return Kind.LANES
        dtypes = tuple(self.kernel.dtypes[a] for a in own.args)
        _, vector = self.unit.form(own.op, dtypes, own.dtype)
        return Kind.VECTOR if vector else Kind.LANES

    def _is_block_function(self, own: Statement) -> bool:
        """Whether a function takes a whole block at a time."""
        return (
            self.unit.has_wide_registers
            and own.op in _BLOCK_FUNCTIONS
            and own.dtype.startswith("float")
            and self.kernel.dtypes[own.args[0]] == own.dtype
            and self.lanes * np.dtype(own.dtype).itemsize == BLOCK_BYTES
        )

    def _written_values(self) -> Iterator[int]:
        """What the last stage writes and folds."""
        kernel, one = self.kernel, self.one
        yield from (kernel.writes[k].value for k in one.writes)
        yield from (kernel.folds[k].arg for k in one.folds)

    def _put_values(self) -> Iterator[int]:
        for k in self.one.puts:
            put = self.kernel.puts[k]
            yield from (put.value, *put.args)

    def _varies_and_is_read(self, k: int) -> bool:
        return k < self.n_reads and not self.kernel.uniform[k]

    def uniform_operands(self) -> Iterator[int]:
        """The values without motion that the pass uses, and others."""
        for k in self.one.varying:
            yield from self.kernel.ops[k].args
        yield from self._written_values()
        yield from self._put_values()

    def _needed(self) -> dict[int, set[int]]:
        """For every stage, the varying values that it computes, loads or takes from the stack."""
        uniform = self.kernel.uniform
        needed: dict[int, set[int]] = {self.last: set()}
        for k in self.one.varying:
            here = needed.setdefault(self.stages[k], set())
            here.add(k)
            here.update(a for a in self.kernel.ops[k].args if not uniform[a])
        needed[self.last].update(value for value in self._written_values() if not uniform[value])
        if self.one.puts:
            # In a loop of its own, element by element, as far as the row goes.
            needed[self.put_stage] = {value for value in self._put_values() if not uniform[value]}
            needed[self.last] |= self.read_before
        return needed

    # ------------------------------------------------------------ text

    def is_quick(self) -> bool:
        """Whether a block is done so quickly that the time between blocks is felt."""
        own = [self.kernel.ops[k] for k in self.one.varying]
        quick = [o.op.rule != "float" for o in own if isinstance(o, Statement)]
        return not self.one.puts and self.last == 0 and len(quick) <= QUICK and all(quick)

    def enter_blocks(self) -> Iterator[str]:
        """What functions of whole blocks want before a loop over blocks."""
        functions = self.block_functions.items()
        dtypes = {self.kernel.ops[k].dtype for k, own in functions if own is block_exponential}
        yield from (hold_constants(self.unit, dtype) for dtype in sorted(dtypes))

    def loops(self, foldings: Sequence[Folding], blocks: int = 1) -> Iterator[str]:
        """For every stage a loop over the lanes of a block, or calls of functions of blocks.

        Several ``blocks`` are whole, and those of one stage.
        """
        lanes = self.lanes * blocks
        kept = {
            k
            for k, own in self.stages.items()
            if own % 3 == Kind.BLOCK
            or k in self.calls
            or any(k in values for stage, values in self.needed.items() if stage > own)
        } | self.read_before
        for k in sorted(kept - self.block_functions.keys()):
            yield f"ALIGNED {self._stack_type(k)} s{k}[{lanes}];"
        widened: set[int] = set()
        for stage in sorted(self.needed):
            if stage % 3 == Kind.BLOCK:
                for k in sorted(k for k, own in self.stages.items() if own == stage):
                    yield from self._block_function(k)
                continue
            begun = (self.calls[k] for k in sorted(self.needed[stage]) if self._begins(k, stage))
            for call in dict.fromkeys(begun):
                yield from self._call_loop(call, lanes)
            if stage == self.last:
                # Not before: stores that lie between would keep it from being a register.
                for each in foldings:
                    yield each.enter_block() if blocks == 1 else each.enter_all_sets()
            if self._widens(stage, blocks):
                come = {k for k in self.needed[stage] if self._comes_narrow(k)}
                for k in sorted(come - widened):
                    place = f"s{k}" if k in self.calls else self._place(k)
                    yield self.narrow.widen(f"c{k}", self.kernel.dtypes[k], place)
                widened |= come
            yield from self._stage_loop(stage, foldings, blocks, kept)

    def _widens(self, stage: int, blocks: int) -> bool:
        """Whether a stage is vectorised and has its narrow elements widened."""
        return stage % 3 == Kind.VECTOR and blocks == 1

    def _comes_narrow(self, k: int) -> bool:
        """Whether the elements of a value are narrow in memory, or a function leaves them so."""
        is_narrow = self.narrow.has(self.kernel.dtypes[k])
        return is_narrow and (k not in self.stages or k in self.calls)

    def _stack_type(self, k: int) -> str:
        """The type of a value's elements between stages."""
        dtype = self.kernel.dtypes[k]
        is_wide = self.narrow.has(dtype) and k not in self.calls
        return self.narrow.wide if is_wide else C_TYPES[dtype]

    def _stage_loop(
        self, stage: int, foldings: Sequence[Folding], blocks: int, kept: set[int]
    ) -> Iterator[str]:
        """The loop of a stage over the lanes, and what is done with its narrow elements."""
        lanes = self.lanes * blocks
        has_end = self.lanes > 1 and blocks == 1
        kind = partials.lane_type(lanes) if has_end else "i4"
        wide = self._widens(stage, blocks)
        results: list[NarrowResult] | None = [] if wide else None
        lines = [
            line
            for k in sorted(self.needed[stage])
            for line in self._lane_value(k, stage, results, keep=k in kept)
        ]
        if stage == self.last:
            lines += self._write_lane(foldings, results, has_end=has_end)
        if stage == self.put_stage:
            lines += self.indices.put_lane(self.one)
        for each in results or ():
            yield f"ALIGNED {self.narrow.wide} {each.name}[{lanes}];"
        if stage % 3 == Kind.VECTOR and lanes > 1:
            yield "#pragma omp simd"
        bound: str | int = lanes
        if stage == self.put_stage and has_end:
            bound = f"(n_inner - i < {lanes} ? n_inner - i : {lanes})"
        yield f"for ({kind} l = 0; l < {bound}; ++l) {{"
        yield from lines
        yield "}"
        yield from (line for each in results or () for line in self.narrow.leave(each))

    def _block_function(self, k: int) -> Iterator[str]:
        """The function of a whole block; its operand is in memory or was computed before."""
        own = self.kernel.ops[k]
        [argument] = own.args
        vector = self.unit.vector(own.dtype, self.lanes)
        operand = f"*(const {vector}_at *){self._place(argument)}"
        if argument in self.stages:
            operand = f"s{argument}"
            if argument not in self.block_functions:
                operand = f"*(const {vector} *){operand}"
        function = self.block_functions[k](self.unit, own.dtype)
        yield f"const {vector} s{k} = {function}({operand});"
        if k in self.one.stores:
            yield f"*({vector}_at *)qb{k} = s{k};"

    def _begins(self, k: int, stage: int) -> bool:
        """Whether a value is made by a loop of elements that is called in this stage."""
        return k in self.calls and self.stages.get(k) == stage

    def _call_loop(self, call: LoopCall, lanes: int) -> Iterator[str]:
        """The loop for a block of elements: its results go to the stack."""
        kernel, first = self.kernel, call.numbers[0]
        same_count = kernel.uniform[call.args[0]]
        function = self.unit.loop(call.loop).block(lanes, call.results, same_count=same_count)
        blocks: list[tuple[str, str, str]] = []
        operands: list[str] = []
        for at, (a, to) in enumerate(zip(call.args, call.operands, strict=True)):
            if kernel.uniform[a]:
                text = self.texts[a]
            elif a in self.stages:
                text = self._stacked(a)
            else:
                text = load(kernel.dtypes[a], self._place(a), "l")
            value = self.unit.convert(text, kernel.dtypes[a], to)
            if at == 0 and same_count:
                operands.append(value)
                continue
            blocks.append((f"x{first}_{at}", C_TYPES[to], value))
            operands.append(f"x{first}_{at}")
        yield "{"
        for name, code, _ in blocks:
            yield f"ALIGNED {code} {name}[{lanes}];"
        yield "#pragma omp simd"
        yield f"for (i4 l = 0; l < {lanes}; ++l) {{"
        for name, _, value in blocks:
            yield f"{name}[l] = {value};"
        yield "}"
        yield f"{function}({', '.join([*operands, *(f's{k}' for k in call.numbers), '&status'])});"
        yield "}"

    def _place(self, k: int) -> str:
        """Where a value that this pass does not compute is in memory."""
        return f"q{k}" if k < self.n_reads else f"qb{k}"

    def _stacked(self, k: int) -> str:
        """The element ``l`` of a value that is between stages, of its own dtype."""
        dtype = self.kernel.dtypes[k]
        if self.narrow.has(dtype) and k not in self.calls:
            return self.narrow.element(dtype, f"s{k}[l]")
        return f"s{k}[l]"

    def _found(self, k: int, stage: int, *, wide: bool) -> tuple[str, str]:
        """The type and expression of a value that an earlier stage computed, or of an operand."""
        dtype = self.kernel.dtypes[k]
        on_stack = k in self.stages or (stage == self.put_stage and k in self.read_before)
        if wide and self.narrow.has(dtype):
            return self.narrow.value(dtype, f"{'c' if self._comes_narrow(k) else 's'}{k}[l]")
        text = self._stacked(k) if on_stack else load(dtype, self._place(k), "l")
        return C_TYPES[dtype], text

    def _lane_value(
        self, k: int, stage: int, results: list[NarrowResult] | None, *, keep: bool
    ) -> Iterator[str]:
        """Let the value be at hand for lane ``l``; it stays on the stack where it is kept."""
        dtype, own = self.kernel.dtypes[k], self.kernel.ops.get(k)
        if self.stages.get(k) != stage or k in self.calls:
            code, value = self._found(k, stage, wide=results is not None)
            yield f"const {code} v{k} = {value};"
            if stage == self.last and k in self.read_before:
                yield f"s{k}[l] = v{k};"
            if self._begins(k, stage) and k in self.one.stores:
                yield self._stored(dtype, f"qb{k}", f"v{k}", results)
            return
        if isinstance(own, Take):
            # Behind the end of a row there may be nothing.
            inner = self.kernel.sources[own.source].inner and self.lanes > 1
            element = "(i + (i + l < n_inner ? l : rest - 1))" if inner else "(i + l)"
            yield from self.indices.take(k, own, element)
        elif isinstance(own, Scan):
            write = Write(own.args[0], own.dtype, inner=False, reduce=own.reduce)
            folded = self.unit.fold(write, f"r{k}", self._written(write))
            if self.lanes > 1:  # behind the end the last value is repeated
                folded = f"(i + l < n_inner ? {folded} : r{k})"
            yield f"r{k} = {folded};"
            yield f"const {C_TYPES[dtype]} v{k} = r{k};"
        else:
            yield f"const {C_TYPES[dtype]} v{k} = {self.expressions[k]};"
        if keep:
            yield f"s{k}[l] = v{k};"
        if k in self.one.stores:
            yield self._stored(dtype, f"qb{k}", f"v{k}", results)

    def _stored(
        self, dtype: str, pointer: str, value: str, results: list[NarrowResult] | None
    ) -> str:
        """The statement that writes an element to memory, or keeps it until it is narrowed."""
        if results is None or not self.narrow.has(dtype):
            return store(dtype, pointer, "l", value)
        return self._narrowed(NarrowResult(f"o{pointer}", dtype, pointer), value, results)

    def _narrowed(self, result: NarrowResult, value: str, results: list[NarrowResult]) -> str:
        results.append(result)
        return f"{result.name}[l] = {value};"

    def _written(self, write: Write) -> str:
        """The expression of what is written, of the write's dtype."""
        text, own = self.texts[write.value], self.kernel.dtypes[write.value]
        return self.unit.convert(text, own, write.dtype)

    def _write_lane(
        self,
        foldings: Sequence[Folding],
        results: list[NarrowResult] | None,
        *,
        has_end: bool,
    ) -> Iterator[str]:
        """Writes and reductions of one lane."""
        for each in foldings:
            value = self._written(each.write)

            def fold(value: str, each: Folding = each) -> str:
                return each.fold_lane(value, has_end=has_end)

            if results is not None and self.narrow.has(each.write.dtype):
                result = NarrowResult(f"of{each.k}", each.write.dtype, fold=fold)
                yield self._narrowed(result, value, results)
            else:
                yield fold(value)
        for position in self.one.writes:
            write, k = self.kernel.writes[position], self.n_reads + position
            if not write.inner:
                continue
            value = self._written(write)
            if write.reduce is None:
                yield self._stored(write.dtype, f"q{k}", value, results)
                continue

            def gather(value: str, write: Write = write, k: int = k) -> str:
                value = self.unit.fold(write, load(write.dtype, f"q{k}", "l"), value)
                return store(write.dtype, f"q{k}", "l", value)

            if results is not None and self.narrow.has(write.dtype):
                result = NarrowResult(f"oq{k}", write.dtype, fold=gather)
                yield self._narrowed(result, value, results)
            else:
                yield gather(value)


def _next(stage: int, kind: Kind) -> int:
    """The first stage of a kind, from ``stage`` on."""
    return stage + (kind - stage) % 3
