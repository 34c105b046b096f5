"""Cumulative sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axis
from frazil.tensor.creation import full
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import Lengths, as_length, lengths
from frazil.tensor.reductions import as_accumulator
from frazil.tensor.reshaping import ravel
from frazil.tensor.rounding import RoundedOp


@dataclass(frozen=True, eq=False)
class CumOp(RoundedOp):
    """For each element the sum (``mode="add"``) or the product (``mode="mul"``) of those along
    ``axis`` up to it and with it.
    """

    takes_complex = True

    axis: int
    mode: Literal["add", "mul"]

    def make_node(self, x: Variable) -> FrozenApply:
        if self.mode not in ("add", "mul"):
            raise ValueError(f"mode must be 'add' or 'mul'; given {self.mode!r}")
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(self.axis, x.ndim)
        if x.dtype == "bool":
            raise TypeError(f"CumOp takes numbers; given {x.type}. Cast it first.")
        return FrozenApply(self, [x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (x,) = inputs
        ufunc = np.add if self.mode == "add" else np.multiply
        with np.errstate(all="ignore"):
            return (ufunc.accumulate(x, axis=self.axis, dtype=x.dtype),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (x,), (y,), (g,) = inputs, outputs, output_gradients
        if self.mode == "add":
            return [self._from_the_end(g)]
        return [self._product_gradient(x, y, g)]

    def _from_the_end(self, x: Variable) -> Variable:
        """Return the cumulative sum that starts from the last element."""
        summed: Variable = CumOp(self.axis, "add")(self._reverse(x))
        return self._reverse(summed)

    def _reverse(self, x: Variable) -> Variable:
        return get_item(x, (*[slice(None)] * self.axis, slice(None, None, -1)))

    def _product_gradient(self, x: Variable, y: Variable, g: Variable) -> Variable:
        """Return the gradient of ``x`` where ``y`` is its cumulative product; right at zeros, too.

        The derivatives by element ``k`` are the products without it: ``y / x`` unless ``x`` is zero
        there. At the first zero they are the products of all other elements. At the second zero
        they are zero, but their own derivatives are not; at later zeros both are zero.
        """

        def summed(products: Variable) -> Variable:
            return self._from_the_end(_core.elemwise(scalar.mul, g, products))

        def without(chosen: Variable) -> Variable:
            product: Variable = CumOp(self.axis, "mul")(_core.elemwise(scalar.where, chosen, 1, x))
            return product

        zero = _core.elemwise(scalar.eq, x, 0)
        count = CumOp(self.axis, "add")(as_accumulator(zero, None))
        gradient: Variable = _core.elemwise(
            scalar.truediv, summed(y), _core.elemwise(scalar.where, zero, 1, x)
        )
        at_zero: Variable | int = 0
        for rank in (2, 1):
            chosen = _core.elemwise(scalar.and_, zero, _core.elemwise(scalar.eq, count, rank))
            at_zero = _core.elemwise(scalar.where, chosen, summed(without(chosen)), at_zero)
        return _core.elemwise(scalar.where, zero, at_zero, gradient)


@described
def cumsum(x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return the cumulative sum along a dimension.

    x (tensor_like): Any tensor.
    axis (int): The dimension to sum along; default: of the flattened tensor.
    dtype (dtype_like): The dtype to accumulate in; default as for :func:`sum`, following
        :func:`numpy.cumsum`.
    returns: Of the shape of ``x``, or a vector where ``axis`` is None.
    example: [1.0, 2.0, 3.0] -> [1., 3., 6.]
    """
    return _cumulate(as_accumulator(x, dtype), axis, "add")


@described_like(cumsum)
def cumprod(x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return the cumulative product along a dimension.

    The gradient is right where elements are zero, too, and so is its derivative.

    returns: Of the shape of ``x``, or a vector where ``axis`` is None.

    >>> ft.cumprod([[1.0, 2.0], [3.0, 4.0]], axis=0).eval()
    array([[1., 2.],
           [3., 8.]])
    """
    return _cumulate(as_accumulator(x, dtype), axis, "mul")


def _cumulate(x: Variable, axis: int | None, mode: Literal["add", "mul"]) -> Variable:
    axis = axis_of_any(axis, x.ndim)
    if axis is None:
        return _cumulate(ravel(x), 0, mode)
    if x.dtype == "bool":  # any, or all, of the elements so far
        return as_tensor(_cumulate(as_tensor(x, "int64"), axis, mode), "bool")
    cumulated: Variable = CumOp(normalize_axis(axis, x.ndim), mode)(x)
    return cumulated


@described
def cumulative_sum(
    x: TensorLike,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> Variable:
    """Return the cumulative sum along a dimension, under the Array API's name.

    x (tensor_like): Any tensor; a number counts as a vector of one.
    axis (int): The dimension to sum along, which need not be said of a vector.
    dtype (dtype_like): The dtype to accumulate in; default as for :func:`sum`.
    include_initial (bool): Begin with 0.
    returns: As :func:`numpy.cumulative_sum` gives.
    example: [1.0, 2.0, 3.0], include_initial=True -> [0., 1., 3., 6.]
    """
    x, along = _along(x, axis, "cumulative_sum")
    return _from(0, cumsum(x, along, dtype), along, include_initial)


@described_like(cumulative_sum)
def cumulative_prod(
    x: TensorLike,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> Variable:
    """Return the cumulative product along a dimension, under the Array API's name.

    include_initial (bool): Begin with 1.
    returns: As :func:`numpy.cumulative_prod` gives.
    example: [1.0, 2.0, 3.0], include_initial=True -> [1., 1., 2., 6.]
    """
    x, along = _along(x, axis, "cumulative_prod")
    return _from(1, cumprod(x, along, dtype), along, include_initial)


def _along(x: TensorLike, axis: int | None, name: str) -> tuple[Variable, int]:
    x = as_tensor(x)
    x = x if x.ndim else expand_dims(x, 0)
    if axis is None and x.ndim > 1:
        raise ValueError(f"{name} of {x.type} needs an axis: only vectors have one dimension")
    return x, normalize_axis(0 if axis is None else axis, x.ndim)


def _from(initial: int, cumulated: Variable, axis: int, include: bool) -> Variable:
    if not include:
        return cumulated
    shape = [*lengths(cumulated)]
    shape[axis] = as_length(1)
    return concatenate([full(shape, initial, cumulated.dtype), cumulated], axis)
