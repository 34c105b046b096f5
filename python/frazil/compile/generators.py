"""Generators of random numbers move on by themselves, so that no two calls draw the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, SharedVariable, Variable
from frazil.inner.inner_graph import HasInnerGraph
from frazil.random.draw import Drawing


def states_left(
    wanted: Sequence[Variable], roots: Sequence[Variable], updated: Collection[SharedVariable]
) -> list[tuple[SharedVariable, Variable]]:
    """Return the generators that ``wanted`` draws from, each with the state after its last draw.

    Those in ``updated`` are left out.

    Raises
    ------
    ValueError
        If two draws start from one state, or draws in an inner graph do.
    """
    generators = [
        x
        for x in roots
        if isinstance(x, SharedVariable)
        and x.dtype == "uint64"
        and x.ndim == 1
        and x not in updated
    ]
    if not generators:
        return []
    origin: dict[Variable, SharedVariable] = {x: x for x in generators}
    last: dict[SharedVariable, Variable] = {}
    for node in _core.toposort(wanted):
        if isinstance(node.op, Drawing) and node.inputs[0] in origin:
            state = node.inputs[0]
            generator = origin[state]
            if state is not last.get(generator, generator):
                raise ValueError(_twice(node, generator))
            last[generator] = node.outputs[0]
            origin[node.outputs[0]] = generator
        elif isinstance(node.op, HasInnerGraph) and _draws(node.op.fgraph):
            given = next((x for x in node.inputs if x in origin), None)
            if given is not None:
                raise ValueError(_inside(node, origin[given]))
    return list(last.items())


def _draws(graph: FrozenFunctionGraph) -> bool:
    """Whether a graph, or one that its ops hold, has a draw."""
    graphs, seen = [graph], {graph}
    while graphs:
        for node in graphs.pop().toposort():
            if isinstance(node.op, Drawing):
                return True
            if isinstance(node.op, HasInnerGraph) and node.op.fgraph not in seen:
                seen.add(node.op.fgraph)
                graphs.append(node.op.fgraph)
    return False


def _twice(node: FrozenApply, generator: SharedVariable) -> str:
    return (
        f"{node.op} draws from a state of {generator} from which another draw starts, so both "
        "would give the same numbers. Draw from the state that the other one returned, as in "
        "next_rng, x = random.normal(rng); next_rng, y = random.normal(next_rng). If the same "
        f"numbers are meant, say with updates={{{generator}: ...}} what {generator} becomes"
    )


def _inside(node: FrozenApply, generator: SharedVariable) -> str:
    return (
        f"{node.op} draws in its inner graph, from a state that comes from {generator}. Say with "
        f"updates={{{generator}: ...}} what {generator} becomes: the state that the inner "
        "graph returns after its last draw. In a scan, that state is a state of the loop: "
        "give it in outputs_info, and return the state after each step's draws"
    )
