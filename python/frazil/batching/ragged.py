"""Parts of a graph whose lengths differ from one element of a batch to another.

The number of positions that a mask selects depends on its values, so no batch can hold the
positions of several masks. The same holds for the rows that a scan stacks until a condition holds.
All nodes from there to the next results of one shape run together, for one element after the other,
in one scan.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from frazil._core import FrozenApply, Variable
from frazil.batching.early_ends import ends_differ
from frazil.random.draw import Drawing
from frazil.tensor.repetition import RepeatedPositions
from frazil.tensor.searching import Nonzero
from frazil.tensor.shapes import Shapes


def ragged_part(order: Sequence[FrozenApply], batches: Collection[Variable]) -> list[FrozenApply]:
    """Return the nodes, in order, whose results differ in shape, and the nodes that read these.

    Nothing outside of them lies between two of them. There are none where the part has draws, which
    have rules of their own for the states that elements leave.

    Parameters
    ----------
    order : sequence of FrozenApply
        All nodes, in an order in which they run.
    batches : collection of Variable
        The variables that differ between elements of the batch, before any node.
    """
    differ = set(batches)
    for node in order:
        if any(x in differ for x in node.inputs):
            differ.update(node.outputs)
    sources = {
        y
        for node in order
        if isinstance(node.op, Nonzero | RepeatedPositions) and differ.issuperset(node.outputs)
        for y in node.outputs
    }
    sources |= {
        y for node in order if ends_differ(node, differ) for y in node.outputs[node.op.n_states :]
    }
    if not sources:
        return []
    shapes = Shapes(order)
    ragged = {y for node in order for y in node.outputs if not sources.isdisjoint(shapes.leaves(y))}
    core = [node for node in order if any(x in ragged for x in (*node.inputs, *node.outputs))]
    part = _with_what_lies_between(order, core)
    return [] if any(isinstance(node.op, Drawing) for node in part) else part


def _with_what_lies_between(
    order: Sequence[FrozenApply], core: Sequence[FrozenApply]
) -> list[FrozenApply]:
    below = {y for node in core for y in node.outputs}
    for node in order:
        if any(x in below for x in node.inputs):
            below.update(node.outputs)
    above = {x for node in core for x in node.inputs}
    for node in reversed(order):
        if any(y in above for y in node.outputs):
            above.update(node.inputs)
    own = set(core)
    return [
        node
        for node in order
        if node in own
        or (any(y in above for y in node.outputs) and any(x in below for x in node.inputs))
    ]


def ends_of(
    part: Sequence[FrozenApply], order: Sequence[FrozenApply], outputs: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Return the variables that a part of a graph reads of the rest, and the rest of the part."""
    made = {y: None for node in part for y in node.outputs}
    own = set(part)
    read = {x: None for node in part for x in node.inputs if x not in made}
    outside = {x for node in order if node not in own for x in node.inputs} | set(outputs)
    return list(read), [y for y in made if y in outside]


def others(
    part: Sequence[FrozenApply], order: Sequence[FrozenApply]
) -> tuple[list[FrozenApply], list[FrozenApply]]:
    """Return the other nodes: first those that read nothing of the part, then the rest."""
    own, below = set(part), {y for node in part for y in node.outputs}
    first: list[FrozenApply] = []
    last: list[FrozenApply] = []
    for node in order:
        if node in own:
            continue
        reads = any(x in below for x in node.inputs)
        if reads:
            below.update(node.outputs)
        (last if reads else first).append(node)
    return first, last
