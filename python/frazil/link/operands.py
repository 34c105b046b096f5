"""Which operands of a node are read as values, and which only give lengths."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from frazil._core import FrozenApply, Variable
from frazil.op import Op
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.diagonals import AllocDiag, Eye
from frazil.tensor.indexing import IncSubtensor, Subtensor
from frazil.tensor.lengths import Shape_i
from frazil.tensor.ranges import ARange
from frazil.tensor.reshaping import Reshape


@singledispatch
def _first_length(op: Op, node: FrozenApply) -> int:
    """The position from which on operands only give lengths."""
    return len(node.inputs)


@_first_length.register(AllocDiag)
@_first_length.register(BroadcastTo)
@_first_length.register(Full)
@_first_length.register(Reshape)
@_first_length.register(Subtensor)
def _(op: Op, node: FrozenApply) -> int:
    return 1


@_first_length.register
def _(op: IncSubtensor, node: FrozenApply) -> int:
    return 2


@_first_length.register(Eye)
@_first_length.register(Shape_i)
def _(op: Op, node: FrozenApply) -> int:
    return 0


@_first_length.register
def _(op: ARange, node: FrozenApply) -> int:
    return 0 if op.dtype == "int64" else len(node.inputs)


def value_operands(node: FrozenApply) -> Sequence[Variable]:
    """The operands whose elements the node reads."""
    return node.inputs[: _first_length(node.op, node)]


def length_operands(node: FrozenApply) -> Sequence[Variable]:
    """The lengths that the node reads."""
    if isinstance(node.op, Shape_i):
        return node.outputs
    return node.inputs[_first_length(node.op, node) :]
