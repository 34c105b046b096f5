"""Code sinking: a node that only one branch of an IfElse needs moves into that branch.

The other branch then runs without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.inner.ifelse import IfElse, branch_over
from frazil.inner.ops import ops_of
from frazil.inner.successors import Successors


def plan_sinking(
    outputs: Sequence[Variable], blockers: Iterable[Variable] = ()
) -> list[tuple[FrozenApply, FrozenApply]]:
    """Return the nodes that something outside of branches needs, each with its new form.

    The new form of an IfElse holds more; other nodes stay what they are. The inputs of a new form
    are outputs of nodes, not of new forms. They may be outputs that the node did not depend on: if
    a branch computed for itself what is computed outside, too, then the new form takes it from
    there. The order is that of the new forms: each comes after those that compute its inputs.

    Parameters
    ----------
    outputs : sequence of Variable
        Variables that are computed in any case.
    blockers : iterable of Variable
        The search stops at these: their own inputs do not count.
    """
    stops = frozenset(blockers)
    order = _core.toposort(list(outputs), list(stops))
    branches = {node: _branches(node) for node in order if isinstance(node.op, IfElse)}
    if not branches:
        return [(node, node) for node in order]
    sinking = _Sinking(outputs, order, stops, branches)
    for node in reversed(order):
        # An IfElse that sank into another one has its turn when that one is rewritten.
        if node in branches and sinking.needs(node):
            sinking.sink_into(node)
    return sinking.forms(order)


def sink_into_branches(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """Return ``graph`` with each node in the branch that alone needs it.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.inner.sinking import sink_into_branches
    >>> c, x = ft.iscalar("c"), ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([c, x], [fz.ifelse(c, ft.exp(x), x)])
    >>> [str(node.op).split("{")[0] for node in graph.toposort()]
    ['exp', 'IfElse']
    >>> [str(node.op).split("{")[0] for node in sink_into_branches(graph).toposort()]
    ['IfElse']
    """
    if not any(isinstance(op, IfElse) for op in ops_of(graph)):
        return graph
    graph = _without_constant_conditions(graph)
    return FrozenFunctionGraph(graph.inputs, sink_outputs(graph.outputs))


def sink_outputs(outputs: Sequence[Variable], blockers: Iterable[Variable] = ()) -> list[Variable]:
    """Return ``outputs`` with each node in the branch that alone needs it, but for ``blockers``."""
    stops = list(blockers)
    forms = plan_sinking(outputs, stops)
    if all(form is node for node, form in forms):
        return list(outputs)
    made = Successors()
    for node, form in forms:
        if form is node:
            made.apply(node)
        else:
            made.put(node.outputs, form.op.make_node(*made.of(form.inputs)).outputs)
    return made.of(outputs)


def _without_constant_conditions(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with the taken branch in place of each IfElse whose condition is a constant.

    An IfElse stays if its other branch reads the result of an impure node: that node runs even if
    nobody reads it.
    """
    while True:
        order = graph.toposort()
        impure = _impure_sources(order)
        constant = {
            node
            for node in order
            if isinstance(node.op, IfElse)
            and isinstance(node.inputs[0], Constant)
            and _sources(node.inputs, impure) == _sources(_taken(node), impure)
        }
        if not constant:
            return graph
        made = Successors()
        for node in order:
            condition = made[node.inputs[0]] if node in constant else None
            if isinstance(condition, Constant):
                taken = 0 if condition.data else 1
                bound = node.op.expand(made.of(node.inputs[1:]))
                half = len(bound) // 2
                made.put(node.outputs, bound[taken * half : (taken + 1) * half])
            else:
                made.apply(node)
        graph = made.graph(graph)


Sources: TypeAlias = Mapping[Variable, frozenset[FrozenApply]]
"""The impure nodes that a variable depends on; a variable without such nodes is no key."""


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
    """The operands of the taken branch of an IfElse whose condition is a constant."""
    condition = node.inputs[0]
    assert isinstance(condition, Constant)
    taken = node.op.branch_graphs[0 if condition.data else 1]
    needed = {x for one in taken.toposort() for x in one.inputs} | {*taken.outputs}
    inner = zip(taken.inputs, node.inputs[1:], strict=True)
    return [outer for x, outer in inner if x in needed]


Branches: TypeAlias = tuple[list[Variable], list[Variable]]


def _branches(node: FrozenApply) -> Branches:
    """The outputs of both branches, computed outside of the IfElse."""
    bound = node.op.expand(node.inputs[1:])
    half = len(bound) // 2
    return bound[:half], bound[half:]


Uses: TypeAlias = Counter[FrozenApply]
"""The number of nodes that use each node."""


