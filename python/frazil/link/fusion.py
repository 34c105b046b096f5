"""Fusion: which nodes share a loop, and in which order loops and other nodes run.

Elementwise nodes and reductions over one space (the lengths that are not 1) can share a loop. A
node's *level* is one more than that of whatever it needs from memory, so nodes of one space and
level never wait for one another through something outside their loop, and the order of levels runs
everything after what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from frazil._core import FrozenApply, Variable
from frazil.elemwise import Elemwise
from frazil.link.operands import length_operands, value_operands
from frazil.link.shapes import Shapes, leaves
from frazil.link.views import REPEATED, Axes, Views
from frazil.tensor.lengths import Lengths
from frazil.tensor.reductions import Reduce


@dataclass(frozen=True)
class Loop:
    """Nodes that run as one loop, operands before users, all over one space."""

    nodes: tuple[FrozenApply, ...]

    @property
    def pattern(self) -> Variable:
        return pattern(self.nodes[0])

    @cached_property
    def made(self) -> frozenset[Variable]:
        """The variables whose elements the loop makes as it goes; a reduction's come at its end."""
        return frozenset(node.outputs[0] for node in self.nodes if isinstance(node.op, Elemwise))

    def makes(self, operand: Variable, views: Views) -> Variable | None:
        """The variable made in this loop whose element here ``operand`` is, if there is one."""
        base, axes = views.look_through(operand)
        return base if base in self.made and _moves_along(axes, self.pattern) else None


Step: TypeAlias = Loop | FrozenApply


def pattern(node: FrozenApply) -> Variable:
    """The variable over whose elements a fusible node loops."""
    return node.inputs[0] if isinstance(node.op, Reduce) else node.outputs[0]


def fuse(
    order: Sequence[FrozenApply],
    outputs: Sequence[Variable],
    shapes: Shapes,
    views: Views,
    fusible: Callable[[FrozenApply], bool],
    limit: int,
    before: Mapping[FrozenApply, Sequence[FrozenApply]] = MappingProxyType({}),
) -> list[Step]:
    """The steps that compute ``outputs``: loops of at most ``limit`` nodes, and other nodes.

    ``before`` gives for nodes that no loop takes the nodes that must have run before them. Nodes
    whose values nothing needs (only their shapes, perhaps) are left out.
    """
    stored: dict[Variable, int] = {}  # the level from which on a variable is in memory
    level: dict[FrozenApply, int] = {}
    other_level: dict[FrozenApply, int] = {}
    space: dict[FrozenApply, Lengths] = {}
    loops: dict[int, dict[Lengths, list[FrozenApply]]] = {}
    others: dict[int, list[FrozenApply]] = {}
    for node in _needed(order, outputs, shapes, views, fusible):
        if not fusible(node):
            read = [*value_operands(node), *_length_leaves(node, shapes)]
            at = max((stored.get(x, 0) for x in read), default=0)
            for reader in before.get(node, ()):
                # Within a level, other nodes come before loops, in order.
                at = max(at, other_level.get(reader, 0), level.get(reader, -1) + 1)
            other_level[node] = at
            others.setdefault(at, []).append(node)
            stored.update((output, at) for output in node.outputs)
            continue
        over = pattern(node)
        own = space[node] = shapes.space(over)
        at = max((stored.get(x, 0) for x in leaves(shapes.lengths(over))), default=0)
        for operand in node.inputs:
            base, axes = views.look_through(operand)
            made = base.owner
            if (
                made is not None
                and isinstance(made.op, Elemwise)
                and space.get(made) == own
                and _moves_along(axes, over)
            ):
                at = max(at, level[made])
            else:
                at = max(at, stored.get(base, 0))
        level[node] = at
        stored[node.outputs[0]] = at + 1
        loops.setdefault(at, {}).setdefault(own, []).append(node)
    steps: list[Step] = []
    for at in sorted({*others, *loops}):
        steps += others.get(at, ())
        for nodes in loops.get(at, {}).values():
            steps += (Loop(tuple(part)) for part in split(nodes, views, limit))
    return steps


def split(nodes: Sequence[FrozenApply], views: Views, limit: int) -> list[Sequence[FrozenApply]]:
    """``nodes`` in parts of at most ``limit``, each cut where the fewest values cross it."""
    if len(nodes) <= limit:
        return [nodes]
    position = {node: at for at, node in enumerate(nodes)}
    last_use: dict[int, int] = {}
    for at, node in enumerate(nodes):
        for operand in node.inputs:
            producer = views.look_through(operand)[0].owner
            if producer is not None and producer in position:
                last_use[position[producer]] = at
    # crossing[k]: values made before position k and used at k or later.
    crossing = [0] * (len(nodes) + 1)
    for made, used in last_use.items():
        crossing[made + 1] += 1
        crossing[used + 1] -= 1
    for at in range(1, len(nodes) + 1):
        crossing[at] += crossing[at - 1]
    parts: list[Sequence[FrozenApply]] = []
    start = 0
    while len(nodes) - start > limit:
        window = range(start + limit - limit // 3, start + limit + 1)
        cut = min(window, key=lambda at: (crossing[at], -at))
        parts.append(nodes[start:cut])
        start = cut
    parts.append(nodes[start:])
    return parts


def from_memory(steps: Sequence[Step], shapes: Shapes, views: Views) -> set[Variable]:
    """The variables that some step reads from memory."""
    read: set[Variable] = set()
    for step in steps:
        if isinstance(step, Loop):
            read.update(leaves(shapes.lengths(step.pattern)))
            for node in step.nodes:
                read.update(
                    views.look_through(x)[0] for x in node.inputs if step.makes(x, views) is None
                )
        else:
            read.update(value_operands(step))
            read.update(_length_leaves(step, shapes))
    return read


def _needed(
    order: Sequence[FrozenApply],
    outputs: Sequence[Variable],
    shapes: Shapes,
    views: Views,
    fusible: Callable[[FrozenApply], bool],
) -> list[FrozenApply]:
    """The nodes whose values the outputs need; loops read through views without making them."""
    wanted = set(outputs)
    needed: list[FrozenApply] = []
    for node in reversed(order):
        if wanted.isdisjoint(node.outputs):
            continue
        needed.append(node)
        if fusible(node):
            wanted.update(views.look_through(x)[0] for x in node.inputs)
            wanted.update(leaves(shapes.lengths(pattern(node))))
        else:
            wanted.update(value_operands(node))
            wanted.update(_length_leaves(node, shapes))
    needed.reverse()
    return needed


def _length_leaves(node: FrozenApply, shapes: Shapes) -> list[Variable]:
    return list(leaves(shapes.canonical(length) for length in length_operands(node)))


def _moves_along(axes: Axes, over: Variable) -> bool:
    """Whether an operand with these axes moves along every dimension of a loop over ``over``."""
    return len(axes) - axes.count(REPEATED) == over.ndim - over.type.shape.count(1)
