"""Batch rules of ops that take lengths: they must be the same for all elements of a batch."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.batching.registry import (
    Operand,
    Operands,
    batch_size,
    batched,
    rule_of,
)
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.buffers import Distinct, distinct
from frazil.tensor.creation import Full
from frazil.tensor.lengths import floor_divide, product, static_length
from frazil.tensor.reshaping import Reshape


def _same_lengths(operands: Operands) -> bool:
    """Whether ``operands``, which are lengths, are the same for all elements."""
    return not any(n.batched for n in operands)


@rule_of(BroadcastTo)
def _broadcast_to(node: FrozenApply, operands: Operands) -> list[Operand] | None:
    x, *shape = operands
    if not _same_lengths(shape):
        return None
    values = [n.value for n in shape]
    return batched(BroadcastTo()(x.of_rank(len(shape)), batch_size(operands), *values))


@rule_of(Full)
def _full(node: FrozenApply, operands: Operands) -> list[Operand] | None:
    outputs = _broadcast_to(node, operands)
    return None if outputs is None else batched(distinct(outputs[0].value))


@rule_of(Distinct)
def _distinct(node: FrozenApply, operands: Operands) -> list[Operand]:
    return batched(distinct(operands[0].value))


@rule_of(Reshape)
def _reshape(node: FrozenApply, operands: Operands) -> list[Operand] | None:
    x, *shape = operands
    if not _same_lengths(shape):
        return None
    target = _resolved([n.value for n in shape], x)
    return batched(Reshape(len(target) + 1)(x.value, batch_size(operands), *target))


def _resolved(target: Sequence[Variable], x: Operand) -> list[Variable]:
    """Return the lengths with -1 worked out: of an empty batch it could not be inferred."""
    others = [n for n in target if static_length(n) != -1]
    if len(others) == len(target):
        return list(target)
    rest = floor_divide(product(x.element_lengths), product(others))
    return [rest if static_length(n) == -1 else n for n in target]
