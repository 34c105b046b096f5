"""Fusion: the nodes that share a loop, and the order in which loops and other nodes run.

Elementwise nodes and reductions over one space (the lengths that are not 1) can share a loop. A
node's *level* is one more than that of each loop whose results it reads from memory, and at least
that of each other node that it reads: within a level, other nodes run before loops. So nodes of one
space and level never depend on one another through a node outside their loop, and each node runs
after its operands if levels run in order.

A loop walks its rows, and may walk each several times. So a node with one element for each row (a
*row node*), which follows from a reduction of the row, can be in the loop. Other nodes of the loop
repeat its value along the row, and it needs no memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from frazil._core import FrozenApply, Variable
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.alignment import domain, makes_elements
from frazil.link.fusion.kinds import Kind, is_row_reduction
from frazil.link.fusion.operands import length_operands, value_operands
from frazil.link.fusion.puts import puts_apart
from frazil.link.fusion.recompute import Recompute
from frazil.link.fusion.short import sums_short_rows
from frazil.link.fusion.sinking import LoopKey, Part, Placement, sink
from frazil.link.fusion.spaces import Spaces
from frazil.link.fusion.views import REPEATED, Axes, Reading, Views
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, Shape_i


@dataclass(frozen=True)
class FusedLoop:
    """Nodes that become one loop kernel: all over one space, operands before users.

    ``row_nodes`` are the nodes that run once for each row.
    """

    nodes: tuple[FrozenApply, ...]
    row_nodes: frozenset[FrozenApply] = frozenset()

    @classmethod
    def of(cls, nodes: Sequence[FrozenApply], row_nodes: Collection[FrozenApply]) -> FusedLoop:
        """The loop of ``nodes``; ``row_nodes`` may name nodes of other loops as well."""
        rows = frozenset(row_nodes and [node for node in nodes if node in row_nodes])
        # If all nodes are row nodes, the loop is one over the rows, and they are its elements.
        return cls(tuple(nodes), rows if len(rows) < len(nodes) else frozenset())

    def in_order(self, nodes: Sequence[FrozenApply]) -> FusedLoop:
        """The loop with the same nodes in another order."""
        loop = FusedLoop(tuple(nodes), self.row_nodes)
        # These do not depend on the order of the nodes.
        vars(loop).update(made=self.made, row_values=self.row_values, _making=self._making)
        return loop

    @cached_property
    def domain(self) -> Variable:
        """The variable over whose elements the loop iterates."""
        return domain(next(node for node in self.nodes if node not in self.row_nodes))

    @cached_property
    def made(self) -> frozenset[Variable]:
        """The variables that the loop computes an element of at each position of a row."""
        rows = self.row_nodes
        return frozenset(
            [
                node.outputs[0]
                for node in self.nodes
                if (type(node.op) is Elemwise or makes_elements(node)) and node not in rows
            ]
        )

    @cached_property
    def row_values(self) -> frozenset[Variable]:
        """The variables that the loop computes an element of for each row."""
        rows = self.row_nodes
        return frozenset(
            [
                node.outputs[0]
                for node in self.nodes
                if node in rows or (type(node.op) is not Elemwise and is_row_reduction(node))
            ]
        )

    @cached_property
    def _making(self) -> dict[FrozenApply, list[bool]]:
        return {}

    def makes(self, node: FrozenApply, read: Reading) -> list[bool]:
        """Whether the loop computes the elements that its node reads, for each operand of it."""
        known = self._making.get(node)
        if known is None:
            known = self._making[node] = self._makes(node, read)
        return known

    def _makes(self, node: FrozenApply, read: Reading) -> list[bool]:
        made, rows = self.made, self.row_values
        if node in self.row_nodes:
            return [moves and base in rows for base, _, moves in read.operands]
        if not rows:
            return [moves and base in made for base, _, moves in read.operands]
        return [
            moves if base in made else base in rows and _repeats_row(axes, read.over)
            for base, axes, moves in read.operands
        ]


Task: TypeAlias = FusedLoop | FrozenApply
"""A loop, or a node that runs by itself."""


def fuse(
    order: Sequence[FrozenApply],
    outputs: Sequence[Variable],
    shapes: Spaces,
    views: Views,
    kinds: Mapping[FrozenApply, Kind],
    recompute: Recompute,
    limit: int,
    before: Mapping[FrozenApply, Sequence[FrozenApply]] = MappingProxyType({}),
) -> list[Task]:
    """The tasks that compute ``outputs``: loops of at most ``limit`` nodes, and other nodes.

    ``before`` maps a node that writes over an operand to the nodes that should run before it. Dead
    code is left out. So are nodes whose lengths alone are needed.
    """
    order = _needed(order, outputs, shapes, views)
    levels = Levels(order, shapes, views, kinds, recompute, before, None)
    repeated, apart = levels.repeated(), levels.apart(outputs)
    if repeated != levels.row_nodes or apart:
        # A row node belongs in a loop only if a node of that loop repeats it along the row.
        levels = Levels(order, shapes, views, kinds, recompute, before, repeated, apart)
    levels.sink(outputs, before)
    return levels.tasks(outputs, limit)


class Levels:
    """The loop of every fusible node, and the level of every other node.

    Only elementwise nodes in ``rows`` may be row nodes; None: all may. Nodes in ``apart`` read all
    of their operands from memory.
    """

    def __init__(
        self,
        order: Sequence[FrozenApply],
        shapes: Spaces,
        views: Views,
        kinds: Mapping[FrozenApply, Kind],
        recompute: Recompute,
        before: Mapping[FrozenApply, Sequence[FrozenApply]],
        rows: frozenset[FrozenApply] | None,
        apart: frozenset[FrozenApply] = frozenset(),
    ) -> None:
        self._apart = apart
        self._shapes = shapes
        self._views = views
        self._kinds = kinds
        self._recompute = recompute
        self._rows = rows
        self._stored: dict[Variable, int] = {}  # the first level with the variable in memory
        self._made: dict[Variable, LoopKey] = {}  # the loop with an element a position
        self._row_made: dict[Variable, LoopKey] = {}  # the loop with an element a row
        self._loop_of: dict[FrozenApply, LoopKey] = {}
        self.row_nodes: set[FrozenApply] = set()
        self._others: dict[int, list[FrozenApply]] = {}
        self._others_read: set[Variable] | None = None
        other_level: dict[FrozenApply, int] = {}
        for node in order:
            # Within a level, other nodes come before loops, in order.
            at = 0
            for reader in before.get(node, ()) if before else ():
                after = self._loop_of[reader].level + 1 if reader in self._loop_of else 0
                at = max(at, other_level.get(reader, 0), after)
            if node in views.readings:
                self._add(node, at)
            else:
                read = [*value_operands(node), *_length_leaves(node, shapes)]
                at = max(at, self._from_memory(read))
                other_level[node] = at
                self._others.setdefault(at, []).append(node)
                self._stored.update((output, at) for output in node.outputs)

    def _from_memory(self, read: Iterable[Variable]) -> int:
        """The first level at which all of these are in memory."""
        level = 0
        for x in read:
            stored = self._stored.get(x, 0)
            if stored > level:
                level = stored
        return level

    def _available(self, base: Variable) -> int:
        """The first level at which a loop can read an operand, or compute it again."""
        return self._from_memory(self._recompute.reads(base))

    def _add(self, node: FrozenApply, least: int) -> None:
        read, kind = self._views.readings[node], self._kinds[node]
        over, output = read.over, read.output
        # A node whose rows are not the last dimension has a loop of its own.
        own = (output,) if kind.own_rows else self._shapes.space(over)
        least = max(least, self._from_memory(self._shapes.leaves(over)))
        if self._apart and node in self._apart:
            least = max(least, *(self._available(base) for base, _, _ in read.operands))
        plain = LoopKey(self._level(read, own, least), own)
        key = self._row_loop(node, read, own, least) if self._row_made else None
        if key is not None and key.level < plain.level:
            self.row_nodes.add(node)
            self._row_made[output] = key
        else:
            key = plain
            if kind.makes_elements:
                self._made[output] = key
            elif kind.reduces_rows and not sums_short_rows(
                node, self._shapes, self._views, self._recompute
            ):
                self._row_made[output] = key
        self._loop_of[node] = key
        self._stored[output] = key.level + 1

    def _level(self, read: Reading, own: Lengths, least: int) -> int:
        """The level of a node in a loop over its own space."""
        level = max(least, self._from_memory(read.whole)) if read.whole else least
        for base, axes, moves in read.operands:
            made = self._made.get(base) if moves else None
            if made is None or made.space != own:
                made = self._row_made.get(base)
                if made is None or made.space != own or not _repeats_row(axes, read.over):
                    level = max(level, self._available(base))
                    continue
            if made.level > level:
                level = made.level
        return level

    def _row_loop(
        self, node: FrozenApply, read: Reading, own: Lengths, least: int
    ) -> LoopKey | None:
        """The first loop that can have the node as a row node, since it computes its operands."""
        if not self._kinds[node].elementwise:
            return None
        if self._rows is not None and node not in self._rows:
            return None
        hosts = [
            self._row_made[base]
            for base, _, moves in read.operands
            if moves and base in self._row_made
        ]
        best: LoopKey | None = None
        for host in hosts:
            if host.space[:-1] != own:
                continue
            level = least
            for base, _, moves in read.operands:
                made = self._row_made.get(base)
                if made is not None and made.space == host.space and moves:
                    level = max(level, made.level)
                else:
                    level = max(level, self._available(base))
            if level == host.level and (best is None or level < best.level):
                best = host
        return best

    def repeated(self) -> frozenset[FrozenApply]:
        """The row nodes that their loop repeats along the row, and those that they read."""
        if not self.row_nodes:
            return frozenset()
        kept: set[FrozenApply] = set()
        for node in reversed(self._loop_of):
            if node in self.row_nodes and node not in kept:
                continue
            for base, _, _ in self._views.readings[node].operands:
                maker = base.owner
                if maker in self.row_nodes and self._loop_of[maker] == self._loop_of[node]:
                    kept.add(maker)
        return frozenset(kept)

    def apart(self, outputs: Sequence[Variable]) -> frozenset[FrozenApply]:
        """The puts of rows that should have a loop apart from what makes these."""
        return puts_apart(self._loop_of, self._views, self._read_by_others(outputs))

    def _read_by_others(self, outputs: Sequence[Variable]) -> Collection[Variable]:
        """The outputs, and what nodes outside loops read."""
        if self._others_read is None:
            read = self._others_read = set(outputs)
            for node in (node for nodes in self._others.values() for node in nodes):
                read.update(value_operands(node))
                read.update(_length_leaves(node, self._shapes))
        return self._others_read

    def sink(
        self, outputs: Sequence[Variable], before: Mapping[FrozenApply, Sequence[FrozenApply]]
    ) -> None:
        """Move nodes to the later loops that alone read their results."""
        levels_of: dict[Lengths, int] = {}
        for key in self._loop_of.values():
            if key.space and levels_of.setdefault(key.space, key.level) != key.level:
                break
        else:
            return  # no two loops are over one space
        read = set(self._read_by_others(outputs))
        for node in self._loop_of:
            own = self._views.readings[node]
            read.update(self._shapes.leaves(own.over))
            if own.whole:
                read.update(own.whole)
        # Readers of memory that is written over afterwards should not come later.
        fixed = self.row_nodes.union(*before.values())
        parts = {node: self._part(node) for node in self._loop_of}
        self._loop_of.update(sink(Placement(self._loop_of, fixed, read, parts, self._recompute)))

    def _part(self, node: FrozenApply) -> Part:
        own, is_row = self._views.readings[node], node in self.row_nodes
        return Part(own.output, [(base, moves and not is_row) for base, _, moves in own.operands])

    def _live(self, outputs: Sequence[Variable]) -> set[FrozenApply]:
        """The nodes of loops without dead code."""
        wanted = set(self._read_by_others(outputs))
        live: set[FrozenApply] = set()
        again = self._recompute.again
        last: Sequence[Variable] = ()
        # What loops may compute again, by the loops that read it.
        readers: dict[Variable, set[LoopKey]] = {}
        for node, key in reversed(self._loop_of.items()):
            read = self._views.readings[node]
            if read.output not in wanted and key not in readers.get(read.output, ()):
                continue
            live.add(node)
            leaves = self._shapes.leaves(read.over)
            if leaves is not last:  # most often they are those of the node before
                wanted.update(leaves)
                last = leaves
            wanted.update(read.whole)
            for base, _, _ in read.operands:
                below = again.get(base)
                if below is None:
                    wanted.add(base)
                else:
                    readers.setdefault(base, set()).add(key)
                    wanted.update(below)
        return live

    def tasks(self, outputs: Sequence[Variable], limit: int) -> list[Task]:
        """The tasks that ``outputs`` need, in the order in which they run."""
        live = self._live(outputs)
        loops: dict[int, dict[Lengths, list[FrozenApply]]] = {}
        for node, key in self._loop_of.items():
            if node in live:
                loops.setdefault(key.level, {}).setdefault(key.space, []).append(node)
        tasks: list[Task] = []
        for at in sorted({*self._others, *loops}):
            tasks += self._others.get(at, ())
            for nodes in loops.get(at, {}).values():
                parts = split(nodes, self._views, limit)
                tasks += [self._task(part) for part in parts]
        return tasks

    def _task(self, nodes: Sequence[FrozenApply]) -> FusedLoop:
        loop = FusedLoop.of(nodes, self.row_nodes)
        kinds, readings, rows = self._kinds, self._views.readings, loop.row_nodes
        made = [node for node in nodes if kinds[node].makes_elements and node not in rows]
        vars(loop)["made"] = frozenset([readings[node].output for node in made])
        return loop


def split(nodes: Sequence[FrozenApply], views: Views, limit: int) -> list[Sequence[FrozenApply]]:
    """``nodes`` in parts of at most ``limit``, cut where the fewest values cross."""
    if len(nodes) <= limit:
        return [nodes]
    position = {views.readings[node].output: at for at, node in enumerate(nodes)}
    last_use: dict[int, int] = {}
    for at, node in enumerate(nodes):
        for operand, _, _ in views.readings[node].operands:
            producer = position.get(operand)
            if producer is not None:
                last_use[producer] = at
    # crossing[k]: the number of values made before position k and used at k or later.
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


def task_nodes(task: Task) -> Sequence[FrozenApply]:
    """The nodes of a task."""
    return task.nodes if isinstance(task, FusedLoop) else (task,)


def values_read(task: Task, views: Views, recompute: Recompute) -> set[Variable]:
    """The variables whose elements a task reads from memory."""
    if not isinstance(task, FusedLoop):
        return set(value_operands(task))
    read: set[Variable] = set()
    for node in task.nodes:
        own = views.readings[node]
        if own.whole:
            read.update(own.whole)
        makes = task.makes(node, own)
        if False in makes:
            for (base, _, _), is_made in zip(own.operands, makes, strict=True):
                if not is_made:
                    read.update(recompute.reads(base))
    return read


def lengths_read(task: Task, shapes: Spaces) -> Iterable[Variable]:
    """The variables that a task's lengths are computed from."""
    if isinstance(task, FusedLoop):
        return shapes.leaves(task.domain)
    return _length_leaves(task, shapes)


