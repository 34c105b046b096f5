"""Rules for reductions, and for ops that sort, search and accumulate along a dimension."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scalar import basic as ps
from pytensor.tensor import math as ptm
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.sort import ArgSortOp, SortOp

import frazil.tensor as ft
from frazil._core import Variable
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.translation import Results, Translation, cast, rule

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp


@rule(CAReduce)
def _reduce(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, out = t[node.inputs[0]], node.outputs[0].type
    axis = tuple(range(x.ndim)) if op.axis is None else tuple(a for a in op.axis if a < x.ndim)
    kind = type(op.scalar_op)
    acc = getattr(op, "acc_dtype", None) or out.dtype
    if not axis:
        return cast(x, out.dtype)
    if kind is ps.Add:
        return cast(ft.sum(cast(x, acc), axis=axis), out.dtype)
    if kind is ps.Mul:
        return cast(ft.prod(cast(x, acc), axis=axis), out.dtype)
    if kind is ptm.MulWithoutZeros:
        x = cast(x, acc)
        one = cast(ft.constant(1), acc)
        return cast(ft.prod(ft.switch(ft.eq(x, 0), one, x), axis=axis), out.dtype)
    if kind in (ps.AND, ps.OR) and "bool" in (x.dtype, out.dtype):
        fold = ft.all if kind is ps.AND else ft.any
        return fold(cast(x, "bool"), axis=axis)
    if kind in (ps.Maximum, ps.Minimum):
        return _extreme(op, node, x, axis, t)
    return performed(node, t)


def _extreme(
    op: PyTensorOp, node: Apply, x: Variable, axis: tuple[int, ...], t: Translation
) -> Results:
    largest = isinstance(op.scalar_op, ps.Maximum)
    fold = ft.max if largest else ft.min
    if not getattr(op, "initial", False):
        return performed(node, t) if 0 in x.type.shape else fold(x, axis=axis)
    # Newer versions of PyTensor give what is least, or largest, where there are no elements.
    end = ft.constant(np.asarray(op.initial_value(x.dtype), x.dtype))
    if all(x.type.shape[i] for i in axis):
        return (ft.maximum if largest else ft.minimum)(fold(x, axis=axis), end)
    rows = x if len(axis) == 1 else _joined(x, axis)
    at = axis[0] if len(axis) == 1 else rows.ndim - 1
    row = ft.broadcast_to(end, [1 if i == at else n for i, n in enumerate(ft.shape(rows))])
    return fold(ft.concatenate([rows, row], axis=at), axis=at)


def _joined(x: Variable, axes: tuple[int, ...]) -> Variable:
    """``x`` with these dimensions as one, the last."""
    kept = [i for i in range(x.ndim) if i not in axes]
    lengths = ft.shape(x)
    return ft.reshape(
        ft.dimshuffle(x, *kept, *axes),
        [*(lengths[i] for i in kept), reduce(ft.mul, [lengths[i] for i in axes])],
    )


@rule(ptm.Argmax)
def _argmax(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = t[node.inputs[0]]
    axes = tuple(range(x.ndim)) if op.axis is None else tuple(op.axis)
    if not axes:
        return ft.zeros_like(x, dtype="int64")
    if len(axes) == 1:
        return ft.argmax(x, axis=axes[0])
    return ft.argmax(x) if len(axes) == x.ndim else ft.argmax(_joined(x, axes), axis=-1)


@rule(CumOp)
def _cumulate(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    fold = ft.cumsum if op.mode == "add" else ft.cumprod
    dtype = node.outputs[0].type.dtype
    return cast(fold(cast(t[node.inputs[0]], dtype), axis=op.axis), dtype)


def _sort_axis(op: PyTensorOp, node: Apply) -> int | None:
    """The axis, which is a property or an input."""
    if len(node.inputs) == 1:
        axis: int | None = op.axis
        return axis
    given = node.inputs[1]
    return int(given.data) if isinstance(given, Constant) and given.data is not None else None


@rule(SortOp)
def _sort(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    axis = _sort_axis(op, node)
    return performed(node, t) if axis is None else ft.sort(t[node.inputs[0]], axis=axis)


@rule(ArgSortOp)
def _argsort(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    axis = _sort_axis(op, node)
    if axis is None:
        return performed(node, t)
    return cast(ft.argsort(t[node.inputs[0]], axis=axis), node.outputs[0].type.dtype)


@rule(*classes("SearchsortedOp"))
def _searchsorted(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    ordered, values, *sorter = t.operands(node)
    return ft.searchsorted(ordered, values, op.side, *sorter)
