"""Rules for ops that change, declare or read shapes, and for ops that make arrays from lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import basic as ptb
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import NoneTypeT

import frazil.tensor as ft
from frazil._core import Constant as OwnConstant
from frazil._core import Variable
from frazil.inner.ifelse import ifelse
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.integers import (
    are_one_length,
    constant_value_of,
    elements,
    integer,
    required_elements,
)
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.rules.checks import checked
from frazil.interop.pytensor.translation import Results, Translation, cast, rule
from frazil.tensor.lengths import add, as_length, is_length

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp


@rule(DimShuffle)
def _dimshuffle(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = t[node.inputs[0]]
    dropped = [i for i in range(x.ndim) if i not in op.new_order]
    if isinstance(x, OwnConstant):
        kept = [i for i in op.new_order if i != "x"]
        values = x.data.transpose([*kept, *dropped])
        lengths = iter(values.shape)
        return ft.constant(values.reshape([1 if i == "x" else next(lengths) for i in op.new_order]))
    if any(x.type.shape[i] is None for i in dropped):
        x = ft.specify_shape(x, [1 if i in dropped else None for i in range(x.ndim)])
    return ft.dimshuffle(x, *op.new_order)


@rule(Shape)
def _shape(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    lengths = ft.shape(t[node.inputs[0]])
    return ft.stack(list(lengths)) if lengths else ft.constant(np.zeros(0, "int64"))


@rule(Shape_i)
def _shape_i(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.as_tensor(ft.shape(t[node.inputs[0]])[op.i])


@rule(*classes("TypeCastingOp"))
def _type_cast(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return t[node.inputs[0]]  # dimensions get names, or lose them


@rule(SpecifyShape)
def _specify_shape(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = t[node.inputs[0]]
    if not x.ndim:
        return x
    lengths = [None if isinstance(n.type, NoneTypeT) else integer(n, t) for n in node.inputs[1:]]
    return ft.specify_shape(x, lengths)


@rule(Reshape)
def _reshape(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, shape = node.inputs
    lengths = required_elements(shape, t)
    if any(isinstance(n, Variable) for n in lengths) and not _says_lengths(shape):
        # One of them may be -1, which only the call knows.
        given = [ft.as_tensor(n) for n in lengths]
        product = ft.abs(reduce(ft.mul, given))
        rest = ft.floor_div(ft.size(t[x]), ft.maximum(product, 1))
        unsigned = [ft.switch(ft.lt(own, 0), cast(rest, own.dtype), own) for own in given]
        return ft.reshape(t[x], unsigned)
    return ft.reshape(t[x], lengths)


def _says_lengths(shape: Any) -> bool:
    """Whether lengths that are variables come from the shapes of arrays, and are never -1."""
    node = shape.owner
    if node is None:
        return False
    if isinstance(node.op, Shape | Shape_i):
        return True
    if isinstance(node.op, DimShuffle) and not node.inputs[0].type.ndim:
        return isinstance(node.inputs[0], Constant) or _says_lengths(node.inputs[0])
    through = (ptb.MakeVector, ptb.Join, ptb.TensorFromScalar, ptb.ScalarFromTensor)
    if isinstance(node.op, through):
        return all(isinstance(x, Constant) or _says_lengths(x) for x in node.inputs)
    name = type(getattr(node.op, "scalar_op", None)).__name__
    if name in ("Cast", "Mul", "Add", "Identity", "Maximum"):
        return all(
            (x.data >= 0).all() if isinstance(x, Constant) else _says_lengths(x)
            for x in node.inputs
        )
    return type(node.op).__name__ == "Subtensor" and _says_lengths(node.inputs[0])


@rule(*classes("JoinDims"))
def _join_dims(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = t[node.inputs[0]]
    lengths, first, end = ft.shape(x), op.start_axis, op.start_axis + op.n_axes
    if op.n_axes == 0:
        return ft.expand_dims(x, first)
    return ft.reshape(x, [*lengths[:first], reduce(ft.mul, lengths[first:end]), *lengths[end:]])


@rule(*classes("SplitDims"))
def _split_dims(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = t[node.inputs[0]]
    lengths = ft.shape(x)
    parts = required_elements(node.inputs[1], t)
    return ft.reshape(x, [*lengths[: op.axis], *parts, *lengths[op.axis + 1 :]])


@rule(ptb.Alloc)
def _alloc(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    value, *shape = node.inputs
    return ft.broadcast_to(t[value], [integer(n, t) for n in shape])


@rule(ptb.AllocEmpty)
def _alloc_empty(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    zero = ft.constant(np.zeros((), op.dtype))
    return ft.broadcast_to(zero, [integer(n, t) for n in node.inputs])


@rule(ptb.MakeVector)
def _make_vector(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    if not node.inputs:
        return ft.constant(np.zeros(0, op.dtype))
    return ft.stack([cast(t[x], op.dtype) for x in node.inputs])


def _axis(op: PyTensorOp, inputs: list[object]) -> tuple[object, list[object]]:
    """The axis of a Join or a Split, and its other inputs; it is a property or an input.

    An int, or PyTensor's variable where only the call knows it.
    """
    if hasattr(op, "axis"):
        return op.axis, inputs
    at = 0 if isinstance(op, ptb.Join) else 1
    axis = constant_value_of(inputs[at])
    found = inputs[at] if axis is None else int(axis)
    return found, [x for i, x in enumerate(inputs) if i != at]


def _along(
    axis: object, ndim: int, make: Callable[[int], list[Variable]], t: Translation
) -> list[Variable]:
    """The result of ``make`` for an axis; a choice of results if only the call knows the axis."""
    if isinstance(axis, int):
        return make(axis)
    given = cast(t[axis], "int64")
    error = CheckAndRaise(ValueError, f"axis is out of bounds for {ndim} dimensions")
    given = checked(error, given, [ft.and_(given >= -ndim, given < ndim)], t)
    at, found = given % ndim, make(ndim - 1)
    for one in reversed(range(ndim - 1)):
        found = list(ifelse(ft.eq(at, one), make(one), found))
    return found


@rule(ptb.Join)
def _join(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    dtype = node.outputs[0].type.dtype
    axis, inputs = _axis(op, node.inputs)
    parts = [cast(t[x], dtype) for x in inputs]
    return _along(axis, parts[0].ndim, lambda at: [ft.concatenate(parts, axis=at)], t)


@rule(ptb.Split)
def _split(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    axis, (x, sizes) = _axis(op, node.inputs)
    whole = t[x]
    parts = elements(sizes, t)
    if parts is None:  # PyTensor takes any vector, if the op says how many elements it has.
        parts = [t[sizes][i] for i in range(op.len_splits)]
    parts = [n if isinstance(n, int) else cast(n, "int64") for n in parts]
    whole = _of_sum(whole, axis, parts, t)
    ends: list[Any] = [0]
    for n in parts:
        ends.append(ends[-1] + (max(n, 0) if isinstance(n, int) else n))

    def cut(at: int) -> list[Variable]:
        before = (slice(None),) * (at % whole.ndim)
        return [whole[(*before, slice(a, b))] for a, b in pairwise(ends)]

    return _along(axis, whole.ndim, cut, t)


def _of_sum(x: Variable, axis: Any, parts: list[Any], t: Translation) -> Variable:
    """``x``; a call raises where the parts along the axis are not all of it."""
    sized = all(isinstance(n, int) and n >= 0 for n in parts) and isinstance(axis, int)
    if sized and x.type.shape[axis] == sum(parts):
        return x
    positive = all(n >= 0 if isinstance(n, int) else is_length(n) for n in parts)
    if positive and isinstance(axis, int):  # as in gradients of Join
        total = reduce(add, (as_length(n) for n in parts), as_length(0))
        if are_one_length(total, ft.shape(x)[axis]):
            return x
    lengths = ft.stack([cast(n, "int64") for n in ft.shape(x)])
    place = axis % x.ndim if isinstance(axis, int) else cast(t[axis], "int64") % x.ndim
    given = ft.stack([ft.constant(np.int64(n)) if isinstance(n, int) else n for n in parts])
    error = CheckAndRaise(ValueError, "the sizes of a split are the length, and none is negative")
    right = [ft.eq(ft.sum(given), lengths[place]), ft.all(given >= 0)]
    return checked(error, x, right, t)


@rule(ptb.ARange)
def _arange(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    # A range to a length that is known to be 1 broadcasts, as after PyTensor's own rewrites.
    start, stop, step = (_end_of_range(x, t) for x in node.inputs)
    return ft.arange(start, stop, step, dtype=op.dtype)


def _end_of_range(x: Any, t: Translation) -> Any:
    if isinstance(x, Constant):
        return x.data.item()
    return integer(x, t) if x.dtype == "int64" else t[x]


@rule(ptb.Eye)
def _eye(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    n, m, k = node.inputs
    if not isinstance(k, Constant):
        rows = ft.arange(integer(n, t))[:, None]
        return cast(ft.eq(rows + t[k], ft.arange(integer(m, t))[None]), op.dtype)
    return ft.eye(integer(n, t), integer(m, t), int(k.data), dtype=op.dtype)


@rule(ptb.ExtractDiag)
def _extract_diag(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.diagonal(t[node.inputs[0]], op.offset, op.axis1, op.axis2)


@rule(ptb.Nonzero)
def _nonzero(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return list(ft.nonzero(t[node.inputs[0]]))


@rule(*classes("Repeat"))
def _repeat(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, repeats = node.inputs
    if repeats.type.ndim != 0 or not isinstance(x.type, TensorType):
        return performed(node, t)
    return ft.repeat(t[x], integer(repeats, t), axis=op.axis)
