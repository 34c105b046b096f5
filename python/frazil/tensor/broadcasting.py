"""Broadcasting, and its reverse for gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.dims import DropDims, ExpandDims, expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    as_lengths,
    length,
    lengths,
    literal,
    product,
    static_length,
    static_shape,
)
from frazil.tensor.reductions import Sum


@dataclass(frozen=True, eq=False)
class BroadcastTo(Op):
    """A view of ``x`` whose lengths are the other operands.

    A dimension repeats only where the type of ``x`` says that its length is 1.
    """

    takes_complex = True

    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: Variable, *shape: Variable) -> FrozenApply:
        target = static_shape(shape)
        if len(target) < x.ndim:
            raise ValueError(
                f"cannot broadcast shape {x.type.shape} to {target}: the result needs "
                f"{x.ndim} dimensions or more"
            )
        own = (1,) * (len(target) - x.ndim) + x.type.shape
        for given, wanted in zip(own, target, strict=True):
            if given not in (1, None, wanted) and wanted is not None:
                raise ValueError(f"cannot broadcast shape {x.type.shape} to {target}")
        static = tuple(
            given if wanted is None and given != 1 else wanted
            for given, wanted in zip(own, target, strict=True)
        )
        return FrozenApply(self, [x, *shape], [TensorType(x.dtype, static)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, *values = inputs
        shape = tuple(int(value) for value in values)
        check_lengths(node.inputs[0], x.shape, shape)
        return (np.broadcast_to(x, shape),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (node.inputs[1:],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        x, *shape = inputs
        (g,) = output_gradients
        ones = outputs[0].broadcastable
        return [unbroadcast(g, x, ones, shape.__getitem__), *(None for _ in shape)]


@described
def broadcast_to(x: TensorLike, shape: LengthLike | Iterable[LengthLike]) -> Variable:
    """Return a view of ``x`` with the given shape, its dimensions of length 1 repeated.

    x (tensor_like): Any tensor. A dimension repeats only where the type says that its length is 1.
    shape (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): Shape of the
        result, as in :func:`numpy.broadcast_to`.
    returns: A view, of the dtype of ``x``.

    >>> ft.broadcast_to([1.0, 2.0], (2, 2)).eval()
    array([[1., 2.],
           [1., 2.]])
    """
    x = as_tensor(x)
    target = as_lengths(shape)
    if len(target) == x.ndim and static_shape(target) == x.type.shape and None not in x.type.shape:
        return x
    view: Variable = BroadcastTo()(x, *target)
    return view


@described
def broadcast_arrays(*tensors: TensorLike) -> list[Variable]:
    """Return views of the tensors that all have the shape they broadcast to.

    tensors (tensor_like): Tensors whose shapes broadcast, as in :func:`numpy.broadcast_arrays`.
    returns (list of Variable): Of one shape, each of its own dtype.

    >>> x, y = ft.broadcast_arrays([[1.0], [2.0]], [3.0, 4.0, 5.0])
    >>> x.eval()
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    variables = [as_tensor(x) for x in tensors]
    ndim = max((x.ndim for x in variables), default=0)
    shape = [broadcast_length(variables, axis) for axis in range(-ndim, 0)]
    return [broadcast_to(x, shape) for x in variables]


def broadcast_length(operands: Sequence[Variable], axis: int) -> Variable:
    """Return the length at ``axis``, counted from the end, that the operands broadcast to."""
    own = [x for x in operands if x.ndim >= -axis and not x.broadcastable[axis]]
    known = [n for x in own if (n := x.type.shape[axis]) is not None]
    if known:
        return literal(known[0])
    return length(own[0], own[0].ndim + axis) if own else literal(1)


