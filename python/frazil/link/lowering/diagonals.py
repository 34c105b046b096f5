"""Diagonals of matrices, read and written.

A matrix in C order is a vector in which the diagonal has a constant stride: a row's length plus 1.
"""

from __future__ import annotations

import numpy as np

from frazil._core import FrozenApply
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.tensor.diagonals import AllocDiag, ExtractDiag, Eye
from frazil.tensor.lengths import lengths


@lower_node.register
def _(op: ExtractDiag, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    axes = (x.ndim - 2, x.ndim - 1)
    lowering.set_slot(y, lowering.builder.diagonal(lowering.slot(x), axes, op.offset))


@lower_node.register
def _(op: AllocDiag, node: FrozenApply, lowering: Lowering) -> None:
    x, *shape = node.inputs
    builder = lowering.builder
    sizes = lowering.sizes(lengths(x)[:-1])
    rows, columns = lowering.sizes(shape)
    count = lowering.size(lowering.shapes.lengths(x)[-1])
    builder.require_equal(
        count,
        _diagonal_length(rows, columns, op.offset, lowering),
        f"{op}: the given diagonal has {{a}} elements, that of the matrix {{b}}",
    )
    slot = _with_diagonal(lowering.slot(x), x.dtype, [*sizes, rows, columns], op.offset, lowering)
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: Eye, node: FrozenApply, lowering: Lowering) -> None:
    one = lowering.builder.constant(np.ones((), op.dtype))
    slot = _with_diagonal(one, op.dtype, lowering.sizes(node.inputs), op.offset, lowering)
    lowering.set_slot(node.outputs[0], slot)


def _with_diagonal(
    value: int, dtype: str, sizes: list[int], offset: int, lowering: Lowering
) -> int:
    """The slot of matrices of zeros, whose diagonal is ``value``, broadcast."""
    builder = lowering.builder
    *stack, rows, columns = sizes
    one = builder.size_literal(1)
    count = _diagonal_length(rows, columns, offset, lowering)
    step = builder.size_binary("add", columns, one)
    start = builder.size_literal(offset)
    if offset < 0:
        start = builder.size_binary("mul", builder.size_literal(-offset), columns)
    stop = builder.size_binary("add", start, builder.size_binary("mul", count, step))
    flat = builder.size_binary("mul", rows, columns)
    # The last stride may lead beyond the end; a start beyond the end stands for no elements.
    start, stop = (builder.size_binary("minimum", at, flat) for at in (start, stop))
    empty = builder.broadcast_to(builder.constant(np.zeros((), dtype)), [*stack, flat])
    whole = (None, None, one)
    window = [*(whole for _ in stack), (start, stop, step)]
    return builder.reshape(builder.update(empty, window, value, accumulate=False), sizes)


def _diagonal_length(rows: int, columns: int, offset: int, lowering: Lowering) -> int:
    builder = lowering.builder
    below, right = builder.size_literal(max(-offset, 0)), builder.size_literal(max(offset, 0))
    rows, columns = (
        builder.size_binary("sub", rows, below),
        builder.size_binary("sub", columns, right),
    )
    shorter = builder.size_binary("minimum", rows, columns)
    return builder.size_binary("maximum", shorter, builder.size_literal(0))