class _Sinking:
    """Who uses whom in a graph, while nodes sink into its IfElse nodes.

    The work for one IfElse grows with the nodes that sink into it, not with the whole graph.
    """

    def __init__(
        self,
        outputs: Sequence[Variable],
        order: Sequence[FrozenApply],
        stops: frozenset[Variable],
        branches: Mapping[FrozenApply, Branches],
    ) -> None:
        self.replaced: dict[FrozenApply, FrozenApply] = {}
        self._stops = stops
        self._branches = branches
        self._known = frozenset(order)
        self._uses: Uses = Counter(self._owners(outputs))
        for node in order:
            self._uses.update(self._owners(node.inputs))
        self._by_condition: dict[Variable, list[FrozenApply]] = {}
        for node in branches:
            self._by_condition.setdefault(node.inputs[0], []).append(node)
        self._shared: dict[FrozenApply, set[Variable]] = {}
        self._reads: dict[tuple[FrozenApply, int], frozenset[FrozenApply]] = {}
        self._private: dict[Variable, tuple[set[FrozenApply], set[FrozenApply]]] = {}

    def needs(self, node: FrozenApply) -> bool:
        """Whether a node is computed outside of branches."""
        return self._uses[node] > 0

    def forms(self, order: Iterable[FrozenApply]) -> list[tuple[FrozenApply, FrozenApply]]:
        """The nodes that are needed, with their new forms, each after those that it reads."""
        made: dict[FrozenApply, FrozenApply] = {}
        pending = [node for node in order if self.needs(node)][::-1]
        while pending:
            node = pending[-1]
            form = self.replaced.get(node, node)
            missing = [one for one in self._owners(form.inputs) if one not in made]
            if missing:
                pending += missing
                continue
            made[node] = form
            pending.pop()
        return list(made.items())

    def sink_into(self, node: FrozenApply) -> None:
        """Replace an IfElse by one that holds the nodes that only one of its branches needs.

        If only the same branches of several IfElse nodes with one condition need a node, each of
        these branches gets it.
        """
        condition = node.inputs[0]
        private = self._private.get(condition)
        if private is None:
            private = self._private[condition] = self._private_to(condition)
        branches = self._branches[node]
        regions = [
            self._reached(outputs, partial(self._may_sink, own))
            for outputs, own in zip(branches, private, strict=True)
        ]
        either = regions[0] | regions[1]
        # Nodes that both branches need are computed in any case, and so are their inputs.
        fixed = [one for one in regions[0] if one in regions[1] and one in self._known]
        # An impure node stays: in several branches, or in that of a gradient, it would run again.
        fixed += [one for one in either if one in self._known and not one.op.pure]
        pinned = self._reached([x for one in fixed for x in one.outputs], lambda one: one in either)
        inside = either - pinned
        bound = [y for outputs in branches for y in outputs]
        read = (x for x in (*(x for one in inside for x in one.inputs), *bound))
        ends = {x for x in read if x.owner not in inside and not isinstance(x, Constant)}
        moved = _core.toposort(bound, list(ends))
        met = dict.fromkeys([*(x for one in moved for x in one.inputs), *bound])
        boundary = [x for x in met if x in ends]
        made = branch_over(condition, *branches, node.op.name, boundary)[0].owner
        if made is not None and made is not node:
            self._replace(node, made)

    def _may_sink(self, own: set[FrozenApply], one: FrozenApply) -> bool:
        """Whether a node may be in a branch: it is in ``own``, or not outside of branches."""
        return one in own or one not in self._known

    def _replace(self, node: FrozenApply, made: FrozenApply) -> None:
        self._uses.update(self._owners(made.inputs))
        self.replaced[node] = made
        gone = [node.inputs]
        while gone:
            for owner in self._owners(gone.pop()):
                self._uses[owner] -= 1
                if not self._uses[owner]:
                    gone.append(self.replaced.get(owner, owner).inputs)
                # Now perhaps only branches of another condition use it.
                for condition in self._shared.get(owner, ()):
                    if condition is not node.inputs[0]:
                        self._private.pop(condition, None)

    def _private_to(self, condition: Variable) -> tuple[set[FrozenApply], set[FrozenApply]]:
        """For either branch of a condition the nodes that nothing else needs."""
        alike = [
            node
            for node in self._by_condition[condition]
            if self.needs(node) and node not in self.replaced
        ]
        read = {node: list(self._owners(node.inputs)) for node in alike}
        of_condition = set(self._owners([condition]))
        private: list[set[FrozenApply]] = []
        for branch in (0, 1):
            # Nodes needed besides this branch; equal nodes may be among them without an operand.
            besides = {node: of_condition | self._read_by(node, 1 - branch) for node in alike}
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
                    more = list(self._owners(self.replaced.get(one, one).inputs))
                for owner in more:
                    met[owner] += 1
                    if met[owner] == self._uses[owner] + hidden[owner]:
                        pending.append(owner)
            private.append(own)
            for one in met:
                if one not in own:
                    self._shared.setdefault(one, set()).add(condition)
        return private[0], private[1]

    def _read_by(self, node: FrozenApply, branch: int) -> frozenset[FrozenApply]:
        """The nodes of the graph that a branch reads, directly or through its own nodes."""
        found = self._reads.get((node, branch))
        if found is None:
            met = self._reached(
                self._branches[node][branch], lambda one: one not in self._known, ends=True
            )
            found = self._reads[node, branch] = frozenset(one for one in met if one in self._known)
        return found

    def _owners(self, variables: Iterable[Variable]) -> Iterator[FrozenApply]:
        """The nodes that compute ``variables``, once for each variable."""
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
        """The nodes reached from outputs through nodes for which ``within`` holds.

        ``ends``: include the first node on each path for which it does not.
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
