"""The passes of a kernel over a row: the statements of each, and the values kept for later passes.

The fold of a row is known at the end of the row, so a statement that uses it needs another pass. A
pass computes values of an earlier pass again, unless that costs more than keeping them in a buffer
as long as the row. Writes that move belong to the last pass: an output may share its memory with an
operand, which must have been read for the last time by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from frazil.link.kernel.cost import KEEPING, cost
from frazil.link.kernel.loop_kernel import LoopKernel, RowFold, Statement
from frazil.link.kernel.scalar_loop import scalar_loop_calls


class Pass(NamedTuple):
    """One walk along the row, in numbers of values, writes and puts."""

    uniform: tuple[int, ...]
    """Statements that are the same along the row, computed before the walk."""
    varying: tuple[int, ...]
    """Statements that are computed at every element, in order."""
    reads: tuple[int, ...]
    """Moving reads that the statements use."""
    loads: tuple[int, ...]
    """Values kept by an earlier pass that the statements use."""
    stores: tuple[int, ...]
    """Values kept for later passes."""
    folds: tuple[int, ...]
    """Folds over the row."""
    writes: tuple[int, ...]
    """Outputs written in this pass."""
    puts: tuple[int, ...]
    """Outputs written in this pass where indices say."""


class Passes(NamedTuple):
    """All passes over a row, and the values that are kept, each in a buffer."""

    passes: tuple[Pass, ...]
    buffers: tuple[int, ...]


_plans: WeakKeyDictionary[LoopKernel, Passes] = WeakKeyDictionary()
"""Kept as long as the kernel lives: the passes of a large one take a tenth of a megabyte."""


def plan(kernel: LoopKernel) -> Passes:
    """The passes of ``kernel``."""
    known = _plans.get(kernel)
    if known is None:
        known = _plans[kernel] = _plan(kernel)
    return known


def _plan(kernel: LoopKernel) -> Passes:
    return _several_passes(kernel) if kernel.folds else Passes((_one_pass(kernel),), ())


def _one_pass(kernel: LoopKernel) -> Pass:
    """The pass of a kernel without folds: nothing waits for the end of a row."""
    needed = [False] * len(kernel.dtypes)
    walking = tuple([at for at, write in enumerate(kernel.writes) if write.walks])
    for at in walking:
        needed[kernel.writes[at].value] = True
    for put in kernel.puts:
        for value in (put.value, *put.args):
            needed[value] = True
    uniform = kernel.uniform
    varying: list[int] = []
    for k, statement in reversed(kernel.ops.items()):
        if needed[k] and not uniform[k]:
            varying.append(k)
            for argument in statement.args:
                needed[argument] = True
    varying.reverse()
    return Pass(
        uniform=tuple([k for k in kernel.ops if uniform[k]]),
        varying=tuple(varying),
        reads=tuple([k for k, read in enumerate(kernel.reads) if read.inner and needed[k]]),
        loads=(),
        stores=(),
        folds=(),
        writes=walking,
        puts=tuple(range(len(kernel.puts))),
    )


def _several_passes(kernel: LoopKernel) -> Passes:
    first = len(kernel.reads) + len(kernel.literals)
    ready = _ready(kernel, first)
    last = max(
        [ready[fold.arg] for fold in kernel.folds.values()]
        + [ready[write.value] for write in kernel.writes if write.walks]
        + [max(ready[a] for a in (put.value, *put.args)) for put in kernel.puts],
        default=0,
    )
    # The passes in which each value is needed.
    needed: list[set[int]] = [set() for _ in kernel.dtypes]
    for fold in kernel.folds.values():
        needed[fold.arg].add(ready[fold.arg])
    for write in kernel.writes:
        if write.walks:
            needed[write.value].add(last if write.inner else ready[write.value])
    for put in kernel.puts:
        for value in (put.value, *put.args):
            needed[value].add(last)
    expensive = _expensive(kernel, ready, last)
    calls = scalar_loop_calls(kernel.ops)
    made: dict[int, set[int]] = {}
    buffers: list[int] = []
    for k in reversed(range(first, len(kernel.dtypes))):
        statement = kernel.ops.get(k)
        if statement is None or kernel.uniform[k]:
            continue
        made[k] = needed[k]
        if k in calls and needed[k] - {ready[k]}:
            # The results of a scalar loop are computed together.
            buffers.append(k)
            made[k] = {ready[k]}
        elif expensive[k] and len(needed[k]) > 1:
            buffers.append(k)
            made[k] = {min(needed[k])}
        for argument in statement.args:
            needed[argument] |= made[k]
    buffers.reverse()
    moving = [k for k, read in enumerate(kernel.reads) if read.inner]

    def one(at: int) -> Pass:
        return Pass(
            uniform=tuple(k for k in kernel.ops if kernel.uniform[k] and ready[k] == at),
            varying=tuple(k for k in kernel.ops if at in made.get(k, ())),
            reads=tuple(k for k in moving if at in needed[k]),
            loads=tuple(k for k in buffers if at in needed[k] and at not in made[k]),
            stores=tuple(k for k in buffers if at in made[k]),
            folds=tuple(k for k, fold in kernel.folds.items() if ready[fold.arg] == at),
            puts=tuple(range(len(kernel.puts))) if at == last else (),
            writes=tuple(
                position
                for position, write in enumerate(kernel.writes)
                if write.walks and at == (last if write.inner else ready[write.value])
            ),
        )

    return Passes(tuple(one(at) for at in range(max(ready, default=0) + 1)), tuple(buffers))


def _ready(kernel: LoopKernel, first: int) -> list[int]:
    """For every value, the first pass that can compute it."""
    ready = [0] * len(kernel.dtypes)
    for k, statement in enumerate(kernel.statements, first):
        if isinstance(statement, RowFold):
            ready[k] = ready[statement.arg] + 1
        else:
            ready[k] = max((ready[a] for a in statement.args), default=0)
    return ready


def _expensive(kernel: LoopKernel, ready: Sequence[int], last: int) -> list[bool]:
    """For every value, whether computing it again costs more than keeping it."""
    later = [False] * len(kernel.dtypes)  # whether a statement of a later pass uses it directly
    for k, statement in kernel.ops.items():
        for argument in statement.args:
            later[argument] |= ready[k] > ready[argument]
    at_last = [write.value for write in kernel.writes if write.inner]
    for value in (*at_last, *(v for put in kernel.puts for v in (put.value, *put.args))):
        later[value] |= last > ready[value]
    expensive = [False] * len(kernel.dtypes)
    again = [0] * len(kernel.dtypes)
    for k, statement in kernel.ops.items():
        if kernel.uniform[k]:
            continue
        if k in kernel.row_takes:
            continue  # it is read like any other operand
        own = statement.op if isinstance(statement, Statement) else statement
        whole = cost(own) + sum(again[a] for a in statement.args)
        again[k] = min(whole, KEEPING + 1)
        if later[k] and again[k] > KEEPING:
            expensive[k] = True
            again[k] = 0
    return expensive
