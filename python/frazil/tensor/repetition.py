"""Repeating elements and tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import LengthLike, Lengths, as_length, as_lengths, lengths, multiply
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.taking import take


@dataclass(frozen=True, eq=False)
class RepeatedPositions(Op):
    """Position ``i`` as often as element ``i`` of an int64 vector says: ``[2, 0, 1]`` gives
    ``[0, 0, 2]``. Their number depends on the values.
    """

    def make_node(self, repeats: Variable) -> FrozenApply:
        if repeats.ndim != 1 or repeats.dtype != "int64":
            raise TypeError(f"RepeatedPositions takes an int64 vector; given {repeats.type}")
        return FrozenApply(self, [repeats], [TensorType("int64", (None,))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (repeats,) = inputs
        if (repeats < 0).any():
            raise ValueError(f"a number of repeats cannot be negative; given {repeats.min()}")
        return (np.repeat(np.arange(len(repeats)), repeats),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None]


@described
def repeat(a: TensorLike, repeats: TensorLike, axis: int | None = None) -> Variable:
    """Return a tensor with each element, or each slice along a dimension, repeated.

    a (tensor_like): Any tensor.
    repeats (int, 0-d integer variable, or vector_like): The number of times; for a vector, the
        number for each element.
    axis (int): The dimension; default: of the flattened tensor, as for :func:`numpy.repeat`.
    returns: With the repeated ones next to each other.

    >>> ft.repeat([1, 2], 2).eval()
    array([1, 1, 2, 2])
    >>> ft.repeat([[1, 2], [3, 4]], [1, 2], axis=0).eval()
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    a = as_tensor(a)
    axis = axis_of_any(axis, a.ndim)
    if axis is None:
        return repeat(ravel(a), repeats, 0)
    along = normalize_axis(axis, a.ndim)
    times = as_tensor(repeats)
    if times.type.numpy_dtype.kind not in "iu" or times.ndim > 1:
        raise TypeError(f"repeats must be integers, one or a vector; given {times.type}")
    if times.ndim == 1:
        own, wanted = times.type.shape[0], a.type.shape[along]
        if own != 1 and None not in (own, wanted) and own != wanted:
            raise ValueError(
                f"repeats must say how often for each of {wanted} elements along axis {axis}; "
                f"given {own}"
            )
        counts = broadcast_to(as_tensor(times, "int64"), lengths(a)[along])
        return take(a, RepeatedPositions()(counts), along)
    shape = list(lengths(a))
    count = as_length(times)
    spread = broadcast_to(
        expand_dims(a, along + 1), [*shape[: along + 1], count, *shape[along + 1 :]]
    )
    shape[along] = multiply(shape[along], count)
    return reshape(spread, shape)


@described
def tile(A: TensorLike, reps: LengthLike | Sequence[LengthLike]) -> Variable:
    """Return copies of a tensor side by side.

    A (tensor_like): Any tensor.
    reps (int, 0-d integer variable, or a sequence of them): The number of times along each
        dimension; the last number is for the last dimension of ``A``, as in :func:`numpy.tile`.
    returns: Of the dtype of ``A``, and of the larger of its rank and the number of ``reps``.

    >>> ft.tile([1, 2], (2, 2)).eval()
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    A = as_tensor(A)
    counts: Lengths = as_lengths(reps)
    missing = len(counts) - A.ndim
    A = expand_dims(A, tuple(range(missing)))
    counts = (as_length(1),) * -missing + counts
    own = lengths(A)
    pairs = list(zip(counts, own, strict=True))
    apart = expand_dims(A, tuple(range(0, 2 * A.ndim, 2)))
    spread = broadcast_to(apart, [length for pair in pairs for length in pair])
    return reshape(spread, [multiply(count, length) for count, length in pairs])
