"""Joining tensors along a dimension, and splitting them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor, register_stack
from frazil.tensor.axes import normalize_axis
from frazil.tensor.basic_indexing import WHOLE
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import ExpandDims, expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.index_syntax import get_item
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    add,
    as_length,
    elements_made_of,
    floor_divide,
    length,
    lengths,
    literal,
    multiply,
)
from frazil.tensor.reshaping import ravel


@dataclass(frozen=True, eq=False)
class Join(Op):
    """The operands one after the other along ``axis``.

    They have one dtype and, but for ``axis``, equal lengths.
    """

    takes_complex = True

    axis: int

    def make_node(self, *tensors: Variable) -> FrozenApply:
        if not tensors:
            raise ValueError("Join needs one tensor at least")
        first = tensors[0]
        if not 0 <= self.axis < first.ndim:
            raise np.exceptions.AxisError(self.axis, first.ndim)
        for other in tensors[1:]:
            if other.dtype != first.dtype:
                raise TypeError(
                    f"tensors to join must have one dtype; given {first.type} and {other.type}. "
                    "Cast them"
                )
            if other.ndim != first.ndim:
                raise ValueError(
                    "tensors to join must have one number of dimensions; given "
                    f"{first.type} and {other.type}. Use ft.expand_dims"
                )
        shape: list[int | None] = []
        for axis in range(first.ndim):
            known = [n for x in tensors if (n := x.type.shape[axis]) is not None]
            if axis == self.axis:
                shape.append(sum(known) if len(known) == len(tensors) else None)
                continue
            if len(set(known)) > 1:
                raise ValueError(
                    f"tensors to join along axis {self.axis} must agree in their other lengths; "
                    f"given shapes {', '.join(str(x.type.shape) for x in tensors)}"
                )
            shape.append(known[0] if known else None)
        return FrozenApply(self, tensors, [TensorType(first.dtype, tuple(shape))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.concatenate(inputs, axis=self.axis),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        total = reduce(add, (shape[self.axis] for shape in input_shapes))
        first = input_shapes[0]
        return ((*first[: self.axis], total, *first[self.axis + 1 :]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        return [*_parts(g, [length(x, self.axis) for x in inputs], self.axis)]


@elements_made_of.register
def _(op: Join, node: FrozenApply) -> Sequence[Variable] | None:
    elements = []
    for x in node.inputs:
        made = x.owner
        if op.axis or made is None or not isinstance(made.op, ExpandDims):
            return None
        if made.inputs[0].ndim:
            return None
        elements.append(made.inputs[0])
    return elements


@described
def concatenate(
    tensors: Iterable[TensorLike], axis: int | None = 0, *, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the tensors one after the other along a dimension.

    tensors (iterable of tensor_like): Of equal lengths but along ``axis``, which they all have.
    axis (int or None): The dimension along which to join; None joins the flattened tensors.
    dtype (dtype_like): That of the result; default: what the tensors promote to.
    returns: As :func:`numpy.concatenate` gives.

    >>> ft.concatenate([[1.0, 2.0], [3.0]]).eval()
    array([1., 2., 3.])
    >>> ft.concatenate([[[1], [2]], [[3], [4]]], axis=1).eval()
    array([[1, 3],
           [2, 4]])
    """
    variables = _promoted(tensors, "concatenate", dtype)
    if axis is None:
        return concatenate([ravel(x) for x in variables])
    ranks = {x.ndim for x in variables}
    if ranks == {0}:
        raise ValueError("tensors without dimensions cannot be concatenated. Use ft.stack.")
    joined: Variable = Join(normalize_axis(axis, max(ranks)))(*variables)
    return variables[0] if len(variables) == 1 else joined


@described
def join(axis: int, *tensors: TensorLike) -> Variable:
    """Return the tensors one after the other: :func:`concatenate` with the axis first.

    axis (int): The dimension along which to join.
    tensors (tensor_like): Of equal lengths but along ``axis``, which they all have.
    returns: Of the dtype that the tensors promote to.
    example: 0, [1.0, 2.0], [3.0] -> [1., 2., 3.]
    """
    return concatenate(tensors, axis)


