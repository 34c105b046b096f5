"""Sorting, and searching for elements."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.link.toolchain import sorts
from frazil.tensor.repetition import RepeatedPositions
from frazil.tensor.searching import Argmax, Argmin, Nonzero
from frazil.tensor.sorting import ArgSort, Sort


@lower_node.register
def _(op: Sort | ArgSort, node: FrozenApply, lowering: Lowering) -> None:
    sorts.install()
    sort = lowering.builder.sort if isinstance(op, Sort) else lowering.builder.argsort
    lowering.set_slot(node.outputs[0], sort(lowering.slot(node.inputs[0]), op.axis))


@lower_node.register
def _(op: Argmax | Argmin, node: FrozenApply, lowering: Lowering) -> None:
    (x,) = node.inputs
    lowering.require_elements(node, [op.axis])
    search = lowering.builder.argmax if isinstance(op, Argmax) else lowering.builder.argmin
    lowering.set_slot(node.outputs[0], search(lowering.slot(x), op.axis))


@lower_node.register
def _(op: Nonzero, node: FrozenApply, lowering: Lowering) -> None:
    builder, x = lowering.builder, lowering.slot(node.inputs[0])
    count = builder.size_value(builder.count_nonzero(x))
    for output, slot in zip(node.outputs, builder.nonzero(x, count), strict=True):
        lowering.set_slot(output, slot)


@lower_node.register
def _(op: RepeatedPositions, node: FrozenApply, lowering: Lowering) -> None:
    builder, repeats = lowering.builder, lowering.slot(node.inputs[0])
    count = builder.size_value(builder.count_repeated(repeats))
    at_least = builder.size_binary("maximum", count, builder.size_literal(0))
    builder.require_equal(count, at_least, "a number of repeats cannot be negative; given {a}")
    lowering.set_slot(node.outputs[0], builder.repeated(repeats, count))
