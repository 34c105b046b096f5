"""Dimensions of length 1: adding and dropping them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

import numpy as np

from frazil._core import FrozenApply, Variable
from frazil.graph.collection import is_sequence
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.graph.typed_op import TypedOp
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axes
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths, literal

T = TypeVar("T")


class ViewOp(TypedOp):
    """Base of views with other dimensions, which the rule and the op's ``axes`` say."""

    takes_complex = True
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}


@dataclass(frozen=True, eq=False)
class ExpandDims(ViewOp):
    """A view with dimensions of length 1 at the positions ``axes`` of the result."""

    axes: tuple[int, ...]
    rule = "expand"

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.expand_dims(inputs[0], self.axes),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (_insert(input_shapes[0], literal(1), self.axes),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        return [squeeze(g, self.axes) if g.ndim else g]


@dataclass(frozen=True, eq=False)
class DropDims(ViewOp):
    """A view without the dimensions ``axes``, each of length 1."""

    axes: tuple[int, ...]
    rule = "drop"

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.squeeze(inputs[0], self.axes),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (_drop(input_shapes[0], self.axes),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        return [expand_dims(g, self.axes) if g.ndim else g]


@described
def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> Variable:
    """Return a view of ``x`` with new dimensions of length 1.

    x (tensor_like): Any tensor.
    axis (int or tuple of int): The positions of the new dimensions in the result, as in
        :func:`numpy.expand_dims`.
    returns: Of the dtype of ``x``, with as many more dimensions as ``axis`` names.

    >>> ft.expand_dims(ft.vector("x", shape=(3,)), 0).type.shape
    (1, 3)
    """
    x = as_tensor(x)
    added = 1 if not is_sequence(axis) else len(axis)
    axes = normalize_axes(axis, x.ndim + added)
    return ExpandDims(axes)(x) if axes else x


@described
def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> Variable:
    """Return a view of ``x`` without dimensions of length 1.

    x (tensor_like): Any tensor.
    axis (int or tuple of int): The dimensions to drop. If the type does not know that their length
        is 1, it is checked at run time. Default: all whose length the type says to be 1; this
        differs from :func:`numpy.squeeze`, as the rank of a variable is fixed.
    returns: A view with the other dimensions of ``x``, in their order.

    >>> ft.squeeze(ft.row("x")).ndim
    1
    """
    x = as_tensor(x)
    axis = axis_of_any(axis, x.ndim)
    if axis is None:
        axes = tuple(i for i, one in enumerate(x.broadcastable) if one)
    else:
        axes = normalize_axes(axis, x.ndim)
    node = x.owner
    if node is not None and node.op is ExpandDims(axes):
        return node.inputs[0]
    return DropDims(axes)(x) if axes else x


def _insert(shape: Sequence[T], one: T, axes: Sequence[int]) -> tuple[T, ...]:
    result = list(shape)
    for axis in axes:  # ascending positions of the result
        result.insert(axis, one)
    return tuple(result)


def _drop(shape: Sequence[T], axes: Sequence[int]) -> tuple[T, ...]:
    return tuple(length for axis, length in enumerate(shape) if axis not in axes)
