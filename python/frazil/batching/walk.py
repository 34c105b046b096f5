"""The walk that takes a graph over a batch, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import frazil._core as _core
from frazil._core import FrozenFunctionGraph, Variable
from frazil.batching.registry import Operand, apply_batched


def taken_over_batch(
    outputs: Sequence[Variable], replaced: Mapping[Variable, Operand]
) -> list[Operand]:
    """Return ``outputs`` computed from what takes the place of variables.

    A node whose operands stay as they are stays itself.
    """
    known = dict(replaced)

    def operand(x: Variable) -> Operand:
        return known.get(x) or Operand(x, False)

    for node in _core.toposort(list(outputs), list(replaced)):
        operands = [operand(x) for x in node.inputs]
        if any(x.batched for x in operands):
            made = apply_batched(node, operands)
        elif all(new.value is old for new, old in zip(operands, node.inputs, strict=True)):
            continue
        else:
            applied = node.op.make_node(*(x.value for x in operands))
            made = [Operand(y, False) for y in applied.outputs]
        known.update(zip(node.outputs, made, strict=True))
    return [operand(y) for y in outputs]


def over_batch(graph: FrozenFunctionGraph, operands: Sequence[Operand]) -> list[Operand]:
    """Return the outputs of a frozen graph whose inputs are ``operands``."""
    inputs = [x.type(None) for x in graph.inputs]
    return taken_over_batch(graph.bind(inputs), dict(zip(inputs, operands, strict=True)))
