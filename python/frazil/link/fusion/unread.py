"""Lengths that no run would compare: along an axis, the loop reads no array of an operand.

A run compares the lengths of the arrays that a loop reads. Of a buffer filled with one value, or of
a view that repeats elements, the loop reads these alone, and not how often they are repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.views import view_of
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.cumulation import CumOp
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.reductions import Reduce

Moving: TypeAlias = tuple[Variable, int]
"""A variable, and the axis along which a loop moves."""


@dataclass(frozen=True)
class EqualLengths:
    """A length of an operand that must be the one of another, which a run has to compare."""

    operand: int
    axis: int
    length: Variable
    expected: Variable


class Unread:
    """The views that repeat elements of variables, or of the variables behind them."""

    def __init__(self) -> None:
        self._known: dict[Moving, bool] = {}
        self._told: set[Moving] = set()

    def is_unread(self, x: Variable, axis: int) -> bool:
        """Whether views repeat all that ``x`` is made of along an axis, and no array is read.

        Examples
        --------
        >>> import frazil.tensor as ft
        >>> from frazil.link.fusion.unread import Unread
        >>> x = ft.vector("x")
        >>> buffer = ft.ones(x.shape) + 1
        >>> unread = Unread()
        >>> [unread.is_unread(y, 0) for y in (buffer, buffer * 2, buffer * x)]
        [True, True, False]
        """
        known = self._known
        pending = [(x, axis)]
        while pending:
            own = pending[-1]
            node = own[0].owner
            beneath = () if node is None or _is_view(node) else _beneath(node, own[1])
            found = [known.get(operand) for operand in beneath]
            if None in found and False not in found:
                pending += [o for o, k in zip(beneath, found, strict=True) if k is None]
                continue
            known[own] = node is not None and (_is_view(node) or (bool(found) and all(found)))
            pending.pop()
        return known[x, axis]

    def views(self, x: Variable, axis: int) -> Iterator[FrozenApply]:
        """The views that repeat what ``x`` is made of, but those that were told before."""
        pending = [(x, axis)]
        while pending:
            own = pending.pop()
            node = own[0].owner
            if own in self._told or node is None:
                continue
            self._told.add(own)
            if _is_view(node):
                yield node
            else:
                pending += _beneath(node, own[1])


def _is_view(node: FrozenApply) -> bool:
    return isinstance(node.op, BroadcastTo | Full)


def _beneath(node: FrozenApply, axis: int) -> Sequence[Moving]:
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
