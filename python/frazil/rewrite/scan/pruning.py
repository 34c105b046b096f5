"""Dead code and common subexpressions of scans, whose states depend on each other."""

from __future__ import annotations

from collections.abc import Collection

import frazil._core as _core
from frazil._core import TensorType, Variable
from frazil.scan.body import ScanBody, State, ancestors


def remove_dead_code(body: ScanBody, lasts: Collection[int], stacks: Collection[int]) -> list[int]:
    """Remove the states and stacks that the wanted results do not need.

    Parameters
    ----------
    lasts, stacks : collection of int
        The positions of the states whose last values, and of the stacks, that are wanted.

    Returns
    -------
    list of int
        The positions of the states that are left.
    """
    body.stacked = [y for at, y in enumerate(body.stacked) if at in stacks]
    alive = set(lasts)
    while True:
        wanted = [body.states[at].next for at in sorted(alive)]
        needed = ancestors([*wanted, *body.stacked, *body.conditions])
        more = {at for at, state in enumerate(body.states) if state.inner in needed} - alive
        if not more:
            break
        alive |= more
    kept = sorted(alive)
    body.states = [body.states[at] for at in kept]
    return kept


def merge_equal(body: ScanBody) -> list[int]:
    """Merge inner variables that are equal in every step.

    States are taken for equal if their initial values are, until a step computes different values
    of them.

    Returns
    -------
    list of int
        For each state the position of the state that it was merged into.
    """
    body.substitute(_first_of_each(body.sequences))
    body.substitute(_first_of_each(body.non_sequences))
    classes = [0] * len(body.states)
    keys: dict[object, int] = {}
    for at, state in enumerate(body.states):
        classes[at] = keys.setdefault((state.initial, state.inner.type), len(keys))
    while True:
        leaders: dict[int, State] = {}
        for at, state in enumerate(body.states):
            leaders.setdefault(classes[at], state)
        same = [
            (state.inner, leaders[classes[at]].inner)
            for at, state in enumerate(body.states)
            if state is not leaders[classes[at]]
        ]
        if not same:
            break
        nexts = _core.graph_replace(body.next_states, same)
        keys = {}
        refined = [
            keys.setdefault((own, new), len(keys)) for own, new in zip(classes, nexts, strict=True)
        ]
        if len(keys) == len(set(classes)):
            break
        classes = refined
    order: dict[int, int] = {}
    for own in classes:
        order.setdefault(own, len(order))
    firsts: dict[int, State] = {}
    for own, state in zip(classes, body.states, strict=True):
        firsts.setdefault(own, state)
    body.substitute(
        {
            state.inner: firsts[own].inner
            for own, state in zip(classes, body.states, strict=True)
            if state is not firsts[own]
        }
    )
    body.states = [firsts[own] for own in order]
    return [order[own] for own in classes]


def _first_of_each(given: dict[Variable, Variable]) -> dict[Variable, Variable]:
    """Inner variables that stand for the same outer one as an earlier one, to that; removed."""
    firsts: dict[tuple[Variable, TensorType], Variable] = {}
    replaced: dict[Variable, Variable] = {}
    for inner, outer in list(given.items()):
        first = firsts.setdefault((outer, inner.type), inner)
        if first is not inner:
            replaced[inner] = first
            del given[inner]
    return replaced
