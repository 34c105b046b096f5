"""What only one branch of a choice needs: computed in the branch, so only if it is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.inner.ifelse import IfElse, branch_over
from frazil.inner.successors import Successors


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
    if not arms:
        return {}, set()
    surroundings = _Surroundings(outputs, order, stops, arms)
    for node in reversed(order):
        # What was drawn into a choice is looked at when that choice is.
        if node in arms and surroundings.needs(node):
            surroundings.draw_into(node)
    return surroundings.instead, {node for node in order if not surroundings.needs(node)}


def make_lazy(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with all in its choices that only they need.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.inner.sinking import make_lazy
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
    """``graph`` without the choices whose condition is a constant.

    A choice stays that is all which needs something impure: that runs, whoever reads it.
    """
    while True:
        order = graph.toposort()
        impure = _impure_sources(order)
        settled = {
            node
            for node in order
            if isinstance(node.op, IfElse)
            and isinstance(node.inputs[0], Constant)
            and _sources(node.inputs, impure) == _sources(_taken(node), impure)
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


Sources: TypeAlias = Mapping[Variable, frozenset[FrozenApply]]
"""For variables the impure nodes that they follow from; those that follow from none are not in it.
"""


def _impure_sources(order: Sequence[FrozenApply]) -> Sources:
    found: dict[Variable, frozenset[FrozenApply]] = {}
    for node in order:
        own = _sources(node.inputs, found) | (frozenset() if node.op.pure else {node})
        if own:
            found.update(dict.fromkeys(node.outputs, own))
    return found


def _sources(variables: Iterable[Variable], impure: Sources) -> frozenset[FrozenApply]:
    return frozenset().union(*(impure[x] for x in variables if x in impure))


def _taken(node: FrozenApply) -> list[Variable]:
    """The operands that the branch of a choice needs whose condition is a constant."""
    condition = node.inputs[0]
    assert isinstance(condition, Constant)
    taken = node.op.arms[0 if condition.data else 1]
    needed = {x for one in taken.toposort() for x in one.inputs} | {*taken.outputs}
    inner = zip(taken.inputs, node.inputs[1:], strict=True)
    return [outer for x, outer in inner if x in needed]


Arms: TypeAlias = tuple[list[Variable], list[Variable]]


def _arms(node: FrozenApply) -> Arms:
    """What each branch computes, as if it were computed outside."""
    bound = node.op.expand(node.inputs[1:])
    half = len(bound) // 2
    return bound[:half], bound[half:]


Uses: TypeAlias = Counter[FrozenApply]
"""By how many nodes each node is used."""


class _Surroundings:
    """A graph with choices, some of which were replaced, and who in it uses whom.

    The work for a choice grows with what is drawn into it, not with the graph around it.
    """

    def __init__(
        self,
        outputs: Sequence[Variable],
        order: Sequence[FrozenApply],
        stops: frozenset[Variable],
        arms: Mapping[FrozenApply, Arms],
    ) -> None:
        self.instead: dict[FrozenApply, FrozenApply] = {}
        self._stops = stops
        self._arms = arms
        self._known = frozenset(order)
        self._uses: Uses = Counter(self._owners(outputs))
        for node in order:
            self._uses.update(self._owners(node.inputs))
        self._alike: dict[Variable, list[FrozenApply]] = {}
        for node in arms:
            self._alike.setdefault(node.inputs[0], []).append(node)
        self._shared: dict[FrozenApply, set[Variable]] = {}
        self._reads: dict[tuple[FrozenApply, int], frozenset[FrozenApply]] = {}
        self._private: dict[Variable, tuple[set[FrozenApply], set[FrozenApply]]] = {}

    def needs(self, node: FrozenApply) -> bool:
        """Whether a node is computed outside of choices."""
        return self._uses[node] > 0

    def draw_into(self, node: FrozenApply) -> None:
        """Replace a choice by one that holds what only one of its branches needs.

        What is needed by the same branches of choices with the same condition, and by nothing
        else, is in each of them.
        """
        condition = node.inputs[0]
        private = self._private.get(condition)
        if private is None:
            private = self._private[condition] = self._private_to(condition)
        arms = self._arms[node]
        regions = [
            self._reached(arm, partial(self._is_in, own))
            for arm, own in zip(arms, private, strict=True)
        ]
        either = regions[0] | regions[1]
        # What both need is computed in any case, and what that is computed from.
        fixed = [one for one in regions[0] if one in regions[1] and one in self._known]
        # In several branches, or in that of a gradient, what is not pure would give other things.
        fixed += [one for one in either if one in self._known and not one.op.pure]
        pinned = self._reached([x for one in fixed for x in one.outputs], lambda one: one in either)
        inside = either - pinned
        bound = [y for arm in arms for y in arm]
        read = (x for x in (*(x for one in inside for x in one.inputs), *bound))
        ends = {x for x in read if x.owner not in inside and not isinstance(x, Constant)}
        moved = _core.toposort(bound, list(ends))
        met = dict.fromkeys([*(x for one in moved for x in one.inputs), *bound])
        boundary = [x for x in met if x in ends]
        made = branch_over(condition, *arms, node.op.name, boundary)[0].owner
        if made is not None and made is not node:
            self._replace(node, made)

    def _is_in(self, own: set[FrozenApply], one: FrozenApply) -> bool:
        """Whether a node is in a branch that may have ``own``: one of these, or only there."""
        return one in own or one not in self._known

    def _replace(self, node: FrozenApply, made: FrozenApply) -> None:
        self._uses.update(self._owners(made.inputs))
        self.instead[node] = made
        gone = [node.inputs]
        while gone:
            for owner in self._owners(gone.pop()):
                self._uses[owner] -= 1
                if not self._uses[owner]:
                    gone.append(self.instead.get(owner, owner).inputs)
                # It may have become private to choices with another condition.
                for condition in self._shared.get(owner, ()):
                    if condition is not node.inputs[0]:
                        self._private.pop(condition, None)

    def _private_to(self, condition: Variable) -> tuple[set[FrozenApply], set[FrozenApply]]:
        """For either branch of choices with a condition the nodes that nothing else needs."""
        alike = [
            node for node in self._alike[condition] if self.needs(node) and node not in self.instead
        ]
        read = {node: list(self._owners(node.inputs)) for node in alike}
        of_condition = set(self._owners([condition]))
        private: list[set[FrozenApply]] = []
        for arm in (0, 1):
            # What choices need besides this branch, some of it (equal nodes) by no operand.
            besides = {node: of_condition | self._read_by(node, 1 - arm) for node in alike}
            hidden = Counter(one for node in alike for one in besides[node].difference(read[node]))
            met = Counter(one for node in alike for one in read[node] if one not in besides[node])
            own: set[FrozenApply] = set()
            pending = [one for one, count in met.items() if count == self._uses[one] + hidden[one]]
            while pending:
                one = pending.pop()
                own.add(one)
                if one in besides:
                    more = [x for x in read[one] if x in besides[one]]
                    more += besides[one].difference(read[one])
                else:
                    more = list(self._owners(self.instead.get(one, one).inputs))
                for owner in more:
                    met[owner] += 1
                    if met[owner] == self._uses[owner] + hidden[owner]:
                        pending.append(owner)
            private.append(own)
            for one in met:
                if one not in own:
                    self._shared.setdefault(one, set()).add(condition)
        return private[0], private[1]

    def _read_by(self, node: FrozenApply, arm: int) -> frozenset[FrozenApply]:
        """The nodes of the graph that a branch reads, by way of nodes of its own."""
        found = self._reads.get((node, arm))
        if found is None:
            met = self._reached(
                self._arms[node][arm], lambda one: one not in self._known, ends=True
            )
            found = self._reads[node, arm] = frozenset(one for one in met if one in self._known)
        return found

    def _owners(self, variables: Iterable[Variable]) -> Iterator[FrozenApply]:
        """The nodes that variables are results of, once for each that is read."""
        for x in dict.fromkeys(variables):
            if x.owner is not None and x not in self._stops:
                yield x.owner

    def _reached(
        self,
        outputs: Iterable[Variable],
        within: Callable[[FrozenApply], bool],
        *,
        ends: bool = False,
    ) -> set[FrozenApply]:
        """The nodes that outputs need by way of such as are ``within``; with ``ends`` those, too,
        where that comes to an end.
        """
        found: set[FrozenApply] = set()
        pending = list(outputs)
        while pending:
            x = pending.pop()
            owner = x.owner
            if owner is None or x in self._stops or owner in found:
                continue
            goes_on = within(owner)
            if goes_on or ends:
                found.add(owner)
            if goes_on:
                pending += owner.inputs
        return found
