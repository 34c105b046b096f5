"""Spaces: the lengths of the dimensions that a loop iterates over, and their equality."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Constant, FrozenApply, Variable
from frazil.link.fusion.alignment import can_loop, domain, element_operands, whole_operands
from frazil.link.fusion.kinds import Kinds
from frazil.link.fusion.operands import length_operands
from frazil.link.fusion.unread import EqualLengths, Unread
from frazil.link.fusion.views import REPEATED
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, Shape_i
from frazil.tensor.shapes import Shapes


class Spaces(Shapes):
    """The canonical lengths of a graph's variables, and which of them are equal.

    Lengths that must be equal since one elementwise op has operands with both (a call checks it)
    have one *representative*. Nodes whose spaces have equal representatives can share a loop.

    Attributes
    ----------
    required : dict of FrozenApply to list of EqualLengths
        What a run must compare before it computes a node, as its loop does not.
    read : set of FrozenApply
        Views that loops must read as arrays, so that their lengths are compared.
    """

    def __init__(self, order: Sequence[FrozenApply], kinds: Kinds) -> None:
        self._parent: dict[Variable, Variable] = {}
        # Without a view, loops read all operands as arrays.
        self._has_views = any(kind.view is not None for kind in kinds.kinds)
        self._unread = Unread()
        self.required: dict[FrozenApply, list[EqualLengths]] = {}
        self.read: set[FrozenApply] = set()
        super().__init__(())
        self._find_all(order, kinds)

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

    def _find_all(self, order: Sequence[FrozenApply], kinds: Kinds) -> None:
        """Find the lengths of the results of all nodes."""
        known, lengths = self._lengths, self.lengths
        told_of_kinds = [(kind.lengths, kind.compared) for kind in kinds.kinds]
        for node, at in zip(order, kinds.of_nodes, strict=True):
            told, compared = told_of_kinds[at]
            if told is None:
                self.infer(node)
                continue
            # Most nodes are elementwise, and their kind tells where their lengths are.
            inputs, (output,) = node.inputs, node.outputs
            if isinstance(told, int):
                x = inputs[told]
                told = known.get(x) or lengths(x)
            known[output] = whole = told
            for position in compared:
                x = inputs[position]
                own = known.get(x) or lengths(x)
                if own is not whole and own != whole:
                    self._unify(node, output)
                    break

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
        operands = element_operands(node, over)
        for dim in range(over.ndim):
            moving = [
                (at, axes[dim])
                for at, axes in operands
                if axes[dim] != REPEATED and not inputs[at].broadcastable[axes[dim]]
            ]
            lengths = [self.lengths(inputs[at])[axis] for at, axis in moving]
            if whole_operands(node) and not over.broadcastable[dim]:
                lengths.append(self.lengths(over)[dim])
            if len({*lengths}) < 2:
                continue
            if self._has_views:
                self._compare(node, moving, lengths)
            met = [*map(self.representative, lengths)]
            # A constant says most; else any choice groups the same lengths.
            chosen = next((length for length in met if isinstance(length, Constant)), met[0])
            for length in met:
                if length is not chosen:
                    self._parent[length] = chosen

    def _compare(
        self, node: FrozenApply, moving: Sequence[tuple[int, int]], lengths: Sequence[Variable]
    ) -> None:
        """See to it that a run compares lengths of a node's operands, as they must be equal.

        A loop compares those of the arrays that it reads. Behind the lengths of operands, there may
        be that of an array which is read as a whole.
        """
        unread = [self._unread.is_unread(node.inputs[at], axis) for at, axis in moving]
        read = [n for n, repeated in zip(lengths, unread, strict=False) if not repeated]
        expected = [*read, *lengths[len(moving) :], lengths[0]][0]
        for (at, axis), length, repeated in zip(moving, lengths, unread, strict=False):
            if not repeated or length is expected:
                continue
            if all(leaf.owner is None for leaf in self.leaves_of((length, expected))):
                wanted = EqualLengths(at, axis, length, expected)
                self.required.setdefault(node, []).append(wanted)
            else:  # the loop may be what computes these lengths
                self.read.update(self._unread.views(node.inputs[at], axis))
