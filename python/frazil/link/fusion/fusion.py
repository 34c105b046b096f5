"""Fusion: which nodes share a loop, and in which order loops and other nodes run.

Elementwise nodes and reductions over one space (the lengths that are not 1) can share a loop. A
node's *level* is one more than that of whatever it needs from memory, so nodes of one space and
level never wait for one another through something outside their loop, and the order of levels runs
everything after what it needs.

A loop goes through its rows, and may go through each several times. So what follows from a row's
reduction (a *row node*: one element for each row) can be computed within the loop, and used there
by nodes that repeat it along the row, without going through memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from frazil._core import FrozenApply, Variable
from frazil.graph.cached_property import cached_property
from frazil.link.fusion.alignment import (
    element_operands,
    makes_elements,
    pattern,
    row_dimension,
    whole_operands,
)
from frazil.link.fusion.operands import length_operands, value_operands
from frazil.link.fusion.recompute import Recompute
from frazil.link.fusion.spaces import Spaces
from frazil.link.fusion.views import REPEATED, Axes, Views, through
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, Shape_i
from frazil.tensor.reductions import Reduce


@dataclass(frozen=True)
class Loop:
    """Nodes that run as one loop, operands before users, all over one space.

    ``of_rows`` are those among them that run once a row.
    """

    nodes: tuple[FrozenApply, ...]
    of_rows: frozenset[FrozenApply] = frozenset()

    @classmethod
    def of(cls, nodes: Sequence[FrozenApply], of_rows: Collection[FrozenApply]) -> Loop:
        """The loop of ``nodes``, ``of_rows`` among others being such as run once a row."""
        rows = frozenset(node for node in nodes if node in of_rows)
        # Without a row to belong to, they are elements of a loop over the rows.
        return cls(tuple(nodes), rows if len(rows) < len(nodes) else frozenset())

    @cached_property
    def pattern(self) -> Variable:
        """The variable over whose elements the loop goes."""
        return pattern(next(node for node in self.nodes if node not in self.of_rows))

    @cached_property
    def made(self) -> frozenset[Variable]:
        """The variables whose elements the loop makes as it goes; a reduction's come at its end."""
        return frozenset(
            node.outputs[0]
            for node in self.nodes
            if makes_elements(node) and node not in self.of_rows
        )

    @cached_property
    def row_values(self) -> frozenset[Variable]:
        """The variables of which the loop makes an element a row and has it in the next pass."""
        return frozenset(
            node.outputs[0] for node in self.nodes if node in self.of_rows or is_row_reduction(node)
        )

    def makes(self, base: Variable, axes: Axes, node: FrozenApply) -> bool:
        """Whether the loop makes what a node of it reads of ``base``, moving like ``axes``."""
        over = pattern(node)  # it may have dimensions of length 1 that the loop's has not
        if node in self.of_rows:
            return base in self.row_values and _moves_along(axes, over)
        if base in self.made:
            return _moves_along(axes, over)
        return base in self.row_values and _repeats_row(axes, over)


Step: TypeAlias = Loop | FrozenApply


def is_row_reduction(node: FrozenApply) -> bool:
    """Whether the node reduces the innermost of several dimensions, and no other."""
    if not isinstance(node.op, Reduce):
        return False
    moving = [axis for axis, n in enumerate(node.inputs[0].type.shape) if n != 1]
    return len(moving) > 1 and [axis for axis in moving if axis in node.op.axes] == moving[-1:]


def fuse(
    order: Sequence[FrozenApply],
    outputs: Sequence[Variable],
    shapes: Spaces,
    views: Views,
    fusible: Callable[[FrozenApply], bool],
    recompute: Recompute,
    limit: int,
    before: Mapping[FrozenApply, Sequence[FrozenApply]] = MappingProxyType({}),
) -> list[Step]:
    """The steps that compute ``outputs``: loops of at most ``limit`` nodes, and other nodes.

    ``before`` gives for nodes that write over an operand the nodes that should run before them.
    Nodes whose values nothing needs (only their shapes, perhaps) are left out.
    """
    order = _needed(order, outputs, shapes, views, fusible)
    levels = Levels(order, shapes, views, fusible, recompute, before, None)
    if (repeated := levels.repeated()) != levels.of_rows:
        # Only row nodes that something of their loop repeats along the row are worth being in it.
        levels = Levels(order, shapes, views, fusible, recompute, before, repeated)
    return levels.steps(outputs, limit)


