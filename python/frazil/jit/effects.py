"""Callbacks as nodes of a graph that do something, each after the one before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Op
from frazil.jit.progress import make
from frazil.jit.trace import Trace
from frazil.scalar.constants import as_tensor

Call: TypeAlias = Callable[[Sequence[Array]], None]
_DONE = TensorType("bool", ())


def add_effect(trace: Trace, call: Call, variables: Sequence[Variable]) -> None:
    """Make a callback with these variables now, and whenever the compiled function comes here.

    In a function that is mapped over a batch, it is made for each element at the end of it.
    """
    if trace.mapped is not None:
        trace.mapped.append((call, list(variables)))
        return
    trace.make_outside(call, variables)

    @dataclass(frozen=True, eq=False)
    class Callback(Op):  # a class of its own, as ops are known by their class
        pure: ClassVar[bool] = False

        def make_node(self, *inputs: Variable) -> FrozenApply:
            return FrozenApply(self, inputs, [_DONE])

        def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
            make(lambda: call(inputs[1:]))
            return (np.array(True),)

    before = trace.effects[-1] if trace.effects else as_tensor(_core.constant(np.array(True)))
    trace.effects.append(Callback()(before, *variables))


def add_mapped_effect(
    trace: Trace, calls: Sequence[tuple[Call, int]], batches: Sequence[Variable], count: Variable
) -> None:
    """Make callbacks for each element of batches, all of an element before those of the next.

    Each takes so many of the batches. ``count`` is the number of elements.
    """

    def call(arrays: Sequence[Array]) -> None:
        for at in range(int(arrays[0])):
            rest = iter(arrays[1:])
            for own, taken in calls:
                own([next(rest)[at] for _ in range(taken)])

    add_effect(trace, call, [count, *batches])
