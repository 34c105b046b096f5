"""Views of views, and views that change nothing."""

from __future__ import annotations

from frazil._core import Constant, FrozenApply, Variable
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.matched import application
from frazil.rewrite.sort import Tensor
from frazil.rewrite.wildcard import any_kind
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import lengths
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

transposed = any_kind(Transpose)
transposed_first = any_kind(Transpose, "TransposeFirst")
expanded = any_kind(ExpandDims)
expanded_first = any_kind(ExpandDims, "ExpandDimsFirst")
dropped = any_kind(DropDims)
dropped_first = any_kind(DropDims, "DropDimsFirst")
reshaped = any_kind(Reshape)
broadcast = any_kind(BroadcastTo)


def _applied(op: object, x: Variable) -> Variable:
    assert callable(op)
    result: Variable = op(x)
    return result


def _once_transposed(node: FrozenApply, x: Variable) -> Variable:
    inner = application(node.inputs[0]).op.axes
    axes = tuple(inner[axis] for axis in node.op.axes)
    return _transposed(x, axes)


def _transposed(x: Variable, axes: tuple[int, ...]) -> Variable:
    return x if axes == tuple(range(x.ndim)) else _applied(Transpose(axes), x)


@rule
def transpose_of_transpose(x: Tensor) -> Law:
    """Two permutations are one."""
    return transposed(transposed_first(x)), _once_transposed


def _untransposed(node: FrozenApply, x: Variable) -> Variable | None:
    return x if node.op.axes == tuple(range(x.ndim)) else None


@rule
def transpose_in_order(x: Tensor) -> Law:
    """The permutation that moves nothing is x."""
    return transposed(x), _untransposed


def _once_expanded(node: FrozenApply, x: Variable) -> Variable:
    outer, inner = node.op.axes, application(node.inputs[0]).op.axes
    kept = [axis for axis in range(node.outputs[0].ndim) if axis not in outer]
    axes = sorted([*outer, *(kept[axis] for axis in inner)])
    return _applied(ExpandDims(tuple(axes)), x)


@rule
def expand_of_expand(x: Tensor) -> Law:
    """Dimensions of length 1 that are added twice are added at once."""
    return expanded(expanded_first(x)), _once_expanded


def _once_dropped(node: FrozenApply, x: Variable) -> Variable:
    outer, inner = node.op.axes, application(node.inputs[0]).op.axes
    kept = [axis for axis in range(x.ndim) if axis not in inner]
    axes = sorted([*inner, *(kept[axis] for axis in outer)])
    return _applied(DropDims(tuple(axes)), x)


@rule
def drop_of_drop(x: Tensor) -> Law:
    """Dimensions of length 1 that are dropped twice are dropped at once."""
    return dropped(dropped_first(x)), _once_dropped


def _dropped_from_expanded(node: FrozenApply, x: Variable) -> Variable | None:
    gone, added = node.op.axes, application(node.inputs[0]).op.axes
    both = set(gone) & set(added)
    if not both:
        return None
    # Positions among the dimensions without those that were added and dropped.
    rest = [axis for axis in range(node.inputs[0].ndim) if axis not in both]
    added = tuple(rest.index(axis) for axis in added if axis not in both)
    gone = tuple(rest.index(axis) for axis in gone if axis not in both)
    between = _applied(ExpandDims(added), x) if added else x
    return _applied(DropDims(gone), between) if gone else between


@rule
def drop_of_expand(x: Tensor) -> Law:
    """A dimension that is added and dropped is left out."""
    return dropped(expanded(x)), _dropped_from_expanded


def _expanded_again(node: FrozenApply, x: Variable) -> Variable | None:
    return x if node.op.axes == application(node.inputs[0]).op.axes else None


@rule
def expand_of_drop(x: Tensor) -> Law:
    """A dimension that is dropped and added again stays, if its type says 1."""
    return expanded(dropped(x)), _expanded_again


def _reshaped_once(node: FrozenApply, x: Variable, shape: tuple[Variable, ...]) -> Variable | None:
    inner = x.owner
    if inner is None or not isinstance(inner.op, Reshape):
        return None
    result: Variable = node.op(inner.inputs[0], *shape)
    return result if node.output_types[0].accepts(result.type) else None


@rule
def reshape_of_reshape(x: Tensor, *shape: Tensor) -> Law:
    """x in one shape and then in another is x in the other."""
    return reshaped(x, *shape), _reshaped_once


def _unchanged(node: FrozenApply, x: Variable, shape: tuple[Variable, ...]) -> Variable | None:
    static = x.type.shape
    if len(shape) != x.ndim:
        return None
    for length, own, known in zip(shape, lengths(x), static, strict=True):
        inferred = isinstance(length, Constant) and length.data == -1
        if not inferred and length is not own:
            return None
        if known is None and inferred and [*shape].count(length) > 1:
            return None
    return x


@rule
def reshape_to_own_shape(x: Tensor, *shape: Tensor) -> Law:
    """x in the shape of x is x."""
    return reshaped(x, *shape), _unchanged


@rule
def broadcast_to_own_shape(x: Tensor, *shape: Tensor) -> Law:
    """x broadcast to the shape of x is x."""
    return broadcast(x, *shape), _unchanged


RULES = (
    transpose_of_transpose,
    transpose_in_order,
    expand_of_expand,
    drop_of_drop,
    drop_of_expand,
    expand_of_drop,
    reshape_of_reshape,
    reshape_to_own_shape,
    broadcast_to_own_shape,
)
