"""Generators of random numbers move on by themselves, so that no two calls draw the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, SharedVariable, Variable
from frazil.inner.inner_graph import HasInnerGraph
from frazil.inner.op_from_graph import OpFromGraph
from frazil.random.draw import Drawing
from frazil.scan.op import Scan


def states_left(
    wanted: Sequence[Variable], roots: Sequence[Variable], updated: Collection[SharedVariable]
) -> list[tuple[SharedVariable, Variable]]:
    """Return the generators that ``wanted`` draws from, each with the state after its last draw.

    Those in ``updated`` are left out.

    Raises
    ------
    ValueError
        If two draws start from one state. Draws in an inner graph count as such, unless it is the
        step of a scan or the graph of an OpFromGraph, each of its draws starts from the state that
        the one before left, and it returns the last state.
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
        draw = _draw_of(node)
        if draw is not None and draw[0] in origin:
            state, after = draw
            generator = origin[state]
            if state is not last.get(generator, generator):
                raise ValueError(_twice(node, generator))
            last[generator] = after
            origin[after] = generator
        elif isinstance(node.op, HasInnerGraph) and _draws(node.op.fgraph):
            given = next((x for x in node.inputs if x in origin), None)
            if given is not None:
                raise ValueError(_inside(node, origin[given]))
    return list(last.items())


def _draw_of(node: FrozenApply) -> tuple[Variable, Variable] | None:
    """Return the state from which a node draws and the one that it leaves, if it has just one.

    A scan has one if all draws of its steps go on from one state of a generator. An OpFromGraph has
    one if its draws go on from one argument, and it returns the state after the last draw.
    """
    if isinstance(node.op, Drawing):
        return node.inputs[0], node.outputs[0]
    if not isinstance(node.op, Scan | OpFromGraph):
        return None
    op, graph = node.op, node.op.fgraph
    chain = _chain(graph)
    if chain is None:
        return None
    first, last = chain
    if isinstance(op, Scan):
        states = graph.inputs[op.n_sequences : op.n_sequences + op.n_states]
        if first not in states or graph.outputs[states.index(first)] is not last:
            return None
        at = states.index(first)
        given, left = node.inputs[1 + op.n_sequences + at], node.outputs[at]
    else:
        if first not in graph.inputs or last not in graph.outputs:
            return None
        given = node.inputs[graph.inputs.index(first)]
        left = node.outputs[graph.outputs.index(last)]
    return None if node.inputs.count(given) > 1 else (given, left)


def _chain(graph: FrozenFunctionGraph) -> tuple[Variable, Variable] | None:
    """Return the first state and the last one of a graph whose draws go on from each other."""
    first = last = None
    for inner in graph.toposort():
        if not _may_draw(inner):
            continue
        draw = _draw_of(inner)
        if draw is None or (last is not None and last is not draw[0]):
            return None
        first, last = draw[0] if first is None else first, draw[1]
    return None if first is None or last is None else (first, last)


def _may_draw(node: FrozenApply) -> bool:
    return isinstance(node.op, Drawing) or (
        isinstance(node.op, HasInnerGraph) and _draws(node.op.fgraph)
    )


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
        "graph returns after its last draw. In a scan, make that state a state of the scan: "
        "give it in outputs_info, and return the state after each step's draws. An OpFromGraph "
        "that takes the state and returns the one after its last draw needs no updates"
    )
