"""Batch rules of basic indexing.

Bounds of slices must be the same for all elements of a batch. A position may differ; the batch rule
then indexes by arrays.
"""

from __future__ import annotations

from collections.abc import Iterator

from frazil._core import FrozenApply, Variable
from frazil.batching.advanced_indexing import increase, pick
from frazil.batching.registry import BatchRule, Operand, Operands, batch_rule, batch_size, batched
from frazil.graph.dataclass import dataclass
from frazil.tensor.advanced_indexing import FULL, INDEX
from frazil.tensor.basic_indexing import (
    DYNAMIC,
    HELD,
    WHOLE,
    IncSubtensor,
    Slice,
    Subtensor,
    Template,
    part_lengths,
)


@dataclass(frozen=True)
class _Index:
    """A template taken apart: first what is the same for all elements, then what differs."""

    template: Template
    """Slices and positions that are the same for all elements; others are whole dimensions."""
    dynamic: list[Variable]
    """Its dynamic operands."""
    positions: list[Operand]
    """The positions that differ."""
    axes: list[int]
    """Where their dimensions are in the part that ``template`` takes."""

    @staticmethod
    def of(template: Template, dynamic: Operands) -> _Index | None:
        """The index that ``template`` gives; None where a bound of a slice is batched."""
        rest: Iterator[Operand] = iter(dynamic)
        same: list[int | str | Slice] = []
        values: list[Variable] = []
        positions: list[Operand] = []
        axes: list[int] = []
        dimension = 0
        for entry in template:
            if isinstance(entry, tuple):
                bounds = [next(rest) for bound in entry[:2] if bound == DYNAMIC]
                if any(x.batched for x in bounds):
                    return None
                values += [x.value for x in bounds]
            elif entry == DYNAMIC:
                position = next(rest)
                if position.batched:
                    positions.append(position)
                    axes.append(dimension)
                    same.append(WHOLE)
                    dimension += 1
                    continue
                values.append(position.value)
            same.append(entry)
            dimension += isinstance(entry, tuple)
        return _Index(tuple(same), values, positions, axes)

    def advanced(self, ndim: int) -> tuple[str, ...]:
        """The template of the positions that differ, for a part of ``ndim`` dimensions."""
        return tuple(INDEX if axis in self.axes else FULL for axis in range(ndim))

    @property
    def takes_all(self) -> bool:
        """Whether the part that is the same for all elements is the whole."""
        return all(entry in (WHOLE, HELD) for entry in self.template)

    def part(self, x: Operand) -> Operand:
        """The part of ``x`` that ``template`` takes, for an operand that is batched or is not."""
        if self.takes_all:
            return x
        template = (WHOLE, *self.template) if x.batched else self.template
        return Operand(Subtensor(template)(x.value, *self.dynamic), x.batched)


@batch_rule.register
def _(op: Subtensor) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand] | None:
        x, *dynamic = operands
        index = _Index.of(op.template, dynamic)
        if index is None:
            return None
        part = index.part(x)
        if not index.positions:
            return [part]
        return batched(pick(index.advanced(part.ndim), part, index.positions))

    return rule


@batch_rule.register
def _(op: IncSubtensor) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand] | None:
        x, y, *dynamic = operands
        index = _Index.of(op.template, dynamic)
        if index is None:
            return None
        whole = Operand(x.spread(batch_size(operands)), True)
        template = (WHOLE, *index.template)
        if not index.positions:
            rank = len(part_lengths(op.template, x.element_lengths, index.dynamic))
            increased: Variable = IncSubtensor(template, op.set)(
                whole.value, y.of_rank(rank), *index.dynamic
            )
            return batched(increased)
        part = index.part(whole)
        changed = increase(index.advanced(part.ndim), op.set, part, y, index.positions)
        if not index.takes_all:
            changed = IncSubtensor(template, True)(whole.value, changed, *index.dynamic)
        return batched(changed)

    return rule
