"""Indexing by arrays of integers: reading, replacing and increasing elements anywhere in a tensor.

A *template* says of each dimension of ``x`` whether it is taken whole (:data:`FULL`) or indexed
(:data:`INDEX`). The index arrays are operands, one for each indexed dimension; they broadcast
together. As in NumPy, the broadcast dimensions stand in place of the indexed ones if these are
neighbours, else in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import constant
from frazil.tensor.basic_indexing import check_part
from frazil.tensor.broadcasting import BroadcastTo, check_lengths, unbroadcast_like
from frazil.tensor.dims import expand_dims
from frazil.tensor.lengths import Lengths, lengths, literal, product
from frazil.tensor.ranges import ARange
from frazil.tensor.reshaping import reshape
from frazil.tensor.rounding import RoundedOp
from frazil.tensor.searching import Nonzero

FULL = "full"
INDEX = "index"

AdvancedTemplate: TypeAlias = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class AdvancedSubtensor(Op):
    """The elements of ``x`` at the positions that index arrays give; a new tensor.

    Negative positions count from the end. One that is out of bounds raises IndexError.
    """

    takes_complex = True

    template: AdvancedTemplate

    def make_node(self, x: Variable, *indices: Variable) -> FrozenApply:
        shape = _static_part(self.template, x, indices)
        return FrozenApply(self, [x, *indices], [TensorType(x.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, *indices = inputs
        _check_indices(node.inputs[1:], indices)
        part = x[_numpy_index(self.template, indices)]
        # If all indices are without dimensions, NumPy gives a scalar or a view.
        return (np.array(part) if part.base is not None or part.ndim == 0 else part,)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        x, *indices = input_shapes
        return (arrange(self.template, x, index_lengths(node.inputs[1:], indices)),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        x, *indices = inputs
        (g,) = output_gradients
        zeros = BroadcastTo()(constant(0, g.dtype), *lengths(x))
        g_x = AdvancedIncSubtensor(self.template, False)(zeros, g, *indices)
        return [g_x, *(None for _ in indices)]


@dataclass(frozen=True, eq=False)
class AdvancedIncSubtensor(RoundedOp):
    """``x`` with ``y`` added at the positions that index arrays give, or put there if ``set``.

    A new tensor. ``y`` broadcasts to the part. Values for a position that is given several times
    are added one after the other; with ``set`` the last one remains.
    """

    takes_complex = True

    template: AdvancedTemplate
    set: bool

    def __call__(self, *inputs: object) -> Any:
        # The values that are put keep their dtype.
        return Op.__call__(self, *inputs) if self.set else super().__call__(*inputs)

    def make_node(self, x: Variable, y: Variable, *indices: Variable) -> FrozenApply:
        part = _static_part(self.template, x, indices)
        check_part(y, x, part)
        return FrozenApply(self, [x, y, *indices], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, y, *indices = inputs
        _check_indices(node.inputs[2:], indices)
        result = x.copy()
        index_shape = np.broadcast_shapes(*(index.shape for index in indices))
        part = arrange(self.template, x.shape, index_shape)
        check_lengths(node.inputs[1], y.shape, part)
        if self.set:
            # The last value for a position remains, in C order; NumPy would go in memory order.
            indices = [np.asarray(np.broadcast_to(k, index_shape), order="C") for k in indices]
            y = np.asarray(y, order="C")
        index = _numpy_index(self.template, indices)
        if self.set:
            result[index] = y
        else:
            # NumPy 2.4 adds a vector wrongly at indices of more dimensions: it must not broadcast.
            np.add.at(result, index, np.broadcast_to(y, part))
        return (result,)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        x, y, *indices = inputs
        (g,) = output_gradients
        g_part = AdvancedSubtensor(self.template)(g, *indices)
        g_x = g
        if self.set:
            zero = constant(0, g.dtype)
            g_x = AdvancedIncSubtensor(self.template, True)(g, zero, *indices)
            if not _all_different(indices):
                remains = _remaining(self.template, x, indices)
                g_part = _core.elemwise(scalar.where, remains, g_part, zero)
        return [g_x, unbroadcast_like(g_part, y), *(None for _ in indices)]


def index_position(template: AdvancedTemplate) -> int:
    """Return where in the part the dimensions of the index arrays begin."""
    first = template.index(INDEX)
    last = len(template) - 1 - template[::-1].index(INDEX)
    return 0 if FULL in template[first:last] else first


def arrange(
    template: AdvancedTemplate, shape: Sequence[T], index_shape: Sequence[T]
) -> tuple[T, ...]:
    """Return the shape of the part: the lengths of whole dimensions, and of the indices."""
    whole = [n for n, entry in zip(shape, template, strict=True) if entry == FULL]
    at = index_position(template)
    return (*whole[:at], *index_shape, *whole[at:])


def index_lengths(indices: Sequence[Variable], shapes: Sequence[Lengths]) -> Lengths:
    """Return the lengths that index arrays of the given shapes broadcast to."""
    ndim = max(x.ndim for x in indices)

    def length(axis: int) -> Variable:
        own = [
            shape[axis]
            for x, shape in zip(indices, shapes, strict=True)
            if x.ndim >= -axis and not x.broadcastable[axis]
        ]
        return own[0] if own else literal(1)

    return tuple(length(axis) for axis in range(-ndim, 0))


def _static_part(
    template: AdvancedTemplate, x: Variable, indices: Sequence[Variable]
) -> tuple[int | None, ...]:
    """Return the static shape of a part of ``x``, having checked the operands."""
    if len(template) != x.ndim or not {INDEX} <= set(template) <= {FULL, INDEX}:
        raise TypeError(
            f"the template must say {FULL!r} or {INDEX!r} for each dimension of {x.type}, "
            f"and {INDEX!r} for one at least; given {template}"
        )
    integers = all(index.type.numpy_dtype.kind in "iu" for index in indices)
    if len(indices) != template.count(INDEX) or not integers:
        raise TypeError(
            f"the template {template} takes {template.count(INDEX)} arrays of integers; given "
            f"{[str(index.type) for index in indices]}"
        )
    for index, axis in zip(indices, _indexed(template), strict=True):
        if x.type.shape[axis] == 0 and 0 not in index.type.shape and None not in index.type.shape:
            raise IndexError(f"cannot index axis {axis} of {x.type}: it has no elements")
    return arrange(template, x.type.shape, _static_broadcast(indices))


def _static_broadcast(indices: Sequence[Variable]) -> tuple[int | None, ...]:
    ndim = max(x.ndim for x in indices)
    shape: list[int | None] = []
    for axis in range(-ndim, 0):
        own = [x.type.shape[axis] for x in indices if x.ndim >= -axis]
        known = {n for n in own if n not in (1, None)}
        if len(known) > 1:
            raise IndexError(
                "index arrays of shapes "
                f"{', '.join(str(x.type.shape) for x in indices)} do not broadcast together"
            )
        shape.append(known.pop() if known else (None if None in own else 1))
    return tuple(shape)


def _indexed(template: AdvancedTemplate) -> list[int]:
    return [axis for axis, entry in enumerate(template) if entry == INDEX]


def _numpy_index(template: AdvancedTemplate, indices: Sequence[Array]) -> tuple[Any, ...]:
    rest = iter(indices)
    return tuple(next(rest) if entry == INDEX else slice(None) for entry in template)


def _check_indices(indices: Sequence[Variable], arrays: Sequence[Array]) -> None:
    """Raise where NumPy would broadcast a length 1 of an index array that no type declared."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise IndexError(f"index arrays of shapes {shapes} do not broadcast together") from None
    for index, array in zip(indices, arrays, strict=True):
        try:
            check_lengths(index, array.shape, shape)
        except ValueError as error:
            raise IndexError(str(error)) from None


