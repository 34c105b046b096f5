"""The vector-Jacobian product of a ScalarLoop, by Jacobian-vector products in its own steps.

Another ScalarLoop computes, beside the states ``s``, the derivatives ``ds_i/dp`` by the wanted
inputs ``p``. Such a derivative starts as 1 if ``p`` is the initial value of state ``i``, else as 0;
a step replaces it by the sum of ``du_i/ds_j * ds_j/dp`` over all states ``j``, plus ``du_i/dp``.
Derivatives that stay 0 are left out, and so are derivatives that no wanted result depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from operator import add
from typing import TypeAlias
from weakref import WeakKeyDictionary

from frazil._core import Container, Variable
from frazil.gradient.elementwise import GraphRule, Seeds, Wanted, graph_rule
from frazil.gradient.kinds import is_continuous, is_zero
from frazil.gradient.reverse import pull_back
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Gradients, Variables
from frazil.scalar.constants import as_tensor, constant
from frazil.scalar.loop import ScalarLoop
from frazil.tensor.broadcasting import broadcast_length, unbroadcast

Wish: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The results whose derivatives are wanted, and the inputs by which."""


@dataclass(frozen=True)
class LoopWithDerivatives:
    """A ScalarLoop whose last states are derivatives.

    ``carried`` has for each of them the state and the input of its graph, by their positions.
    """

    loop: ScalarLoop
    carried: tuple[tuple[int, int], ...]


@graph_rule.register
def _(op: ScalarLoop) -> GraphRule:
    return partial(pull_through_loop, op)


def pull_through_loop(
    op: ScalarLoop, inputs: Variables, outputs: Variables, output_gradients: Seeds, wanted: Wanted
) -> Gradients:
    """Return the gradients of the wanted inputs, given those of the outputs; None: none."""
    n_states, ndim, ones = op.n_states, outputs[0].ndim, outputs[0].broadcastable
    seeds = {
        at: g
        for at, (y, g) in enumerate(zip(outputs, output_gradients, strict=True))
        if g is not None and is_continuous(y) and not is_zero(g)
    }
    operands = inputs[1:]
    targets = [
        at
        for at, (x, nominal) in enumerate(zip(operands, op.fgraph.inputs, strict=True))
        if wanted[1 + at] and is_continuous(x) and is_continuous(nominal)
    ]
    gradients: list[Variable | None] = [None] * len(inputs)
    forward = with_derivatives(op, seeds, targets)
    if forward is None:
        return gradients
    initial = [
        constant(1 if state == target else 0, op.states[state].dtype)
        for state, target in forward.carried
    ]
    results = forward.loop.make_node(
        inputs[0], *operands[:n_states], *initial, *operands[n_states:]
    ).outputs
    totals: dict[int, Variable] = {}
    for (state, target), derivative in zip(forward.carried, results[n_states:], strict=False):
        if state in seeds:
            term = seeds[state] * derivative
            totals[target] = totals[target] + term if target in totals else term
    for target, total in totals.items():
        x = operands[target]
        gradients[1 + target] = unbroadcast(
            as_tensor(total, x.dtype), x, ones, lambda axis: broadcast_length(inputs, axis - ndim)
        )
    return gradients


def with_derivatives(
    op: ScalarLoop, results: Iterable[int], targets: Sequence[int]
) -> LoopWithDerivatives | None:
    """Return the ScalarLoop with derivatives of states ``results`` by inputs ``targets``.

    None if all of them are zero. It is made once for each op.
    """
    known = _made.setdefault(op, {})
    key = tuple(sorted(results)), tuple(targets)
    if key not in known:
        with Container.default():
            known[key] = _make(op, *key)
    return known[key]


# Kept as long as the op is alive.
_made: WeakKeyDictionary[ScalarLoop, dict[Wish, LoopWithDerivatives | None]] = WeakKeyDictionary()


def _make(
    op: ScalarLoop, results: tuple[int, ...], targets: tuple[int, ...]
) -> LoopWithDerivatives | None:
    n_states = op.n_states
    inputs: list[Variable] = [x.type() for x in op.fgraph.inputs]
    outputs = op.fgraph.bind(inputs)
    slopes = _slopes(inputs, outputs[:n_states])
    needed = _closure(results, lambda state: [j for j in slopes[state] if j < n_states])
    users: dict[int, list[int]] = {}
    for state, by in slopes.items():
        for j in by:
            users.setdefault(j, []).append(state)
    carried: list[tuple[int, int]] = []
    for target in targets:
        first = [target] if target < n_states else users.get(target, [])
        reached = _closure(first, lambda state: users.get(state, []))
        carried += [(state, target) for state in sorted(reached & needed)]
    if not any(state in results for state, _ in carried):
        return None
    derivatives = {(state, target): inputs[state].type() for state, target in carried}
    updates: list[Variable] = []
    for state, target in carried:
        terms = [
            slope * derivatives[j, target]
            for j, slope in slopes[state].items()
            if (j, target) in derivatives
        ]
        if target >= n_states and target in slopes[state]:
            terms.append(slopes[state][target])
        total = reduce(add, terms) if terms else 0
        updates.append(as_tensor(total, inputs[state].dtype))
    loop = ScalarLoop(
        [*inputs[:n_states], *derivatives.values()],
        [*outputs[:n_states], *updates],
        inputs[n_states:],
        outputs[n_states] if op.is_while else None,
        None if op.name is None else f"derivatives of {op.name}",
    )
    return LoopWithDerivatives(loop, tuple(carried))


def _slopes(
    inputs: Sequence[Variable], updates: Sequence[Variable]
) -> dict[int, dict[int, Variable]]:
    """For every state, the derivatives of its update by inputs, where they are not zero."""
    continuous = [at for at, x in enumerate(inputs) if is_continuous(x)]
    slopes: dict[int, dict[int, Variable]] = {}
    for state, update in enumerate(updates):
        slopes[state] = {}
        if not continuous or not is_continuous(update):
            continue
        found = pull_back(
            {update: constant(1, update.dtype)},
            [inputs[at] for at in continuous],
            disconnected_inputs="ignore",
        )
        slopes[state] = {
            at: slope for at, slope in zip(continuous, found, strict=True) if slope is not None
        }
    return slopes


def _closure(first: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    """``first``, the states ``following`` these, and so on."""
    reached: set[int] = set()
    pending = list(first)
    while pending:
        state = pending.pop()
        if state not in reached:
            reached.add(state)
            pending += following(state)
    return reached
