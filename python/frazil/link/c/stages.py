"""The stages of a pass over a block.

The statements of a pass fall into stages, so that one call of ``lgamma`` does not keep the rest
from being vectorised: loops that are vectorised, functions of whole blocks, and loops that are not
vectorised take turns. The values for a later stage go through the stack, or through registers if
the compiler sees whole vectors. Writes belong to the last stage: if an output shares its memory
with an operand, the operand has been read by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import partial

import numpy as np

from frazil.link.c.definitions import Definitions
from frazil.link.c.exponential import block_exponential
from frazil.link.c.indices import is_gathered
from frazil.link.c.logarithm import block_log, block_log1p
from frazil.link.c.narrow import Narrow
from frazil.link.c.runtime import of_block, of_elements
from frazil.link.c.short_exponential import block_function, fits
from frazil.link.c.short_registers import Form, short_form
from frazil.link.c.values import Values, is_alone
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, LoopKernel, Statement
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.scalar import exp, log, log1p
from frazil.scalar.op import ScalarOp

_IN_KERNEL: Mapping[ScalarOp, Callable[[Definitions, str], str]] = {
    exp: block_exponential,
    log: block_log,
    log1p: block_log1p,
}
"""The functions that go their steps in the kernel itself."""

QUICK = 4
"""The number of statements, none of them a function, up to which a block of a pass is quick."""


def takes_blocks(kernel: LoopKernel, own: Statement) -> bool:
    """Whether a function takes a whole block at a time, where registers hold one."""
    return (
        own.op in OF_BLOCKS
        and own.dtype.startswith("float")
        and all(kernel.dtypes[a] == own.dtype for a in own.args)
    )


Definition = Callable[[Definitions, str], str]
"""Defines a function for elements of a dtype; its C name."""


def _block_function(values: Values, k: int) -> Definition | None:
    """The definition of the function of whole blocks that computes a value; None if none does."""
    kernel, own, unit = values.kernel, values.kernel.ops[k], values.unit
    if not isinstance(own, Statement) or is_alone(kernel, k) or not takes_blocks(kernel, own):
        return None
    if unit.has_wide_registers:
        return _wide_function(kernel, own)
    return _short_function(values, k, own) if unit.has_short_registers else None


def _wide_function(kernel: LoopKernel, own: Statement) -> Definition:
    """The definition of the function of a block that is a register."""
    if own.op in _IN_KERNEL and kernel.lanes * np.dtype(own.dtype).itemsize == BLOCK_BYTES:
        return _IN_KERNEL[own.op]
    return partial(of_block, op=own.op, lanes=kernel.lanes)


def _short_function(values: Values, k: int, own: Statement) -> Definition | None:
    """The definition of the function from a block to another that is registers of AVX2."""
    form, lanes = short_form(own.op, own.dtype), values.kernel.lanes
    if form is Form.ELEMENTS or len(own.args) != 1:
        return None
    if form is Form.BLOCK and values.is_vector(k) and fits(own.dtype, lanes):
        return partial(block_function, name=str(own.op.table_name), lanes=lanes)
    if form is None and values.is_vector(k):
        return None
    return partial(of_elements, op=own.op, lanes=lanes)


class Kind(IntEnum):
    """The way of a stage through the lanes: stage ``n`` is of kind ``n % 3``."""

    VECTOR = 0
    BLOCK = 1
    LANES = 2


class Stages:
    """The stage of each value of a pass, and the needs of each stage.

    Attributes
    ----------
    of : mapping of int to int
        The stage of every value that the pass computes. Rows that indices choose are operands.
    puts, row_puts : list of int
        The puts of the pass: of elements where indices say, and of rows.
    last : int
        The stage that writes and folds, and puts rows.
    gathers : mapping of int to sequence of int
        The takes of each stage that vectors do, where a stage has nothing else.
    put_stage : int
        The stage that puts elements where indices say; -1 if there are none.
    needed : mapping of int to set of int
        For every stage, the varying values that it computes, loads or takes from the stack.
    read_before : set of int
        The operands that are read before the last stage writes, and used after it.
    kept : set of int
        The values that go from stage to stage.
    block_functions : mapping of int to callable
        For the values that functions of whole blocks make: what defines the function.
    """

    def __init__(self, values: Values, row_pass: Pass) -> None:
        self.values = values
        self.row_pass = row_pass
        self.puts = [k for k in row_pass.puts if k not in values.kernel.row_puts]
        self.row_puts = [k for k in row_pass.puts if k in values.kernel.row_puts]
        self.narrow = Narrow(values.unit, values.kernel)
        self.block_functions = {
            k: found for k in row_pass.varying if (found := _block_function(values, k)) is not None
        }
        self.of = self._find_stages()
        self.gathers = self._find_gathers()
        last = max(self.of.values(), default=0)
        of_blocks = last % 3 == Kind.BLOCK or last in self.gathers
        self.last = _next(last, Kind.VECTOR) if of_blocks else last
        self.put_stage = _next(self.last + 1, Kind.LANES) if self.puts else -1
        # Puts come after the writes, which may overwrite operands.
        self.read_before = {k for k in self._put_values() if self._varies_and_is_read(k)}
        self.needed = self._find_needed()
        self.kept = self._find_kept()

    @property
    def is_quick(self) -> bool:
        """Whether a block takes so little time that the loop over blocks is felt."""
        own = [self.values.kernel.ops[k] for k in self.row_pass.varying]
        quick = [o.op.rule != "float" for o in own if isinstance(o, Statement)]
        return not self.row_pass.puts and self.last == 0 and len(quick) <= QUICK and all(quick)

    def used_values(self) -> Iterator[int]:
        """The values that the pass uses, uniform ones among them."""
        for k in self.row_pass.varying:
            yield from self.values.kernel.ops[k].args
        yield from self._written_values()
        yield from self._put_values()

    def begins(self, k: int, stage: int) -> bool:
        """Whether a value is a result of a scalar loop that is called in this stage."""
        return k in self.values.calls and self.of.get(k) == stage

    def comes_narrow(self, k: int) -> bool:
        """Whether the elements of a value are narrow in memory, or a function leaves them so."""
        is_narrow = self.narrow.has(self.values.dtypes[k])
        return is_narrow and (k not in self.of or k in self.values.calls)

    def place(self, k: int) -> str:
        """The pointer to the block of a value that the pass does not compute."""
        if k in self.values.kernel.row_takes:
            return f"qt{k}"
        return f"q{k}" if k < self.values.n_reads else f"qb{k}"

    def stack_type(self, k: int) -> str:
        """The type of a value's elements on the stack."""
        is_wide = self.narrow.has(self.values.dtypes[k]) and k not in self.values.calls
        return self.narrow.wide if is_wide else self.values.type(k)

    def stacked(self, k: int) -> str:
        """Element ``l`` of a value on the stack, as one of its own dtype."""
        dtype = self.values.dtypes[k]
        if self.narrow.has(dtype) and k not in self.values.calls:
            return self.narrow.element(dtype, f"s{k}[l]")
        return f"s{k}[l]"

    def _find_stages(self) -> dict[int, int]:
        calls, ops = self.values.calls, self.values.kernel.ops
        stages: dict[int, int] = {}
        for k in self._computed_values():
            args = ops[k].args
            earliest = max([stages.get(a, 0) for a in args], default=0)
            if k in calls and any(a in stages for a in args):
                earliest += 1  # it takes blocks of its operands
            stages[k] = _next(earliest, self._kind(k))
        return stages

    def _find_gathers(self) -> dict[int, list[int]]:
        made: dict[int, list[int]] = {}
        for k, stage in self.of.items():
            made.setdefault(stage, []).append(k)
        return {stage: own for stage, own in made.items() if self._is_gathered(stage, own)}

    def _is_gathered(self, stage: int, made: list[int]) -> bool:
        """Whether vectors take all that a stage makes, at indices that are there before."""
        return (
            stage % 3 == Kind.LANES
            and all(is_gathered(self.values, k) for k in made)
            and not any(
                self.of.get(k) == stage for own in made for k in self.values.kernel.ops[own].args
            )
            and not {*made} & {*self.row_pass.stores}
        )

    def _computed_values(self) -> Iterator[int]:
        """The values that the pass computes at every element, in order."""
        row_takes = self.values.kernel.row_takes
        return (k for k in self.row_pass.varying if k not in row_takes)

    def _kind(self, k: int) -> Kind:
        own = self.values.kernel.ops[k]
        if k in self.block_functions:
            return Kind.BLOCK
        if not self.values.is_vector(k):
            return Kind.LANES
        narrow_integers = isinstance(own, Statement) and self.narrow.computes_with(own)
        return Kind.LANES if narrow_integers else Kind.VECTOR

    def _written_values(self) -> Iterator[int]:
        """The values that the last stage writes, folds and puts."""
        kernel, row_pass = self.values.kernel, self.row_pass
        yield from (kernel.writes[k].value for k in row_pass.writes)
        yield from (kernel.folds[k].arg for k in row_pass.folds)
        yield from (kernel.puts[k].value for k in self.row_puts)

    def _put_values(self) -> Iterator[int]:
        for k in self.puts:
            put = self.values.kernel.puts[k]
            yield from (put.value, *put.args)

    def _varies_and_is_read(self, k: int) -> bool:
        return k < self.values.n_reads and not self.values.kernel.uniform[k]

    def _find_needed(self) -> dict[int, set[int]]:
        kernel = self.values.kernel
        uniform = kernel.uniform
        needed: dict[int, set[int]] = {self.last: set()}
        for k in self._computed_values():
            here = needed.setdefault(self.of[k], set())
            here.add(k)
            here.update([a for a in kernel.ops[k].args if not uniform[a]])
        needed[self.last].update(value for value in self._written_values() if not uniform[value])
        if self.puts:
            # In a loop of its own, element by element, as far as the row goes.
            needed[self.put_stage] = {value for value in self._put_values() if not uniform[value]}
            needed[self.last] |= self.read_before
        return needed

    def _find_kept(self) -> set[int]:
        latest = {k: stage for stage in sorted(self.needed) for k in self.needed[stage]}
        goes_on = {
            k
            for k, stage in self.of.items()
            if stage % 3 == Kind.BLOCK or k in self.values.calls or latest[k] > stage
        }
        return goes_on | self.read_before


def _next(stage: int, kind: Kind) -> int:
    """The first stage of a kind, from ``stage`` on."""
    return stage + (kind - stage) % 3
