"""The walk that takes a graph over a batch, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.batching.early_ends import with_last_rows_as_states
from frazil.batching.ragged import ends_of, others, ragged_part
from frazil.batching.registry import Operand, apply_batched, in_steps
from frazil.inner.ifelse import IfElse
from frazil.inner.sinking import sink_outputs


def taken_over_batch(
    outputs: Sequence[Variable], replaced: Mapping[Variable, Operand]
) -> list[Operand]:
    """Return ``outputs`` computed from what takes the place of variables.

    A node whose operands stay as they are stays itself.
    """
    batches = [x for x, given in replaced.items() if given.batched]
    outputs = with_last_rows_as_states(outputs, replaced, batches)
    outputs = _sunk(outputs, replaced, batches)
    order = _core.toposort(outputs, list(replaced))
    part = ragged_part(order, batches)
    known = _Known(replaced)
    if not part:
        known.walk(order)
    else:
        before, behind = others(part, order)
        known.walk(before)
        known.walk_each(part, *ends_of(part, order, outputs))
        known.walk(behind)
    return [known.operand(y) for y in outputs]


def _sunk(
    outputs: Sequence[Variable], replaced: Mapping[Variable, Operand], batches: Sequence[Variable]
) -> Sequence[Variable]:
    """Move nodes that differ from element to element into the branch that alone needs them.

    If the condition differs between elements, derivatives of a branch are zero for elements that
    chose the other one. The rule for branches sees nothing but the branches.
    """
    order = _core.toposort(outputs, list(replaced))
    if not any(isinstance(node.op, IfElse) for node in order):
        return outputs
    moving, fixed = set(batches), list(replaced)
    for node in order:
        if moving.isdisjoint(node.inputs):
            fixed += node.outputs
        else:
            moving.update(node.outputs)
    return sink_outputs(outputs, fixed)


class _Known:
    """The replacements of variables, as far as the walk has come."""

    def __init__(self, replaced: Mapping[Variable, Operand]) -> None:
        self._known = dict(replaced)

    def operand(self, x: Variable) -> Operand:
        return self._known.get(x) or Operand(x, False)

    def walk(self, order: Sequence[FrozenApply]) -> None:
        for node in order:
            operands = [self.operand(x) for x in node.inputs]
            if any(x.batched for x in operands):
                made = apply_batched(node, operands)
            elif all(new.value is old for new, old in zip(operands, node.inputs, strict=True)):
                continue
            else:
                applied = node.op.make_node(*(x.value for x in operands))
                made = [Operand(y, False) for y in applied.outputs]
            self._known.update(zip(node.outputs, made, strict=True))

    def walk_each(
        self, part: Sequence[FrozenApply], read: Sequence[Variable], wanted: Sequence[Variable]
    ) -> None:
        """Walk through a part of the graph for one element of the batch after the other."""

        def results(operands: Sequence[Variable]) -> list[Variable]:
            one = _Known({x: Operand(y, False) for x, y in zip(read, operands, strict=True)})
            one.walk(part)
            return [one.operand(y).value for y in wanted]

        made = in_steps(results, [self.operand(x) for x in read], "batch of lengths")
        self._known.update(zip(wanted, made, strict=True))


def over_batch(graph: FrozenFunctionGraph, operands: Sequence[Operand]) -> list[Operand]:
    """Return the outputs of a frozen graph whose inputs are ``operands``."""
    inputs = [x.type(None) for x in graph.inputs]
    return taken_over_batch(graph.bind(inputs), dict(zip(inputs, operands, strict=True)))