def check_lengths(x: Variable, given: Sequence[int], shape: Sequence[int]) -> None:
    """Raise ValueError unless values of ``x`` with the lengths ``given`` broadcast to ``shape``."""
    for axis in range(-x.ndim, 0):
        if x.broadcastable[axis] or given[axis] == shape[axis]:
            continue
        undeclared = (
            "; a length 1 broadcasts only where the type declares it, as in "
            "ft.tensor(shape=(None, 1))"
        )
        raise ValueError(
            f"cannot broadcast shape {tuple(given)} to {tuple(shape)}: dimension {axis} has length "
            f"{given[axis]}" + (undeclared if given[axis] == 1 else "")
        )


def broadcast_like(g: Variable, x: Variable) -> Variable:
    """Return ``g``, which broadcasts to the shape of ``x``, in that shape."""
    missing = x.ndim - g.ndim
    if not missing and g.broadcastable == x.broadcastable:
        return g
    own = (True,) * missing + g.broadcastable
    if all(one or not repeats for repeats, one in zip(own, x.broadcastable, strict=True)):
        return expand_dims(g, tuple(range(missing)))
    view: Variable = BroadcastTo()(g, *lengths(x))
    return view


def with_lengths(x: Variable, wanted: TensorType) -> Variable:
    """Return ``x`` with the lengths that ``wanted`` tells; a run raises if they are others."""
    if wanted.accepts(x.type):
        return x
    dims = [length(x, at) if own is None else literal(own) for at, own in enumerate(wanted.shape)]
    view: Variable = BroadcastTo()(x, *dims)
    return view


def typed_as(gradient: Variable, of: Variable) -> Variable:
    """Return ``gradient`` with the lengths that the type of its variable tells."""
    if of.type.accepts(gradient.type):
        return gradient
    return broadcast_to(gradient, lengths(of))


def unbroadcast(
    g: Variable, x: Variable, broadcastable: Sequence[bool], length_of: Callable[[int], Variable]
) -> Variable:
    """Return the gradient of ``x``, given the gradient of ``x`` broadcast to a larger shape.

    Both ``g`` and the result may have dimensions missing in front, or of length 1, that stand for
    equal values all along a dimension. Summing over one of those is a multiplication.

    Parameters
    ----------
    g : Variable
        The gradient; it broadcasts to the larger shape.
    x : Variable
        The tensor that was broadcast.
    broadcastable : sequence of bool
        The dimensions of the larger shape that are known to have length 1.
    length_of : callable
        Gives the lengths of the others.
    """
    ndim = len(broadcastable)
    missing = ndim - x.ndim
    if missing == 0 and x.broadcastable == broadcastable:
        return g
    repeated = [
        axis
        for axis, one in enumerate(broadcastable)
        if not one and (axis < missing or x.broadcastable[axis - missing])
    ]
    offset = ndim - g.ndim  # of the dimensions of g within the larger shape
    summed = [axis for axis in repeated if axis >= offset and not g.broadcastable[axis - offset]]
    count = product(length_of(axis) for axis in repeated if axis not in summed)
    if summed:
        g = Sum(tuple(axis - offset for axis in summed))(g)
    kept = [axis for axis in range(offset, ndim) if axis not in summed]
    dropped = [axis for axis in kept if axis < missing]
    if dropped:
        g = DropDims(tuple(range(len(dropped))))(g)
        kept = kept[len(dropped) :]
    gaps = [axis for axis in summed if kept and axis > kept[0]]
    if gaps:
        g = ExpandDims(tuple(axis - kept[0] for axis in gaps))(g)
    return times(g, count)


def unbroadcast_like(g: Variable, x: Variable) -> Variable:
    """Return the gradient of ``x`` in its shape, given that of ``x`` broadcast to that of ``g``."""
    return broadcast_like(unbroadcast(g, x, g.broadcastable, lengths(g).__getitem__), x)


def times(g: Variable, count: Variable) -> Variable:
    """Return ``g`` times a length, in the dtype of ``g``."""
    static = static_length(count)
    if static is None:
        return _core.elemwise(scalar.mul, g, as_tensor(count, g.dtype))
    if static == 1:
        return g
    # Integers wrap around in sums as in products.
    return _core.elemwise(scalar.mul, g, constant(np.asarray(static).astype(g.type.numpy_dtype)))
