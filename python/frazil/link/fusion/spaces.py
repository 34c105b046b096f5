"""Spaces: the lengths of the dimensions that a loop iterates over, and their equality."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Constant, FrozenApply, Variable
from frazil.link.fusion.alignment import can_loop, domain, element_operands, whole_operands
from frazil.link.fusion.kinds import Kinds
from frazil.link.fusion.operands import length_operands
from frazil.link.fusion.views import REPEATED
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, Shape_i
from frazil.tensor.shapes import Shapes


class Spaces(Shapes):
    """The canonical lengths of a graph's variables, and which of them are equal.

    Lengths that must be equal since one elementwise op has operands with both (a call checks it)
    have one *representative*. Nodes whose spaces have equal representatives can share a loop.
    """

    def __init__(self, order: Sequence[FrozenApply], kinds: Kinds) -> None:
        self._parent: dict[Variable, Variable] = {}
        super().__init__(())
        all_kinds = kinds.kinds
        for node, at in zip(order, kinds.of_nodes, strict=True):
            told = all_kinds[at].lengths
            if told is None:
                self.infer(node)
            else:  # most nodes
                self._follow(node, told)

    @property
    def known(self) -> dict[Variable, Lengths]:
        """The lengths that were found so far."""
        return self._lengths

    def representatives(self, lengths: Lengths) -> Lengths:
        """For each length the one that stands for all that must be equal to it."""
        return tuple(map(self.representative, lengths))

    def leaves_around(self, node: FrozenApply) -> Sequence[Variable]:
        """The variables that the lengths of a node outside loops are computed from.

        Those are its length operands, and the lengths of its operands and outputs, which its
        instructions may need.
        """
        own = node.outputs if isinstance(node.op, Shape_i) else length_operands(node)
        lengths = [self.canonical(length) for length in own]
        for x in (*node.inputs, *node.outputs):
            lengths += self.lengths(x)
        return [x for x in self.leaves_of(lengths) if x.owner is not node]

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

    def _follow(self, node: FrozenApply, told: Lengths | int) -> None:
        """Find the lengths of an elementwise node whose kind tells where they are."""
        known, inputs, (output,) = self._lengths, node.inputs, node.outputs
        whole = self.lengths(inputs[told]) if isinstance(told, int) else told
        known[output] = whole
        for x in inputs:
            lengths = known[x] if x in known else self.lengths(x)
            if lengths and lengths is not whole and lengths != whole:
                self._unify(node, output)
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
        inputs = node.inputs
        operands = [(inputs[at], axes) for at, axes in element_operands(node, over)]
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
