"""Programs of inner graphs: which ones a graph needs, and the order in which they are made."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op

Inner: TypeAlias = tuple[FrozenFunctionGraph, tuple[int, ...]]
"""An inner graph, and the positions of the inputs whose memory its program may use up."""


@singledispatch
def inner_graphs(op: Op) -> Sequence[Inner]:
    """The inner graphs of ``op`` that need programs; none if the op has no rule.

    A rule must not donate an input whose memory the outer program may read afterwards.
    """
    return ()


class RemembersPrograms(Protocol):
    """A linker that shares one program among equal inner graphs, while it is in use."""

    @property
    def inner_programs(self) -> MutableMapping[Inner, Program]: ...


class HasInner(Protocol):
    """A plan, which says which inner graphs it needs programs of."""

    @property
    def inner(self) -> Sequence[Inner]: ...


PlanT = TypeVar("PlanT", bound=HasInner)


def plan_inner(
    wanted: Sequence[Inner],
    remembered: MutableMapping[Inner, Program],
    plan: Callable[[FrozenFunctionGraph, Sequence[Variable]], PlanT],
) -> tuple[dict[Inner, Program], dict[Inner, PlanT]]:
    """The programs that are known, and plans of the others, in an order to finish them in.

    A plan stands behind the plans whose programs it needs.
    """
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