def _all_different(indices: Sequence[Variable]) -> bool:
    """Whether index arrays are known to give no position twice."""
    owners = {index.owner for index in indices}
    if len(owners) == 1 and (node := next(iter(owners))) is not None:
        return isinstance(node.op, Nonzero) and indices == list(node.outputs)
    arrays = [index.data for index in indices if isinstance(index, Constant)]
    if len(arrays) < len(indices) or any((array < 0).any() for array in arrays):
        return all(index.ndim == 0 for index in indices)
    positions = np.stack([array.ravel() for array in np.broadcast_arrays(*arrays)])
    return bool(np.unique(positions, axis=1).shape == positions.shape)


def _remaining(template: AdvancedTemplate, x: Variable, indices: Sequence[Variable]) -> Variable:
    """Return a mask of the elements of a part that remain in ``x``: the last for each position.

    The mask broadcasts to the part.
    """
    places = tuple(lengths(x)[axis] for axis in _indexed(template))
    shape = index_lengths(indices, [lengths(index) for index in indices])
    order = reshape(ARange("int64")(literal(0), product(shape), literal(1)), shape)
    everywhere = (INDEX,) * len(indices)
    nowhere = BroadcastTo()(constant(-1, "int64"), *places)
    last = AdvancedIncSubtensor(everywhere, True)(nowhere, order, *indices)
    remains = _core.elemwise(scalar.eq, AdvancedSubtensor(everywhere)(last, *indices), order)
    behind = template.count(FULL) - index_position(template)
    return expand_dims(remains, tuple(range(remains.ndim, remains.ndim + behind)))
