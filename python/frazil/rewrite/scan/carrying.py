"""Values that a step computes from its new states, and the next step again from the same states."""

from __future__ import annotations

import frazil._core as _core
from frazil._core import Constant, FrozenApply, Variable
from frazil.inner.successors import Successors
from frazil.scan.body import ScanBody, State, ancestors, frontier
from frazil.scan.costs import is_cheap


def carry_results(body: ScanBody) -> None:
    """Carry expensive results to the next step where that would compute them again.

    A leapfrog step ends with the force at its new place, and the next one starts with that. Where
    ``f(s)`` and ``f(s')`` are both in a step from ``s`` to ``s'``, the first becomes a state whose
    next value is the second, and which starts from ``f`` of the initial states.
    """
    candidates = _of_states_alone(body)
    if all(map(is_cheap, candidates)):
        return
    steps = [(state.inner, state.next) for state in body.states]
    results = [node.outputs[0] for node in candidates]
    following = dict(zip(results, _core.graph_replace(results, steps), strict=True))
    present = ancestors(body.outputs)
    again = {x for x, later in following.items() if later in present and later is not x}
    dear = _expensive(candidates, again)
    taken = [x for x in frontier(body.outputs, again) if x in dear]
    if not taken:
        return
    outer = Successors(body.non_sequences)
    outer.put([state.inner for state in body.states], [state.initial for state in body.states])
    needed = ancestors(taken)
    for node in candidates:
        if node.outputs[0] in needed:
            outer.apply(node)
    carried = {x: x.type(None) for x in taken}
    body.states += [State(inner, outer[x], following[x]) for x, inner in carried.items()]
    body.substitute(carried)


def _of_states_alone(body: ScanBody) -> list[FrozenApply]:
    """The nodes that need nothing of a step but states and non-sequences, in order."""
    given = {state.inner for state in body.states} | set(body.non_sequences)
    found: list[FrozenApply] = []
    for node in _core.toposort(body.outputs):
        needs = (x for x in node.inputs if not isinstance(x, Constant))
        if len(node.outputs) == 1 and node.op.pure and all(x in given for x in needs):
            found.append(node)
            given.add(node.outputs[0])
    return found


def _expensive(nodes: list[FrozenApply], within: set[Variable]) -> set[Variable]:
    """The results that need an expensive node among those of ``within``."""
    found: set[Variable] = set()
    for node in nodes:
        y = node.outputs[0]
        if y in within and (not is_cheap(node) or any(x in found for x in node.inputs)):
            found.add(y)
    return found
