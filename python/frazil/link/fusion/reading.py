"""Readings: what a loop reads for a node, found once."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.link.fusion.alignment import domain, element_operands, whole_operands
from frazil.link.fusion.views import REPEATED, Reading, Views, through


def reading(node: FrozenApply, views: Views) -> Reading:
    """What a loop over the domain of a fusible node reads for it."""
    found = views.readings.get(node)
    if found is None:
        over = domain(node)
        moving = over.ndim - over.broadcastable.count(True)
        operands = []
        for x, outer in element_operands(node, over):
            base, inner = views.look_through(x)
            # Most often the operand is no view, and lies along all dimensions.
            axes = outer if inner is outer else through(outer, inner)
            operands.append((base, axes, len(axes) - axes.count(REPEATED) == moving))
        found = views.readings[node] = Reading(over, whole_operands(node), operands)
    return found
