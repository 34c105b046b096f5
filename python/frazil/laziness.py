"""What only one branch of a choice needs: computed in the branch, so only if it is taken."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from frazil import _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.ifelse import IfElse, branch_over
from frazil.successors import Successors


def draw_in(
    outputs: Sequence[Variable], blockers: Iterable[Variable] = ()
) -> tuple[dict[FrozenApply, FrozenApply], set[FrozenApply]]:
    """Return for each choice that ``outputs`` need the one that holds what only it needs.

    Parameters
    ----------
    outputs : sequence of Variable
        What is needed in any case.
    blockers : iterable of Variable
        How these are computed does not matter.

    Returns
    -------
    instead : dict of node to node
        The inputs of one may be outputs of another that is replaced, too.
    drawn : set of node
        The nodes that need not be computed outside of choices any more.
    """
    stops = frozenset(blockers)
    order = _core.toposort(list(outputs), list(stops))
    arms = {node: _arms(node) for node in order if isinstance(node.op, IfElse)}
    instead: dict[FrozenApply, FrozenApply] = {}
    if not arms:
        return instead, set()
    surroundings = _Surroundings(list(outputs), order, stops, arms, instead)
    for node in reversed(order):
        # What was drawn into a choice is looked at when that choice is.
        if node in arms and node in surroundings.needed():
            made = surroundings.drawn_into(node)
            if made is not node:
                instead[node] = made
    return instead, set(order) - surroundings.needed()


def make_lazy(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with all in its choices that only they need.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.laziness import make_lazy
    >>> c, x = ft.iscalar("c"), ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([c, x], [fz.ifelse(c, ft.exp(x), x)])
    >>> [str(node.op).split("{")[0] for node in graph.toposort()]
    ['exp', 'IfElse']
    >>> [str(node.op).split("{")[0] for node in make_lazy(graph).toposort()]
    ['IfElse']
    """
    if not any(isinstance(node.op, IfElse) for node in graph.toposort()):
        return graph
    graph = _settled(graph)
    return FrozenFunctionGraph(graph.inputs, lazily(graph.outputs))


def lazily(outputs: Sequence[Variable], blockers: Iterable[Variable] = ()) -> list[Variable]:
    """Return ``outputs`` with all in their choices that only these need, but for ``blockers``."""
    stops = list(blockers)
    instead, drawn = draw_in(outputs, stops)
    if not instead:
        return list(outputs)
    made = Successors()
    for node in _core.toposort(list(outputs), stops):
        if node in drawn:
            continue
        new = instead.get(node)
        if new is None:
            made.apply(node)
        else:
            made.put(node.outputs, new.op.make_node(*made.of(new.inputs)).outputs)
    return made.of(outputs)


def _settled(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` without the choices whose condition is a constant."""
    while True:
        order = graph.toposort()
        settled = {
            node
            for node in order
            if isinstance(node.op, IfElse) and isinstance(node.inputs[0], Constant)
        }
        if not settled:
            return graph
        made = Successors()
        for node in order:
            condition = made[node.inputs[0]] if node in settled else None
            if isinstance(condition, Constant):
                taken = 0 if condition.data else 1
                bound = node.op.expand(made.of(node.inputs[1:]))
                half = len(bound) // 2
                made.put(node.outputs, bound[taken * half : (taken + 1) * half])
            else:
                made.apply(node)
        graph = made.graph(graph)


Arms: TypeAlias = tuple[list[Variable], list[Variable]]


def _arms(node: FrozenApply) -> Arms:
    """What each branch computes, as if it were computed outside."""
    bound = node.op.expand(node.inputs[1:])
    half = len(bound) // 2
    return bound[:half], bound[half:]


@dataclass(frozen=True)
class _Surroundings:
    """A graph with choices, some of which were replaced."""

    outputs: Sequence[Variable]
    order: Sequence[FrozenApply]
    stops: frozenset[Variable]
    arms: Mapping[FrozenApply, Arms]
    instead: Mapping[FrozenApply, FrozenApply]

    def needed(self) -> set[FrozenApply]:
        """The nodes that are computed outside of choices."""
        return self._reached(self.outputs, lambda node: self.instead.get(node, node).inputs)

    def drawn_into(self, node: FrozenApply) -> FrozenApply:
        """The choice that holds what only one of its branches needs.

        What is needed by the same branches of choices with the same condition, and by nothing
        else, is in each of them.
        """
        condition = node.inputs[0]

        def besides(arm: int) -> Callable[[FrozenApply], Iterable[Variable]]:
            def operands(other: FrozenApply) -> Iterable[Variable]:
                if other in self.arms and other.inputs[0] is condition:
                    return (condition, *self.arms[other][1 - arm])
                return self.instead.get(other, other).inputs

            return operands

        known = set(self.order)
        bound = [y for arm in self.arms[node] for y in arm]
        fixed: list[Variable] = []
        regions = []
        for arm in (0, 1):
            # What both branches compute, each for itself, is nowhere else.
            outside = known & self._reached([*self.outputs, condition], besides(arm))
            own = self._reached(self.arms[node][arm], lambda one: one.inputs, outside)
            regions.append(own)
            # A buffer that is told from others stays one.
            fixed += [x for one in own if one in known and not _can_move(one) for x in one.outputs]
        # What both need is computed in any case.
        both = [one for one in regions[0] & regions[1] if one in known]
        fixed += [x for one in both for x in one.outputs]
        inside = (regions[0] | regions[1]) - self._reached(fixed, lambda one: one.inputs)
        moved = [one for one in _core.toposort(bound, list(self.stops)) if one in inside]
        met = dict.fromkeys([*(x for one in moved for x in one.inputs), *bound])
        boundary = [x for x in met if x.owner not in inside and not isinstance(x, Constant)]
        made = branch_over(condition, *self.arms[node], node.op.name, boundary)[0].owner
        return node if made is None else made

    def _reached(
        self,
        outputs: Iterable[Variable],
        operands: Callable[[FrozenApply], Iterable[Variable]],
        ends: Container[FrozenApply] = (),
    ) -> set[FrozenApply]:
        """The nodes that outputs need, by way of none of ``ends``."""
        found: set[FrozenApply] = set()
        pending = list(outputs)
        while pending:
            x = pending.pop()
            owner = x.owner
            if owner is None or x in self.stops or owner in found or owner in ends:
                continue
            found.add(owner)
            pending += operands(owner)
        return found


def _can_move(node: FrozenApply) -> bool:
    return node.distinct is None and bool(node.op.pure)