@dataclass(frozen=True, slots=True)
class _Place:
    """Which loop a node is in: that of this level and space."""

    level: int
    space: Lengths


class Levels:
    """The loop of every fusible node, and the level at which every other one runs.

    ``rows`` limits which elementwise nodes may be row nodes; None: all.
    """

    def __init__(
        self,
        order: Sequence[FrozenApply],
        shapes: Spaces,
        views: Views,
        fusible: Callable[[FrozenApply], bool],
        recompute: Recompute,
        before: Mapping[FrozenApply, Sequence[FrozenApply]],
        rows: frozenset[FrozenApply] | None,
    ) -> None:
        self._shapes = shapes
        self._views = views
        self._recompute = recompute
        self._rows = rows
        self._stored: dict[Variable, int] = {}  # the level from which on a variable is in memory
        self._made: dict[Variable, _Place] = {}  # where an element is made at each position
        self._row_made: dict[Variable, _Place] = {}  # where one is made for each row
        self._place: dict[FrozenApply, _Place] = {}
        self.of_rows: set[FrozenApply] = set()
        self._others: dict[int, list[FrozenApply]] = {}
        other_level: dict[FrozenApply, int] = {}
        for node in order:
            # Within a level, other nodes come before loops, in order.
            at = 0
            for reader in before.get(node, ()):
                after = self._place[reader].level + 1 if reader in self._place else 0
                at = max(at, other_level.get(reader, 0), after)
            if fusible(node):
                self._add(node, at)
            else:
                read = [*value_operands(node), *_length_leaves(node, shapes)]
                at = max(at, self._from_memory(read))
                other_level[node] = at
                self._others.setdefault(at, []).append(node)
                self._stored.update((output, at) for output in node.outputs)

    def _from_memory(self, read: Iterable[Variable]) -> int:
        """The level at which all these are in memory."""
        level = 0
        for x in read:
            stored = self._stored.get(x, 0)
            if stored > level:
                level = stored
        return level

    def _available(self, base: Variable) -> int:
        """The level from which on a loop can have an operand without making it."""
        return self._from_memory(self._recompute.reads(base))

    def _add(self, node: FrozenApply, least: int) -> None:
        over, (output,) = pattern(node), node.outputs
        # What goes along another dimension has a loop of its own.
        own = self._shapes.space(over) if row_dimension(node) is None else (output,)
        least = max(least, self._from_memory(self._shapes.leaves(over)))
        plain = _Place(self._level(node, own, least), own)
        place = self._row_place(node, own, least)
        if place is not None and place.level < plain.level:
            self.of_rows.add(node)
            self._row_made[output] = place
        else:
            place = plain
            if makes_elements(node):
                self._made[output] = place
            elif is_row_reduction(node):
                self._row_made[output] = place
        self._place[node] = place
        self._stored[output] = place.level + 1

    def _level(self, node: FrozenApply, own: Lengths, least: int) -> int:
        """The level of a node as one of the loops over its own space."""
        over = pattern(node)
        level = max(least, self._from_memory(whole_operands(node)))
        for base, axes in operands(node, self._views):
            made = self._made.get(base)
            if made is None or made.space != own or not _moves_along(axes, over):
                made = self._row_made.get(base)
                if made is None or made.space != own or not _repeats_row(axes, over):
                    level = max(level, self._available(base))
                    continue
            level = max(level, made.level)
        return level

    def _row_place(self, node: FrozenApply, own: Lengths, least: int) -> _Place | None:
        """The earliest loop that can compute a node once a row, since it makes what that needs."""
        if not isinstance(node.op, Elemwise) or (self._rows is not None and node not in self._rows):
            return None
        seen = operands(node, self._views)
        hosts = [
            self._row_made[base]
            for base, axes in seen
            if base in self._row_made and _moves_along(axes, node.outputs[0])
        ]
        best: _Place | None = None
        for host in hosts:
            if host.space[:-1] != own:
                continue
            level = least
            for base, axes in seen:
                made = self._row_made.get(base)
                if (
                    made is not None
                    and made.space == host.space
                    and _moves_along(axes, node.outputs[0])
                ):
                    level = max(level, made.level)
                else:
                    level = max(level, self._available(base))
            if level == host.level and (best is None or level < best.level):
                best = host
        return best

    def repeated(self) -> frozenset[FrozenApply]:
        """The row nodes that nodes of their own loop repeat along the row, and what these need."""
        kept: set[FrozenApply] = set()
        for node in reversed(self._place):
            if node in self.of_rows and node not in kept:
                continue
            for base, _ in operands(node, self._views):
                maker = base.owner
                if maker in self.of_rows and self._place[maker] == self._place[node]:
                    kept.add(maker)
        return frozenset(kept)

    def _live(self, outputs: Sequence[Variable]) -> set[FrozenApply]:
        """The nodes of loops that something needs where they are."""
        wanted = set(outputs)
        for node in (node for nodes in self._others.values() for node in nodes):
            wanted.update(value_operands(node))
            wanted.update(_length_leaves(node, self._shapes))
        live: set[FrozenApply] = set()
        for node in reversed(self._place):
            if node not in live and wanted.isdisjoint(node.outputs):
                continue
            live.add(node)
            wanted.update(self._shapes.leaves(pattern(node)))
            wanted.update(whole_operands(node))
            for base, _ in operands(node, self._views):
                maker = base.owner
                if maker in self._place and self._place[maker] == self._place[node]:
                    live.add(maker)
                wanted.update(self._recompute.reads(base))
        return live

    def steps(self, outputs: Sequence[Variable], limit: int) -> list[Step]:
        """All that is needed for ``outputs``, in the order in which it runs."""
        live = self._live(outputs)
        loops: dict[int, dict[Lengths, list[FrozenApply]]] = {}
        for node, place in self._place.items():
            if node in live:
                loops.setdefault(place.level, {}).setdefault(place.space, []).append(node)
        steps: list[Step] = []
        for at in sorted({*self._others, *loops}):
            steps += self._others.get(at, ())
            for nodes in loops.get(at, {}).values():
                parts = split(nodes, self._views, limit)
                steps += [Loop.of(part, self.of_rows) for part in parts]
        return steps


