"""Permuting dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from frazil._core import FrozenApply, Variable
from frazil.graph.collection import is_sequence
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes, normalize_axis, normalize_order
from frazil.tensor.dims import ViewOp, expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths


@dataclass(frozen=True, eq=False)
class Transpose(ViewOp):
    """A view whose dimension ``i`` is dimension ``axes[i]`` of the input."""

    axes: tuple[int, ...]
    rule = "permute"

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (inputs[0].transpose(self.axes),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (tuple(input_shapes[0][axis] for axis in self.axes),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        inverse = sorted(range(len(self.axes)), key=self.axes.__getitem__)
        return [permute_dims(g, inverse) if g.ndim else g]


@described
def permute_dims(x: TensorLike, axes: int | Sequence[int] | None = None) -> Variable:
    """Return a view of ``x`` with its dimensions permuted.

    x (tensor_like): Any tensor.
    axes (int or sequence of int): Dimension ``i`` of the result is dimension ``axes[i]`` of ``x``,
        as in :func:`numpy.transpose`. Default: reversed.
    returns: Of the dtype and rank of ``x``.

    >>> ft.permute_dims(ft.tensor("x", shape=(2, 3, 4)), (1, 2, 0)).type.shape
    (3, 4, 2)
    """
    x = as_tensor(x)
    # Asking for a method by a protocol takes longer than all the rest.
    if not (axes is None or is_sequence(axes)) and isinstance(axes, SupportsIndex):
        axes = (axes.__index__(),)
    order = tuple(range(x.ndim))[::-1] if axes is None else normalize_order(axes, x.ndim)
    node = x.owner
    if node is not None and isinstance(node.op, Transpose):
        # One permutation instead of two; the transpose of a transpose is the tensor itself.
        x = node.inputs[0]
        order = tuple(node.op.axes[axis] for axis in order)
    return x if order == tuple(range(x.ndim)) else Transpose(order)(x)


transpose = permute_dims


@described
def matrix_transpose(x: TensorLike) -> Variable:
    """Return a view of ``x`` with its last two dimensions swapped.

    x (tensor_like): A tensor with two dimensions or more.
    returns: A view whose rows are the columns of ``x``.

    >>> ft.matrix_transpose(ft.tensor("x", shape=(2, 3, 4))).type.shape
    (2, 4, 3)
    """
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose needs two dimensions or more; given {x.type}")
    return swapaxes(x, -1, -2)


@described
def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Variable:
    """Return a view of ``x`` with two dimensions swapped, as :func:`numpy.swapaxes`.

    x (tensor_like): Any tensor.
    axis1, axis2 (int): The dimensions; negative ones count from the last.
    returns: A view, of the dtype and rank of ``x``.

    >>> ft.swapaxes(ft.tensor("x", shape=(2, 3, 4)), 0, -1).type.shape
    (4, 3, 2)
    """
    x = as_tensor(x)
    first, second = normalize_axis(axis1, x.ndim), normalize_axis(axis2, x.ndim)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return permute_dims(x, order)


@described
def moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Variable:
    """Return a view of ``x`` with dimensions moved, as :func:`numpy.moveaxis`.

    x (tensor_like): Any tensor.
    source, destination (int or sequence of int): The positions of moved dimensions in ``x`` and in
        the result; others keep their order.
    returns: Of the dtype and rank of ``x``.

    >>> ft.moveaxis(ft.tensor("x", shape=(2, 3, 4)), 0, -1).type.shape
    (3, 4, 2)
    """
    x = as_tensor(x)
    sources = _axis_list(source, x.ndim)
    destinations = _axis_list(destination, x.ndim)
    if len(sources) != len(destinations):
        raise ValueError(f"source {source} and destination {destination} differ in length")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for to, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, axis)
    return permute_dims(x, order)


@described
def dimshuffle(x: TensorLike, *pattern: int | str) -> Variable:
    """Return a view of ``x`` with dimensions permuted, dropped and added, as PyTensor writes it.

    x (tensor_like): Any tensor.
    pattern (int or "x"): For each dimension of the result the dimension of ``x`` that it is, or
        ``"x"`` for a new one of length 1. Dimensions of ``x`` that are not named must have length 1
        and are dropped.
    returns: Of the dtype of ``x``, with a dimension for each entry of ``pattern``.

    >>> ft.vector("x", shape=(3,)).dimshuffle("x", 0).type.shape
    (1, 3)
    """
    x = as_tensor(x)
    kept = _axis_list([int(axis) for axis in pattern if axis != "x"], x.ndim)
    dropped = [axis for axis in range(x.ndim) if axis not in kept]
    order = [sorted(kept).index(axis) for axis in kept]
    new = [position for position, axis in enumerate(pattern) if axis == "x"]
    return expand_dims(permute_dims(squeeze(x, dropped), order), new)


def _axis_list(axis: int | Sequence[int], ndim: int) -> list[int]:
    given = axis if is_sequence(axis) else [axis]
    normalize_axes(given, ndim)  # refuses an axis given twice
    return [normalize_axis(one, ndim) for one in given]