def _needed(
    order: Sequence[FrozenApply],
    outputs: Sequence[Variable],
    shapes: Spaces,
    views: Views,
) -> list[FrozenApply]:
    """The nodes without dead code; views that loops look through count as dead."""
    wanted = set(outputs)
    needed: list[FrozenApply] = []
    last: Sequence[Variable] = ()
    for node in reversed(order):
        read = views.readings.get(node)
        if read is not None:
            if read.output not in wanted:
                continue
            needed.append(node)
            wanted.update(read.whole)
            wanted.update([base for base, _, _ in read.operands])
            leaves = shapes.leaves(read.over)
            if leaves is not last:  # most often they are those of the node before
                wanted.update(leaves)
                last = leaves
        elif not wanted.isdisjoint(node.outputs):
            needed.append(node)
            wanted.update(value_operands(node))
            wanted.update(_length_leaves(node, shapes))
    needed.reverse()
    return needed


def _length_leaves(node: FrozenApply, shapes: Spaces) -> Sequence[Variable]:
    """The variables that the lengths of a node outside loops are computed from.

    Those are its length operands, and the lengths of its operands and outputs, which its
    instructions may need.
    """
    own = node.outputs if isinstance(node.op, Shape_i) else length_operands(node)
    lengths = [shapes.canonical(length) for length in own]
    for x in (*node.inputs, *node.outputs):
        lengths += shapes.lengths(x)
    return [x for x in shapes.leaves_of(lengths) if x.owner is not node]


def _repeats_row(axes: Axes, over: Variable) -> bool:
    """Whether an operand with these axes moves along all dimensions of a loop but the innermost."""
    moving = [axis for axis, n in zip(axes, over.type.shape, strict=True) if n != 1]
    return len(moving) > 1 and moving[-1] == REPEATED and REPEATED not in moving[:-1]
