"""Readings: what a loop reads for each node, found once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frazil._core import FrozenApply, Variable
from frazil.link.fusion.alignment import domain, element_operands, whole_operands
from frazil.link.fusion.kinds import Kind
from frazil.link.fusion.views import REPEATED, Reading, Views, through


def read_all(order: Sequence[FrozenApply], kinds: Mapping[FrozenApply, Kind], views: Views) -> None:
    """Find what loops read for the fusible nodes, and keep it in ``views``.

    ``order`` has operands before users.
    """
    readings = views.readings
    others: set[Variable] = set()  # of which some are views
    for node in order:
        kind = kinds[node]
        if not kind.elementwise:
            others.update(node.outputs)
            if kind.fusible:
                readings[node] = _reading(node, kind, views)
            continue
        (output,), inputs = node.outputs, node.inputs
        if others.isdisjoint(inputs):
            operands = [(x, *own) for x, own in zip(inputs, kind.operands, strict=True)]
            readings[node] = Reading(output, (), operands, inputs, output, kind.dtypes)
        else:
            readings[node] = _reading(node, kind, views)


def _reading(node: FrozenApply, kind: Kind, views: Views) -> Reading:
    over = domain(node)
    moving = over.ndim - over.broadcastable.count(True)
    operands = []
    for x, outer in element_operands(node, over):
        base, inner = views.look_through(x)
        # Most often the operand is no view, and lies along all dimensions.
        axes = outer if inner is outer else through(outer, inner)
        operands.append((base, axes, len(axes) - axes.count(REPEATED) == moving))
    whole, (output,) = whole_operands(node), node.outputs
    return Reading(over, whole, operands, node.inputs, output, kind.dtypes)
