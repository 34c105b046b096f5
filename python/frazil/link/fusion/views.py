"""Views that a loop looks through: broadcast, added and dropped dimensions.

A buffer filled with one value, which nothing writes to, counts as a broadcast scalar.
"""

from __future__ import annotations

from functools import cache, lru_cache

from frazil._core import FrozenApply, Variable
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.dims import DropDims, ExpandDims

REPEATED = -1
"""In a map of axes: the operand does not move along this dimension."""

Axes = tuple[int, ...]


@cache
def along_last(own: int, ndim: int) -> Axes:
    """The axes of an operand of rank ``own`` that lies along the last of ``ndim`` dimensions."""
    return (REPEATED,) * (ndim - own) + tuple(range(own))


def own_axes(x: Variable, ndim: int) -> Axes:
    """The axes of ``x``, which is no view, as an operand along the last of ``ndim`` dimensions."""
    outer, inner = along_last(x.ndim, ndim), _moving(x, along_last(x.ndim, x.ndim))
    # Most often the operand lies along all dimensions.
    return outer if inner is outer else through(outer, inner)


@lru_cache(maxsize=1024)
def through(outer: Axes, inner: Axes) -> Axes:
    """The axes of the variable beneath a view that moves like ``outer``."""
    return tuple(REPEATED if axis == REPEATED else inner[axis] for axis in outer)


def _moving(x: Variable, axes: Axes) -> Axes:
    """``axes`` without those along which ``x`` is known to have one element."""
    if True not in x.broadcastable:
        return axes
    return tuple(
        REPEATED if repeats else axis for axis, repeats in zip(axes, x.broadcastable, strict=True)
    )


def view_of(node: FrozenApply) -> tuple[Axes, bool] | None:
    """The axis of the first operand for each dimension of a view; None if the node is none.

    And whether it is a buffer filled with one value.
    """
    match node.op:
        case BroadcastTo() | Full() as op:
            (x,), source = node.outputs, node.inputs[0]
            offset = x.ndim - source.ndim
            axes = tuple(
                REPEATED if axis < offset or source.broadcastable[axis - offset] else axis - offset
                for axis in range(x.ndim)
            )
            return axes, isinstance(op, Full)
        case ExpandDims(axes=added):
            kept = iter(range(node.inputs[0].ndim))
            ndim = node.outputs[0].ndim
            return tuple(REPEATED if at in added else next(kept) for at in range(ndim)), False
        case DropDims(axes=dropped) if all(node.inputs[0].broadcastable[at] for at in dropped):
            return tuple(at for at in range(node.inputs[0].ndim) if at not in dropped), False
    return None
