"""Programs of inner graphs: which are needed, and in which order they are made."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from functools import singledispatch
from typing import Protocol, TypeAlias, TypeVar

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.graph.op import Op

Inner: TypeAlias = tuple[FrozenFunctionGraph, tuple[int, ...]]
"""A graph to make a program of, and the positions of the inputs whose memory it may use up."""


@singledispatch
def inner_graphs(op: Op) -> Sequence[Inner]:
    """The graphs of which lowering ``op`` needs programs: none, for ops without a rule.

    A rule names no input whose memory the outer program may read afterwards.
    """
    return ()


class RemembersPrograms(Protocol):
    """A linker that makes a program of equal inner graphs once, for as long as one is in use."""

    @property
    def inner_programs(self) -> MutableMapping[Inner, Program]: ...


class HasInner(Protocol):
    """A plan that needs programs of inner graphs."""

    @property
    def inner(self) -> Sequence[Inner]: ...


PlanT = TypeVar("PlanT", bound=HasInner)


def plan_inner(
    wanted: Sequence[Inner],
    remembered: MutableMapping[Inner, Program],
    plan: Callable[[FrozenFunctionGraph, Sequence[Variable]], PlanT],
) -> tuple[dict[Inner, Program], dict[Inner, PlanT]]:
    """The programs that are there, and plans of the others: each after those that it needs."""
    programs: dict[Inner, Program] = {}
    begun: dict[Inner, PlanT] = {}
    plans: dict[Inner, PlanT] = {}
    pending = list(reversed(wanted))
    while pending:
        inner = pending[-1]
        if inner in programs or inner in plans:
            pending.pop()
        elif inner in begun:
            plans[inner] = begun[inner]
            pending.pop()
        elif (known := remembered.get(inner)) is not None:
            programs[inner] = known
            pending.pop()
        else:
            graph, donated = inner
            begun[inner] = plan(graph, [graph.inputs[at] for at in donated])
            pending += begun[inner].inner
    return programs, plans
