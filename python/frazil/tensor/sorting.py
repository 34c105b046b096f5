"""Sorting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axis
from frazil.tensor.creation import zeros_like
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.index_syntax import set_subtensor
from frazil.tensor.lengths import Lengths, length, literal, subtract
from frazil.tensor.rearranging import flip
from frazil.tensor.reshaping import ravel
from frazil.tensor.rounding import RoundedOp
from frazil.tensor.taking import take_along_axis


class OfLines(RoundedOp):
    """An op that makes of each line of ``x`` along ``axis`` a line as long."""

    axis: int

    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(self.axis, x.ndim)
        return FrozenApply(self, [x], [self.type_for(x.type)])

    def type_for(self, given: TensorType) -> TensorType:
        """Return the type of the result."""
        return given

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)


@dataclass(frozen=True, eq=False)
class ArgSort(OfLines):
    """The int64 positions that sort ``x`` along ``axis``; equal elements keep their order."""

    axis: int

    def type_for(self, given: TensorType) -> TensorType:
        return TensorType("int64", given.shape)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.argsort(inputs[0], axis=self.axis, kind="stable").astype("int64", copy=False),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None]


@dataclass(frozen=True, eq=False)
class Sort(OfLines):
    """``x`` sorted along ``axis``, NaN last; equal elements keep their order."""

    axis: int

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.sort(inputs[0], axis=self.axis, kind="stable"),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (x,), (g,) = inputs, output_gradients
        order: Variable = ArgSort(self.axis)(x)
        return [set_subtensor(take_along_axis(zeros_like(g), order, self.axis), g)]


@described
def argsort(
    a: TensorLike, axis: int | None = -1, *, descending: bool = False, stable: bool = True
) -> Variable:
    """Return the positions that sort a tensor along a dimension.

    a (tensor_like): Any tensor with dimensions. Complex numbers are ordered by their real parts,
        and those with equal ones by the imaginary parts.
    axis (int or None): The dimension; None sorts the flattened tensor.
    descending (bool): The largest first, and NaN before it.
    stable (bool): Equal elements keep their order, whatever this says.
    returns: Of int64, as ``numpy.argsort(a, kind="stable")`` gives: equal elements keep their
        order, NaN comes last.
    example: [3.0, 1.0, 2.0] -> [1, 2, 0]
    """
    a = as_tensor(a)
    axis = axis_of_any(axis, a.ndim)
    if axis is None:
        return argsort(ravel(a), 0, descending=descending)
    axis = normalize_axis(axis, a.ndim)
    if descending:  # so that equal elements keep their order
        order = argsort(flip(a, axis), axis)
        return subtract(length(a, axis), literal(1)) - flip(order, axis)
    positions: Variable = ArgSort(axis)(a)
    return positions


@described_like(argsort)
def sort(
    a: TensorLike, axis: int | None = -1, *, descending: bool = False, stable: bool = True
) -> Variable:
    """Return a tensor sorted along a dimension.

    returns: As :func:`numpy.sort` gives, NaN last. The gradient of an element goes to where it was.
    example: [3.0, 1.0, 2.0] -> [1., 2., 3.]
    """
    a = as_tensor(a)
    if axis is None:
        return sort(ravel(a), 0, descending=descending)
    axis = normalize_axis(axis, a.ndim)
    ordered: Variable = Sort(axis)(a)
    return flip(ordered, axis) if descending else ordered


@described
def sort_complex(a: TensorLike) -> Variable:
    """Return a tensor sorted along its last dimension, as complex numbers.

    a (tensor_like): Any tensor with dimensions.
    returns: As :func:`numpy.sort_complex` gives: of complex64 for that and for integers of 16 bits
        or less, else of complex128.
    example: [2.0, 1.0] -> [1.+0.j, 2.+0.j]
    """
    a = as_tensor(a)
    short = a.dtype in ("complex64", "int8", "uint8", "int16", "uint16")
    return sort(as_tensor(a, "complex64" if short else "complex128"))
