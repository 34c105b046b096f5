"""Spaces: the lengths of the dimensions that a loop iterates over, and their equality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frazil._core import Constant, FrozenApply, Variable
from frazil.link.fusion.alignment import can_loop, domain, element_operands, whole_operands
from frazil.link.fusion.kinds import Kind
from frazil.link.fusion.views import REPEATED, Reading, Views
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths
from frazil.tensor.shapes import Shapes


class Spaces(Shapes):
    """The canonical lengths of a graph's variables, and which of them are equal.

    Lengths that must be equal since one elementwise op has operands with both (a call checks it)
    have one *representative*. Nodes whose spaces have equal representatives can share a loop.
    """

    def __init__(
        self, order: Sequence[FrozenApply], kinds: Mapping[FrozenApply, Kind], views: Views
    ) -> None:
        self._parent: dict[Variable, Variable] = {}
        # Filled once all equal lengths are known.
        self._spaces: dict[Variable, Lengths] = {}
        self._spaces_of_lengths: dict[Lengths, Lengths] = {}
        super().__init__(())
        for node in order:
            kind = kinds[node]
            if kind.lengths is None:
                self.infer(node)
            else:  # most nodes
                self._follow(node, kind.lengths, views.readings[node])

    def space(self, x: Variable) -> Lengths:
        """The representatives of the lengths of ``x`` that are not known to be 1."""
        known = self._spaces.get(x)
        if known is None:
            lengths = self.lengths(x)
            if True in x.broadcastable:
                ones = x.broadcastable
                lengths = tuple([n for n, is_one in zip(lengths, ones, strict=True) if not is_one])
            known = self._spaces_of_lengths.get(lengths)
            if known is None:
                known = tuple(map(self.representative, lengths))
                self._spaces_of_lengths[lengths] = known
            self._spaces[x] = known
        return known

    def representative(self, length: Variable) -> Variable:
        """The one length that stands for all that must be equal to ``length``."""
        root = length
        while (parent := self._parent.get(root)) is not None:
            root = parent
        while (parent := self._parent.get(length)) is not None:
            self._parent[length] = root
            length = parent
        return root

    def infer(self, node: FrozenApply) -> None:
        super().infer(node)
        if type(node.op) is Elemwise and self._is_uniform(node):
            return  # the most frequent case
        if can_loop(node) and node.outputs:
            over = domain(node)
            if over not in self._lengths and over.owner is not None and over is not node.outputs[0]:
                self.infer(over.owner)
            self._unify(node, over)

    def _follow(self, node: FrozenApply, told: Lengths | int, read: Reading) -> None:
        """Find the lengths of an elementwise node whose kind tells where they are."""
        known = self._lengths
        whole = self.lengths(read.inputs[told]) if isinstance(told, int) else told
        known[read.output] = whole
        for x in read.inputs:
            lengths = known[x] if x in known else self.lengths(x)
            if lengths and lengths is not whole and lengths != whole:
                self._unify(node, read.output)
                return

    def _is_uniform(self, node: FrozenApply) -> bool:
        """Whether the operands of an elementwise node have its lengths, or a single element."""
        known = self._lengths
        whole = known[node.outputs[0]]
        for x in node.inputs:
            lengths = known[x] if x in known else self.lengths(x)
            if lengths and lengths != whole:
                return False
        return True

    def _unify(self, node: FrozenApply, over: Variable) -> None:
        operands = element_operands(node, over)
        for dim in range(over.ndim):
            met = [
                self.representative(self.lengths(x)[axes[dim]])
                for x, axes in operands
                if axes[dim] != REPEATED and not x.broadcastable[axes[dim]]
            ]
            if whole_operands(node) and not over.broadcastable[dim]:
                met.append(self.representative(self.lengths(over)[dim]))
            if not met:
                continue
            # A constant says most; else any choice groups the same lengths.
            chosen = next((length for length in met if isinstance(length, Constant)), met[0])
            for length in met:
                if length is not chosen:
                    self._parent[length] = chosen
