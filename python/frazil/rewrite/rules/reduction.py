"""Reductions of reductions, of views, and of values that are equal along an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable, elemwise
from frazil.rewrite.definition import Law, Rule, rule
from frazil.rewrite.guard import holds
from frazil.rewrite.matched import application
from frazil.rewrite.sort import Float, KnownFloat, Number, Tensor
from frazil.rewrite.wildcard import any_kind
from frazil.scalar.constants import constant
from frazil.tensor.broadcasting import BroadcastTo, times
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import Shape_i, length, product, static_length
from frazil.tensor.reductions import All, Any, Max, Min, Peak, Prod, Reduce, Sum
from frazil.tensor.shapes import lengths_of
from frazil.tensor.transposition import Transpose

EXACT = (Max, Min, Peak, All, Any)
"""Reductions whose result does not depend on the order of elements."""

ROUNDED = (Sum, Prod)
"""Reductions that round: another order may change the last digits."""

summed = any_kind(Sum)
transposed = any_kind(Transpose)
expanded = any_kind(ExpandDims)
broadcast = any_kind(BroadcastTo)
length_of = any_kind(Shape_i)


def _reduced_once(node: FrozenApply, x: Variable) -> Variable:
    outer, inner = node.op, application(node.inputs[0]).op
    kept = [axis for axis in range(x.ndim) if axis not in inner.axes]
    axes = sorted([*inner.axes, *(kept[axis] for axis in outer.axes)])
    result: Variable = type(outer)(tuple(axes))(x)
    return result


def _reduced_untransposed(node: FrozenApply, x: Variable) -> Variable:
    """The reduction of the operand of a transpose, transposed if axes that are left move."""
    order = application(node.inputs[0]).op.axes
    axes = tuple(sorted(order[axis] for axis in node.op.axes))
    left = tuple(axis for axis in order if axis not in axes)
    reduced: Variable = type(node.op)(axes)(x)
    kept = sorted(left)
    moved = tuple(kept.index(axis) for axis in left)
    if moved == tuple(range(len(moved))):
        return reduced
    result: Variable = Transpose(moved)(reduced)
    return result


def _dropped(node: FrozenApply, x: Variable) -> Variable | None:
    """Axes of static length 1 are dropped instead of reduced."""
    axes = node.op.axes
    if not all(x.broadcastable[axis] for axis in axes):
        return None
    result: Variable = DropDims(axes)(x)
    return result


def _named(name: str, law: str, write: Callable[..., Law]) -> Rule:
    write.__name__ = name
    write.__doc__ = law
    return Rule(write)


def _rules_of(kind: type[Reduce]) -> tuple[Rule, ...]:
    """The rules that hold for every reduction, for one kind of reduction."""
    name = kind.__name__.lower()
    outer, inner = any_kind(kind), any_kind(kind, f"{kind.__name__}First")

    def again(x: Tensor) -> Law:
        return outer(inner(x)), _reduced_once

    def of_transposed(x: Tensor) -> Law:
        return outer(transposed(x)), _reduced_untransposed

    def of_one(x: Tensor) -> Law:
        return outer(x), _dropped

    return (
        _named(
            f"{name}_of_{name}",
            f"The {name} over some axes, then others, is that over all of them.",
            again,
        ),
        _named(
            f"{name}_of_transposed",
            f"The {name} is the same in any order of the axes.",
            of_transposed,
        ),
        _named(f"{name}_of_one", f"The {name} of one element is the element.", of_one),
    )


def _inferred(node: FrozenApply, x: Variable) -> Variable | None:
    inner = x.owner
    static = x.type.shape[node.op.axis]
    if static is not None:
        return length(x, node.op.axis)
    if inner is None:
        return None
    inputs = [tuple(length(y, axis) for axis in range(y.ndim)) for y in inner.inputs]
    shape = lengths_of(inner, inputs)[x.index]
    if shape is None or shape[node.op.axis] is node.outputs[0]:
        return None
    result: Variable = shape[node.op.axis]
    return result


@rule
def length_of_result(x: Tensor) -> Law:
    """The length of a result follows from the lengths of the operands."""
    return length_of(x), _inferred


def _sum_of_neg(node: FrozenApply, x: Variable) -> Variable:
    return elemwise(scalar.neg, node.op(x))


@rule
def sum_of_neg(x: Float) -> Law:
    """sum(-x) == -sum(x)."""
    return summed(-x), _sum_of_neg


def _out_of_the_sum(node: FrozenApply, x: Variable, y: Variable) -> Variable | None:
    over = node.inputs[0]
    if y.ndim or x.dtype != over.dtype or y.dtype != over.dtype or x.type != over.type:
        return None
    return elemwise(application(over).op.scalar_op, node.op(x), y)


def _is_large(c: Constant) -> bool:
    """Whether a sum is finite if ``c`` times the sum is finite."""
    return bool((np.isfinite(c.data) & (abs(c.data) >= 1)).all())


def _is_small(c: Constant) -> bool:
    """Whether a sum is finite if the sum divided by ``c`` is finite."""
    return bool(((c.data != 0) & (abs(c.data) <= 1)).all())


@rule
def sum_of_scaled(x: Float, c: KnownFloat) -> Law:
    """sum(x * c) == sum(x) * c where c is one number, at least 1: the sum of x is no larger."""
    return summed(x * c), _out_of_the_sum, holds(_is_large, c)


@rule
def sum_of_divided(x: Float, c: KnownFloat) -> Law:
    """sum(x / c) == sum(x) / c where c is one number, at most 1: the sum of x is no larger."""
    return summed(x / c), _out_of_the_sum, holds(_is_small, c)


def _repeated(x: Variable, count: Variable) -> Variable:
    """The sum of ``count`` times ``x``: 0 of nothing, even if ``x`` is infinite."""
    static = static_length(count)
    if static is None:
        some = elemwise(scalar.lt, 0, count)
        x = elemwise(scalar.where, some, x, constant(0, x.dtype))
    elif static == 0:
        x = elemwise(scalar.second, x, constant(0, x.dtype))
    return times(x, count)


def _sum_of_filled(node: FrozenApply, x: Variable, y: Variable) -> Variable | None:
    """``y`` has no dimensions: as many as ``x`` has elements along the axes."""
    axes = node.op.axes
    if y.ndim or len(axes) != x.ndim or y.dtype != node.outputs[0].dtype:
        return None
    return _repeated(y, product(length(x, axis) for axis in axes))


@rule
def sum_of_filled(x: Tensor, y: Number) -> Law:
    """sum(y in the shape of x) == y times the number of elements of x."""
    return summed(elemwise(scalar.second, x, y)), _sum_of_filled


def _sum_of_expanded(node: FrozenApply, x: Variable) -> Variable | None:
    added = application(node.inputs[0]).op.axes
    over = node.op.axes
    if not set(added) & set(over):
        return None
    ndim = node.inputs[0].ndim
    own = [axis for axis in range(ndim) if axis not in added]
    inner = tuple(own.index(axis) for axis in over if axis not in added)
    left = [axis for axis in range(ndim) if axis not in over]
    outer = tuple(left.index(axis) for axis in added if axis not in over)
    reduced = node.op.__class__(inner)(x) if inner else x
    result: Variable = ExpandDims(outer)(reduced) if outer else reduced
    return result


@rule
def sum_of_expanded(x: Tensor) -> Law:
    """A sum over one element adds nothing."""
    return summed(expanded(x)), _sum_of_expanded


def _sum_of_broadcast(
    node: FrozenApply, x: Variable, lengths: tuple[Variable, ...]
) -> Variable | None:
    over = node.inputs[0]
    missing = over.ndim - x.ndim
    repeated = [
        axis
        for axis in range(over.ndim)
        if not over.broadcastable[axis] and (axis < missing or x.broadcastable[axis - missing])
    ]
    axes = node.op.axes
    if set(axes) != set(repeated) or set(range(missing)) - set(axes):
        return None
    dropped = tuple(axis - missing for axis in axes if axis >= missing)
    one: Variable = DropDims(dropped)(x) if dropped else x
    return _repeated(one, product(lengths[axis] for axis in axes))


@rule
def sum_of_broadcast(x: Number, *lengths: Tensor) -> Law:
    """The sum of one element that is repeated is a product."""
    return summed(broadcast(x, *lengths)), _sum_of_broadcast


EXACT_RULES = (length_of_result, *(one for kind in EXACT for one in _rules_of(kind)))

RULES = (
    *(one for kind in ROUNDED for one in _rules_of(kind)),
    sum_of_filled,
    sum_of_expanded,
    sum_of_broadcast,
    sum_of_neg,
    sum_of_scaled,
    sum_of_divided,
)
