"""Sinking: nodes whose results one later loop reads, and nothing else, are computed in that loop.

A node stands in the first loop that can have it. Where all that reads its result is a later loop
over the same space, the result would be written by one loop and read by the other. In the later
loop it needs no memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from frazil._core import FrozenApply, Variable
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.recompute import Recompute
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths

WRITTEN = 2
"""The cost of writing a result and reading it again, in reads."""


class LoopKey(NamedTuple):
    """The loop of a node: the one of this level and space."""

    level: int
    space: Lengths


class Part(NamedTuple):
    """A node of a loop.

    Attributes
    ----------
    output : Variable
        Its result.
    operands : sequence of (Variable, bool)
        What it reads, and whether its loop computes an element of each at each of its positions if
        it computes them at all.
    """

    output: Variable
    operands: Sequence[tuple[Variable, bool]]


@dataclass(frozen=True)
class Placement:
    """The loops of nodes, and what is read by more than these.

    Attributes
    ----------
    loop_of : mapping of FrozenApply to LoopKey
        The loop of each node that is in one, operands before users.
    fixed : collection of FrozenApply
        The nodes that stay where they are.
    read : collection of Variable
        The variables that are read from memory whatever the loops of nodes are.
    parts : mapping of FrozenApply to Part
        What each node reads and makes.
    """

    loop_of: Mapping[FrozenApply, LoopKey]
    fixed: Collection[FrozenApply]
    read: Collection[Variable]
    parts: Mapping[FrozenApply, Part]
    recompute: Recompute

    @cached_property
    def made(self) -> frozenset[Variable]:
        """The results of all nodes."""
        return frozenset([part.output for part in self.parts.values()])

    @cached_property
    def stored(self) -> set[Variable]:
        """The variables that are in memory if no node sinks."""
        return _Walk(self, None).read

    @cached_property
    def loops(self) -> Mapping[LoopKey, Sequence[FrozenApply]]:
        """The nodes of each loop."""
        loops: dict[LoopKey, list[FrozenApply]] = {}
        for node, key in self.loop_of.items():
            loops.setdefault(key, []).append(node)
        return loops

    def whole_operands(self, nodes: Iterable[FrozenApply]) -> set[Variable]:
        """The arrays as large as their loop that nodes read."""
        parts = self.parts
        return {base for node in nodes for base, is_whole in parts[node].operands if is_whole}


_Pair = tuple[LoopKey, LoopKey]
"""The loops from which and to which nodes move."""


def sink(placement: Placement) -> dict[FrozenApply, LoopKey]:
    """The later loops of the nodes that sink.

    All nodes of one loop that can sink into another one do so if that saves memory, else none.
    """
    refused: set[_Pair] = set()
    while moves := _Walk(placement, refused).moves:
        worse = {pair for pair, nodes in moves.items() if _gain(placement, pair, nodes) <= 0}
        if not worse:
            return {node: to for (_, to), nodes in moves.items() for node in nodes}
        refused |= worse
    return {}


class _Walk:
    """A walk from the last node to the first, in which nodes sink as far as they can.

    ``refused``: the moves that are not made; None: none is made.

    Attributes
    ----------
    moves : dict
        The nodes that sink, by their loops.
    read : set of Variable
        The variables that are read from memory.
    """

    def __init__(self, placement: Placement, refused: Collection[_Pair] | None) -> None:
        self._placement = placement
        self._refused = refused
        self.moves: dict[_Pair, set[FrozenApply]] = {}
        self.read = set(placement.read)
        # The loops that may compute a variable themselves.
        self._readers: dict[Variable, dict[LoopKey, None]] = {}
        for node, own in reversed([*placement.loop_of.items()]):
            self._place(node, own, placement.parts[node])

    def _place(self, node: FrozenApply, own: LoopKey, part: Part) -> None:
        output, read = part.output, self.read
        keys = self._readers.get(output, ())
        if not keys and output not in read:
            return  # dead code
        key = own
        if len(keys) == 1 and output not in read and own.space:  # a single element saves nothing
            key = self._loop(node, own, keys)
        if len(keys) > 1 or (keys and key not in keys):
            read.update(self._placement.recompute.reads(output))
        again, made = self._placement.recompute.again, self._placement.made
        for base, is_whole in part.operands:
            if is_whole and base in made:
                self._readers.setdefault(base, {})[key] = None
            elif base in again:
                read.update(again[base])
            else:
                read.add(base)

    def _loop(self, node: FrozenApply, own: LoopKey, keys: Collection[LoopKey]) -> LoopKey:
        """The loop that computes a node of this loop, whose result one loop alone reads."""
        if self._refused is None or node in self._placement.fixed:
            return own
        if not isinstance(node.op, Elemwise):
            return own
        (to,) = keys
        if to.level <= own.level or to.space != own.space or (own, to) in self._refused:
            return own
        self.moves.setdefault((own, to), set()).add(node)
        return to


def _gain(placement: Placement, pair: _Pair, moved: Collection[FrozenApply]) -> int:
    """The reads of arrays as large as two loops that are saved if nodes go to the later one."""
    first, to = pair
    parts = placement.parts
    saved = placement.stored.intersection([parts[node].output for node in moved])
    staying = [node for node in placement.loops[first] if node not in moved]
    made = {parts[node].output for node in staying}
    read = placement.whole_operands(moved)
    stored = (read & made) - placement.stored
    again = read & placement.whole_operands(staying) - placement.whole_operands(placement.loops[to])
    return WRITTEN * (len(saved) - len(stored)) - len(again - made)
