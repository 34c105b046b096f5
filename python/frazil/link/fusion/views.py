"""Views that a loop looks through: broadcast, added and dropped dimensions.

A buffer filled with one value, which nothing writes to, counts as a broadcast scalar.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from frazil._core import FrozenApply, Variable
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.dims import DropDims, ExpandDims

REPEATED = -1
"""In a map of axes: the operand does not move along this dimension."""

Axes = tuple[int, ...]


class Reading(NamedTuple):
    """What a loop over the domain of a fusible node reads for it.

    Attributes
    ----------
    over : Variable
        The domain.
    whole : sequence of Variable
        The operands that are needed as whole arrays.
    operands : list of (Variable, Axes, bool)
        The variables that are read element by element, views looked through. Each has its axis for
        every dimension of the domain, and whether it moves along all of these.
    inputs : sequence of Variable
        All operands of the node.
    output : Variable
        Its result.
    dtypes : sequence of str
        The dtypes of the operands, and that of the result.
    """

    over: Variable
    whole: Sequence[Variable]
    operands: list[tuple[Variable, Axes, bool]]
    inputs: Sequence[Variable]
    output: Variable
    dtypes: Sequence[str]


class Views:
    """The views of one graph, and the variables beneath them.

    Parameters
    ----------
    written : collection of Variable
        The variables whose memory is written over.
    inputs : collection of Variable
        The inputs of the graph, which are views of nothing.

    Attributes
    ----------
    readings : dict
        For each fusible node, what :func:`~frazil.link.fusion.reading.read_all` found.
    """

    def __init__(
        self, written: Collection[Variable] = (), inputs: Collection[Variable] = ()
    ) -> None:
        self._written = written
        self._inputs = frozenset(inputs)
        self._seen: dict[Variable, tuple[Variable, Axes]] = {}
        self.readings: dict[FrozenApply, Reading] = {}

    def look_through(self, x: Variable) -> tuple[Variable, Axes]:
        """The variable that ``x`` is a view of, and for each dimension of ``x`` its axis there."""
        found = self._seen.get(x)
        if found is not None:
            return found
        node = x.owner
        if node is None or type(node.op) is Elemwise:  # the most frequent case: no view
            found = self._seen[x] = x, _moving(x, along_last(x.ndim, x.ndim))
            return found
        # A view of a view: each is looked through once.
        pending: list[tuple[Variable, Variable, Axes]] = []
        at = x
        while at not in self._seen:
            beneath = None if at in self._inputs else _beneath(at, self._written)
            if beneath is None:
                self._seen[at] = at, _moving(at, along_last(at.ndim, at.ndim))
            else:
                pending.append((at, *beneath))
                at = beneath[0]
        for view, source, inner in reversed(pending):
            base, axes = self._seen[source]
            self._seen[view] = base, _moving(view, through(inner, axes))
        return self._seen[x]


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


def _beneath(x: Variable, written: Collection[Variable]) -> tuple[Variable, Axes] | None:
    """The variable that ``x`` is a view of, and its axis for each dimension; None if no view."""
    node = x.owner
    if node is None:
        return None
    op = node.op
    if type(op) is Elemwise:  # the most frequent case
        return None
    match op:
        case Full() if x in written:
            return None
        case BroadcastTo() | Full():
            source = node.inputs[0]
            offset = x.ndim - source.ndim
            return source, tuple(
                REPEATED if axis < offset or source.broadcastable[axis - offset] else axis - offset
                for axis in range(x.ndim)
            )
        case ExpandDims(axes=added):
            source = node.inputs[0]
            kept = iter(range(source.ndim))
            return source, tuple(
                REPEATED if axis in added else next(kept) for axis in range(x.ndim)
            )
        case DropDims(axes=dropped) if all(node.inputs[0].broadcastable[axis] for axis in dropped):
            source = node.inputs[0]
            return source, tuple(axis for axis in range(source.ndim) if axis not in dropped)
    return None
