"""Lengths that no run would compare: along an axis, the loop reads no array of an operand.

A run compares the lengths of the arrays that a loop reads. Of a buffer filled with one value, or of
a view that repeats elements, the loop reads these alone, and not how often they are repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.views import view_of
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.cumulation import CumOp
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.reductions import Reduce


@dataclass(frozen=True)
class EqualLengths:
    """A length of an operand that must be the one of another, which a run has to compare."""

    operand: int
    axis: int
    length: Variable
    expected: Variable


class Unread:
    """What repeats the elements of variables, and of what they are computed from."""

    def __init__(self) -> None:
        self._known: dict[tuple[Variable, int], Sequence[FrozenApply]] = {}

    def views(self, x: Variable, axis: int) -> Sequence[FrozenApply]:
        """The views that repeat what ``x`` is made of along an axis; none if an array is read."""
        known = self._known.get((x, axis))
        if known is None:
            known = self._known[x, axis] = self._found(x, axis)
        return known

    def _found(self, x: Variable, axis: int) -> Sequence[FrozenApply]:
        views: list[FrozenApply] = []
        pending, seen = [(x, axis)], {(x, axis)}
        while pending:
            x, axis = pending.pop()
            node = x.owner
            if node is None or self._known.get((x, axis)) == ():
                return ()
            if isinstance(node.op, BroadcastTo | Full):
                views.append(node)
                continue
            beneath = _beneath(node, axis)
            if not beneath:
                return ()
            pending += [operand for operand in beneath if operand not in seen]
            seen.update(beneath)
        return views


def _beneath(node: FrozenApply, axis: int) -> Sequence[tuple[Variable, int]]:
    """The operands along which a loop moves that computes a node, with their axes.

    None where the node's result is an array in memory.
    """
    op = node.op
    if isinstance(op, Elemwise):
        from_last = axis - node.outputs[0].ndim
        return [
            (x, from_last + x.ndim)
            for x in node.inputs
            if -from_last <= x.ndim and not x.broadcastable[from_last]
        ]
    source = node.inputs[0] if node.inputs else None
    if source is None:
        return ()
    if isinstance(op, CumOp):
        return [(source, axis)]
    if isinstance(op, Reduce):
        return [(source, [k for k in range(source.ndim) if k not in op.axes][axis])]
    if isinstance(op, ExpandDims | DropDims) and (view := view_of(node)) is not None:
        return [(source, view[0][axis])]
    return ()
