"""Views that a loop reads through without making them: repeated, added and dropped dimensions.

A buffer full of one value that nobody writes to is a repeated scalar too.
"""

from __future__ import annotations

from collections.abc import Collection

from frazil._core import FrozenApply, Variable
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.dims import DropDims, ExpandDims

REPEATED = -1
"""In a map of axes: the operand does not move along this dimension."""

Axes = tuple[int, ...]


class Views:
    """Looks through views, remembering what it saw: one for each graph that is lowered.

    ``written``: the variables whose memory is written over. ``inputs``: the graph's, which end a
    look. ``operands`` remembers what was seen of each node's.
    """

    def __init__(
        self, written: Collection[Variable] = (), inputs: Collection[Variable] = ()
    ) -> None:
        self._written = written
        self._inputs = frozenset(inputs)
        self._seen: dict[Variable, tuple[Variable, Axes]] = {}
        self.operands: dict[FrozenApply, list[tuple[Variable, Axes]]] = {}

    def look_through(self, x: Variable) -> tuple[Variable, Axes]:
        """The variable that ``x`` is a view of, and for each dimension of ``x`` its axis there."""
        seen = self._seen.get(x)
        if seen is None:
            seen = self._seen[x] = _look_through(x, self._written, self._inputs)
        return seen


def through(outer: Axes, inner: Axes) -> Axes:
    """The axes of what a view shows, where the view moves like ``outer``."""
    return tuple(REPEATED if axis == REPEATED else inner[axis] for axis in outer)


def _look_through(
    x: Variable, written: Collection[Variable], inputs: Collection[Variable]
) -> tuple[Variable, Axes]:
    base = x
    axes: Axes = tuple(
        REPEATED if repeats else axis for axis, repeats in enumerate(x.broadcastable)
    )
    while base not in inputs and (node := base.owner) is not None:
        match node.op:
            case Full() if base in written:
                break
            case BroadcastTo() | Full():
                source = node.inputs[0]
                offset = base.ndim - source.ndim
                inner: Axes = tuple(
                    REPEATED
                    if axis < offset or source.broadcastable[axis - offset]
                    else axis - offset
                    for axis in range(base.ndim)
                )
            case ExpandDims(axes=added):
                source = node.inputs[0]
                kept = iter(range(source.ndim))
                inner = tuple(
                    REPEATED if axis in added else next(kept) for axis in range(base.ndim)
                )
            case DropDims(axes=dropped) if all(
                node.inputs[0].broadcastable[axis] for axis in dropped
            ):
                source = node.inputs[0]
                inner = tuple(axis for axis in range(source.ndim) if axis not in dropped)
            case _:
                break
        axes = through(axes, inner)
        base = source
        axes = tuple(
            REPEATED if axis == REPEATED or base.broadcastable[axis] else axis for axis in axes
        )
    return base, axes