@register_stack
@described_like(concatenate)
def stack(
    tensors: Iterable[TensorLike], axis: int = 0, *, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the tensors one after the other along a new dimension.

    tensors (iterable of tensor_like): All of one shape.
    axis (int): The position of the new dimension in the result.
    returns: As :func:`numpy.stack` gives.

    >>> ft.stack([[1, 2], [3, 4]], axis=1).eval()
    array([[1, 3],
           [2, 4]])
    """
    variables = _promoted(tensors, "stack", dtype)
    position = normalize_axis(axis, variables[0].ndim + 1)
    ranks = {x.ndim for x in variables}
    if len(ranks) > 1:
        raise ValueError(
            "tensors to stack must have one shape; given "
            f"{', '.join(str(x.type) for x in variables)}. Give them as many dimensions, with "
            "ft.expand_dims or ft.broadcast_to"
        )
    return concatenate([expand_dims(x, position) for x in variables], position)


@described_like(concatenate)
def hstack(tup: Iterable[TensorLike], *, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return tensors side by side: joined along the second dimension, vectors along the first.

    tup (iterable of tensor_like): As for :func:`numpy.hstack`.
    returns: The joined tensor.
    example: [[1, 2], [3]] -> [1, 2, 3]
    """
    variables = [x if x.ndim else expand_dims(x, 0) for x in _promoted(tup, "hstack", dtype)]
    return concatenate(variables, 0 if variables[0].ndim == 1 else 1)


@described_like(concatenate)
def vstack(tup: Iterable[TensorLike], *, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return the tensors below each other: joined along the first dimension, vectors being rows.

    tup (iterable of tensor_like): As for :func:`numpy.vstack`, of one length but along the first
        dimension.
    returns: With two dimensions or more.

    >>> ft.vstack([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [3, 4]])
    """
    variables = _promoted(tup, "vstack", dtype)
    rows = [expand_dims(x, tuple(range(2 - x.ndim))) if x.ndim < 2 else x for x in variables]
    return concatenate(rows, 0)


@described
def split(
    x: TensorLike,
    splits_size: int | Sequence[LengthLike],
    n_splits: int | None = None,
    axis: int = 0,
) -> list[Variable]:
    """Return the parts of ``x`` along a dimension.

    x (tensor_like): Any tensor with dimensions.
    splits_size (int, or sequence of int or 0-d integer variable): The number of equal parts, as in
        NumPy; or the length of each part, as in PyTensor, which should sum to the length of ``x``.
        :func:`array_split` takes positions.
    n_splits (int): The number of parts, if it is to be checked.
    axis (int): The dimension that is split.
    returns (list of Variable): Views of ``x``.

    >>> first, rest = ft.split([1.0, 2.0, 3.0], [1, 2])
    >>> rest.eval()
    array([2., 3.])
    """
    x = as_tensor(x)
    if isinstance(splits_size, int | np.integer):
        if n_splits not in (None, splits_size):
            raise ValueError(f"given {splits_size} parts, but n_splits={n_splits}")
        return _equal_parts(x, int(splits_size), normalize_axis(axis, x.ndim))
    sizes = [as_length(size) for size in splits_size]
    if n_splits is not None and n_splits != len(sizes):
        raise ValueError(f"splits_size has {len(sizes)} lengths, but n_splits={n_splits}")
    return _parts(x, sizes, normalize_axis(axis, x.ndim))


def _equal_parts(x: Variable, count: int, axis: int) -> list[Variable]:
    """Return so many parts of one length; where that is not static, it is checked at run time."""
    if count <= 0:
        raise ValueError(f"the number of parts must be larger than 0; given {count}")
    whole = x.type.shape[axis]
    if whole is not None and whole % count:
        raise ValueError(
            f"{count} parts of one length cannot be made of length {whole}, axis {axis} of "
            f"{x.type}. Use ft.array_split."
        )
    size = floor_divide(length(x, axis), literal(count))
    if whole is not None:
        return _parts(x, [size] * count, axis)
    shape = [*lengths(x)]
    shape[axis] = multiply(size, literal(count))
    return _parts(broadcast_to(x, shape), [size] * count, axis)


def _parts(x: Variable, sizes: Sequence[Variable], axis: int) -> list[Variable]:
    parts: list[Variable] = []
    start: Variable | None = None
    for size in sizes:
        stop = size if start is None else add(start, size)
        parts.append(get_item(x, (*[slice(*WHOLE)] * axis, slice(start, stop))))
        start = stop
    return parts


def _promoted(
    tensors: Iterable[TensorLike], name: str, dtype: npt.DTypeLike | None
) -> list[Variable]:
    if isinstance(tensors, Variable):
        raise TypeError(f"{name} takes a sequence of tensors; given one variable, {tensors}")
    variables = [as_tensor(x) for x in tensors]
    if not variables:
        raise ValueError(f"{name} needs one tensor at least")
    wanted = reduce(_core.promote, (x.dtype for x in variables)) if dtype is None else dtype
    return [as_tensor(x, wanted) for x in variables]
