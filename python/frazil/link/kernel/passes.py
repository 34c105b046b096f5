"""The passes of a kernel over a row: what each of them computes, and what is kept for a later one.

A fold of a row is known when the row has been walked, so what uses it waits for another pass. What
was computed in an earlier pass is computed again, unless that costs more than keeping it in a
buffer as long as the row. Writes that move belong to the last pass: when an output shares its
memory with an operand, that has been read for the last time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from frazil.link.kernel.cost import KEEPING, cost
from frazil.link.kernel.loop_kernel import Fold, LoopKernel, Statement
from frazil.link.kernel.scalar_loop import loop_calls


@dataclass(frozen=True, slots=True)
class Pass:
    """One walk along the row. Values, writes and puts are given by their numbers.

    ``uniform``: statements without motion, computed before the walk; ``varying``: statements that
    are computed at every element, in order; ``reads`` and ``loads``: moving reads and kept values
    that these need; ``stores``: values kept for later passes; ``folds``: what is folded.
    """

    uniform: tuple[int, ...]
    varying: tuple[int, ...]
    reads: tuple[int, ...]
    loads: tuple[int, ...]
    stores: tuple[int, ...]
    folds: tuple[int, ...]
    writes: tuple[int, ...]
    puts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passes:
    """All passes over a row, and the values that are kept in a buffer each."""

    passes: tuple[Pass, ...]
    buffers: tuple[int, ...]


_plans: WeakKeyDictionary[LoopKernel, Passes] = WeakKeyDictionary()
"""As long as there is the kernel: a large one takes a tenth of a megabyte."""


def plan(kernel: LoopKernel) -> Passes:
    """The passes of ``kernel``."""
    known = _plans.get(kernel)
    if known is None:
        known = _plans[kernel] = _plan(kernel)
    return known


def _plan(kernel: LoopKernel) -> Passes:
    first = len(kernel.reads) + len(kernel.literals)
    ready = _ready(kernel, first)
    last = max(
        [ready[fold.arg] for fold in kernel.folds.values()]
        + [ready[write.value] for write in kernel.writes if write.walks]
        + [max(ready[a] for a in (put.value, *put.args)) for put in kernel.puts],
        default=0,
    )
    # In which passes each value is needed.
    needed: list[set[int]] = [set() for _ in kernel.dtypes]
    for fold in kernel.folds.values():
        needed[fold.arg].add(ready[fold.arg])
    for write in kernel.writes:
        if write.walks:
            needed[write.value].add(last if write.inner else ready[write.value])
    for put in kernel.puts:
        for value in (put.value, *put.args):
            needed[value].add(last)
    dear = _dear(kernel, ready, last)
    calls = loop_calls(kernel.ops)
    made: dict[int, set[int]] = {}
    buffers: list[int] = []
    for k in reversed(range(first, len(kernel.dtypes))):
        statement = kernel.ops.get(k)
        if statement is None or kernel.uniform[k]:
            continue
        made[k] = needed[k]
        if k in calls and needed[k] - {ready[k]}:
            # The results of a loop of elements come together.
            buffers.append(k)
            made[k] = {ready[k]}
        elif dear[k] and len(needed[k]) > 1:
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
    """For every value, the number of passes after which what it needs is there."""
    ready = [0] * len(kernel.dtypes)
    for k, statement in enumerate(kernel.statements, first):
        if isinstance(statement, Fold):
            ready[k] = ready[statement.arg] + 1
        else:
            ready[k] = max((ready[a] for a in statement.args), default=0)
    return ready


def _dear(kernel: LoopKernel, ready: Sequence[int], last: int) -> list[bool]:
    """For every value, whether computing it again costs more than keeping it."""
    later = [False] * len(kernel.dtypes)  # whether something of a later pass uses it directly
    for k, statement in kernel.ops.items():
        for argument in statement.args:
            later[argument] |= ready[k] > ready[argument]
    at_last = [write.value for write in kernel.writes if write.inner]
    for value in (*at_last, *(v for put in kernel.puts for v in (put.value, *put.args))):
        later[value] |= last > ready[value]
    dear = [False] * len(kernel.dtypes)
    again = [0] * len(kernel.dtypes)
    for k, statement in kernel.ops.items():
        if kernel.uniform[k]:
            continue
        own = statement.op if isinstance(statement, Statement) else statement
        whole = cost(own) + sum(again[a] for a in statement.args)
        again[k] = min(whole, KEEPING + 1)
        if later[k] and again[k] > KEEPING:
            dear[k] = True
            again[k] = 0
    return dear
