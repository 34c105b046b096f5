"""Batch rules of indexing by arrays of integers."""

from __future__ import annotations

from frazil._core import FrozenApply, Variable
from frazil.batching.registry import BatchRule, Operand, Operands, batch_rule, batch_size, batched
from frazil.tensor.advanced_indexing import (
    FULL,
    INDEX,
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    AdvancedTemplate,
    index_position,
)
from frazil.tensor.dims import expand_dims
from frazil.tensor.lengths import length
from frazil.tensor.ranges import arange
from frazil.tensor.transposition import moveaxis


@batch_rule.register
def _(op: AdvancedSubtensor) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand]:
        x, *indices = operands
        return batched(pick(op.template, x, indices))

    return rule


@batch_rule.register
def _(op: AdvancedIncSubtensor) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand]:
        x, y, *indices = operands
        whole = Operand(x.spread(batch_size(operands)), True)
        return batched(increase(op.template, op.set, whole, y, indices))

    return rule


def pick(template: AdvancedTemplate, x: Operand, indices: Operands) -> Variable:
    """Return the batch of parts of ``x`` at the positions that index arrays give.

    ``x`` or one of ``indices`` is batched. A position without dimensions is an index array, too.
    """
    if not x.batched:
        ndim = max(index.ndim for index in indices)
        part: Variable = AdvancedSubtensor(template)(x.value, *(i.of_rank(ndim) for i in indices))
        return moveaxis(part, index_position(template), 0)
    wider, arrays = _with_batch(template, x, indices)
    part = AdvancedSubtensor(wider)(x.value, *arrays)
    now, wanted = _orders(template, x, indices)
    return moveaxis(part, now, wanted)


def increase(
    template: AdvancedTemplate, put: bool, x: Operand, y: Operand, indices: Operands
) -> Variable:
    """Return the batch ``x`` with ``y`` added at positions, or put there if ``put``."""
    wider, arrays = _with_batch(template, x, indices)
    rank = template.count(FULL) + max(index.ndim for index in indices)
    aligned = y.of_rank(rank)
    if not y.batched:
        aligned = expand_dims(aligned, tuple(range(1 + rank - y.ndim)))
    now, wanted = _orders(template, x, indices)
    increased: Variable = AdvancedIncSubtensor(wider, put)(
        x.value, moveaxis(aligned, wanted, now), *arrays
    )
    return increased


def _with_batch(
    template: AdvancedTemplate, x: Operand, indices: Operands
) -> tuple[AdvancedTemplate, list[Variable]]:
    """Return the template and the index arrays for the batch ``x``, whose batch is axis 0."""
    if not any(index.batched for index in indices):
        return (FULL, *template), [index.value for index in indices]
    ndim = max(index.ndim for index in indices)
    each = expand_dims(arange(length(x.value, 0)), tuple(range(1, 1 + ndim)))
    return (INDEX, *template), [each, *(index.of_rank(ndim) for index in indices)]


def _orders(
    template: AdvancedTemplate, x: Operand, indices: Operands
) -> tuple[list[int], list[int]]:
    """Return where dimensions are in the part that the wider template takes, and belong.

    These are the dimension of the batch, which belongs in front, and those of the index arrays.
    """
    ndim = max(index.ndim for index in indices)
    at = index_position(template)
    if any(index.batched for index in indices):
        # Those of the batch and of the indices are one group: in front, as the batch is indexed.
        return list(range(1 + ndim)), [0, *range(1 + at, 1 + at + ndim)]
    wider = index_position((FULL, *template))
    if wider == 0:  # the indexed dimensions are apart, so the arrays' dimensions come first
        return [ndim, *range(ndim)], [0, *range(1, 1 + ndim)]
    return [0], [0]
