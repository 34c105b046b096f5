"""Puts with a loop of their own: rows that go where indices say, apart from what makes them.

Threads share the rows of a loop. They cannot if the loop puts rows where indices say, as several
may come to one place, in their order. Such a loop is cut along its rows, unless it also writes
results as large as itself: threads would write to one page by turns. So where all that a put reads
is in memory anyway, it has a loop of its own, and threads share the rows of the other loop.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from frazil._core import FrozenApply, Variable
from frazil.link.fusion.alignment import domain, whole_axes
from frazil.link.fusion.sinking import LoopKey
from frazil.link.fusion.views import REPEATED, Views
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor

SHARED_FROM = 1 << 15
"""Loops of fewer elements are not shared by threads."""


def puts_apart(
    loop_of: Mapping[FrozenApply, LoopKey], views: Views, others_read: Collection[Variable]
) -> frozenset[FrozenApply]:
    """The puts of rows that should have a loop apart from what makes these.

    Parameters
    ----------
    loop_of : mapping of FrozenApply to LoopKey
        The loop of each node that is in one.
    views : Views
        The views that loops look through.
    others_read : collection of Variable
        What is in memory since nodes outside of loops read it.
    """
    puts = [node for node in loop_of if _puts_rows(node)]
    if not puts:
        return frozenset()
    readers: dict[Variable, set[FrozenApply]] = {}
    for node in loop_of:
        for base, _, _ in views.readings[node].operands:
            readers.setdefault(base, set()).add(node)
    return frozenset(
        put
        for put in puts
        if (taken := _taken_along(put, loop_of, views, others_read)) is not None
        and all(readers[x] <= taken for node in taken - {put} for x in node.outputs)
    )


def _puts_rows(node: FrozenApply) -> bool:
    """Whether a node puts rows at indices that are the same along a row, and they may be many."""
    if not isinstance(node.op, AdvancedIncSubtensor):
        return False
    shape = domain(node).type.shape
    elements = 1
    for length in shape:
        elements *= SHARED_FROM if length is None else length
    return elements >= SHARED_FROM and shape[-1] != 1 and whole_axes(node)[-1] != REPEATED


def _taken_along(
    put: FrozenApply,
    loop_of: Mapping[FrozenApply, LoopKey],
    views: Views,
    others_read: Collection[Variable],
) -> set[FrozenApply] | None:
    """A put and the elementwise nodes of its loop between it and values that are in memory anyway.

    None if it needs other values of that loop, or none of it.
    """
    own, taken, waiting, reads_stored = loop_of[put], {put}, [put], False
    while waiting:
        for base, _, moves in views.readings[waiting.pop()].operands:
            maker = base.owner
            if maker is None or loop_of.get(maker) != own or maker in taken:
                continue
            if not moves or (base not in others_read and not isinstance(maker.op, Elemwise)):
                return None
            if base in others_read:
                reads_stored = True
            else:
                taken.add(maker)
                waiting.append(maker)
    return taken if reads_stored else None