def operands(node: FrozenApply, views: Views) -> list[tuple[Variable, Axes]]:
    """What a fusible node reads element by element: what its operands are views of, each with its
    axis for every dimension of the node's pattern.
    """
    found = views.operands.get(node)
    if found is None:
        found = views.operands[node] = []
        for x, axes in element_operands(node):
            base, inner = views.look_through(x)
            found.append((base, through(axes, inner)))
    return found


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


def nodes_of(step: Step) -> Sequence[FrozenApply]:
    """The nodes that a step computes."""
    return step.nodes if isinstance(step, Loop) else (step,)


def read_values(step: Step, views: Views, recompute: Recompute) -> set[Variable]:
    """The variables whose elements a step reads from memory."""
    if not isinstance(step, Loop):
        return set(value_operands(step))
    read: set[Variable] = set()
    for node in step.nodes:
        read.update(whole_operands(node))
        for base, axes in operands(node, views):
            if not step.makes(base, axes, node):
                read.update(recompute.reads(base))
    return read


def read_lengths(step: Step, shapes: Spaces) -> Iterable[Variable]:
    """The variables that lengths used by a step are taken from, or are values of."""
    if isinstance(step, Loop):
        return shapes.leaves(step.pattern)
    return _length_leaves(step, shapes)


def _needed(
    order: Sequence[FrozenApply],
    outputs: Sequence[Variable],
    shapes: Spaces,
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
            wanted.update(whole_operands(node))
            wanted.update(base for base, _ in operands(node, views))
            wanted.update(shapes.leaves(pattern(node)))
        else:
            wanted.update(value_operands(node))
            wanted.update(_length_leaves(node, shapes))
    needed.reverse()
    return needed


def _length_leaves(node: FrozenApply, shapes: Spaces) -> Sequence[Variable]:
    """What a node that runs by itself needs for lengths: those that it is given, and those of what
    it reads and makes, which its instructions may ask for.
    """
    given = node.outputs if isinstance(node.op, Shape_i) else length_operands(node)
    lengths = [shapes.canonical(length) for length in given]
    for x in (*node.inputs, *node.outputs):
        lengths += shapes.lengths(x)
    return [x for x in shapes.leaves_of(lengths) if x.owner is not node]


def _moves_along(axes: Axes, over: Variable) -> bool:
    """Whether an operand with these axes moves along every dimension of a loop over ``over``."""
    return len(axes) - axes.count(REPEATED) == over.ndim - over.type.shape.count(1)


def _repeats_row(axes: Axes, over: Variable) -> bool:
    """Whether an operand with these axes moves along all dimensions of a loop but the innermost."""
    moving = [axis for axis, n in zip(axes, over.type.shape, strict=True) if n != 1]
    return len(moving) > 1 and moving[-1] == REPEATED and REPEATED not in moving[:-1]
