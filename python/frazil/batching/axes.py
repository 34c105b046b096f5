"""Batch rules of ops that name axes: with a batch in front, each axis moves by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from frazil._core import FrozenApply
from frazil.batching.registry import (
    BatchRule,
    Operand,
    Operands,
    batch_rule,
    batch_size,
    batched,
    rule_of,
)
from frazil.graph.op import Op
from frazil.tensor.cumulation import CumOp
from frazil.tensor.diagonals import AllocDiag, ExtractDiag
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.joining import Join
from frazil.tensor.lengths import Shape_i, length
from frazil.tensor.reductions import Reduce
from frazil.tensor.searching import Search
from frazil.tensor.sorting import ArgSort, Sort
from frazil.tensor.transposition import Transpose


def _shifted(op: Op) -> Op:
    """Return the op for operands with one more dimension in front."""
    given = cast(Any, op)
    if isinstance(op, Transpose):
        return Transpose((0, *(axis + 1 for axis in op.axes)))
    if hasattr(op, "axes"):
        return cast(Op, replace(given, axes=tuple(axis + 1 for axis in given.axes)))
    return cast(Op, replace(given, axis=given.axis + 1))


def _unary(op: Op) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand]:
        return batched(*_shifted(op).make_node(operands[0].value).outputs)

    return rule


for _kind in (ArgSort, CumOp, DropDims, ExpandDims, Reduce, Search, Sort, Transpose):
    batch_rule.register(_kind, cast(Callable[[Any], BatchRule], _unary))


@batch_rule.register
def _(op: Shape_i) -> BatchRule:
    """All elements of a batch have one shape: a length of it is one value."""

    def rule(node: FrozenApply, operands: Operands) -> list[Operand]:
        return [Operand(length(operands[0].value, op.axis + 1), False)]

    return rule


@batch_rule.register
def _(op: Join) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand]:
        size = batch_size(operands)
        return batched(*_shifted(op).make_node(*(x.spread(size) for x in operands)).outputs)

    return rule


@rule_of(ExtractDiag, AllocDiag)
def _in_front(node: FrozenApply, operands: Operands) -> list[Operand] | None:
    """The rule of ops whose first operand may have any number of dimensions in front."""
    x, *rest = operands
    if any(other.batched for other in rest):
        return None
    return batched(*node.op.make_node(x.value, *(other.value for other in rest)).outputs)
