"""Operands of a node that are read as values, and operands that are only lengths."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op
from frazil.random.draw import Draw
from frazil.scan.op import Scan
from frazil.tensor.basic_indexing import IncSubtensor, Subtensor
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.checks import Check
from frazil.tensor.creation import Full
from frazil.tensor.diagonals import AllocDiag, Eye
from frazil.tensor.lengths import Shape_i
from frazil.tensor.ranges import ARange
from frazil.tensor.reshaping import Reshape


@singledispatch
def length_range(op: Op) -> tuple[int, int | None]:
    """The range of the operands that are only lengths: its start and its end (None: no end)."""
    return 0, 0


@length_range.register
def _(op: AllocDiag | BroadcastTo | Check | Full | Reshape | Subtensor) -> tuple[int, int | None]:
    return 1, None


@length_range.register
def _(op: IncSubtensor) -> tuple[int, int | None]:
    return 2, None


@length_range.register
def _(op: Eye | Shape_i) -> tuple[int, int | None]:
    return 0, None


@length_range.register
def _(op: ARange) -> tuple[int, int | None]:
    return (0, None) if op.dtype == "int64" else (0, 0)


@length_range.register
def _(op: Scan) -> tuple[int, int | None]:
    return 0, 1


@length_range.register
def _(op: Draw) -> tuple[int, int | None]:
    return 1 + op.arity, None


def value_operands(node: FrozenApply) -> Sequence[Variable]:
    """The operands whose elements the node reads."""
    first, end = length_range(node.op)
    return [*node.inputs[:first], *(() if end is None else node.inputs[end:])]


def length_operands(node: FrozenApply) -> Sequence[Variable]:
    """The operands that are only lengths."""
    first, end = length_range(node.op)
    return node.inputs[first:end]
