"""Means, variances and standard deviations."""

from __future__ import annotations

import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.scalar.float16 import STORED, computed_in
from frazil.tensor.axes import normalize_axes
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.lengths import lengths, product, static_length
from frazil.tensor.reductions import Axis, sum


@described
def mean(
    x: TensorLike,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = None,
) -> Variable:
    """Return the mean of elements over ``axis``: their sum by their number.

    x (tensor_like): Any tensor.
    axis (int or tuple of int): The dimensions to average over; default: all.
    dtype (dtype_like): The dtype to accumulate in. Default, as in :func:`numpy.mean`: the dtype of
        ``x`` if that is floating, else float64.
    keepdims (bool): Keep the dimensions averaged over, with length 1.
    returns: The mean; NaN where there are no elements.
    example: [[1.0, 2.0], [3.0, 4.0]], axis=0 -> [2., 3.]
    """
    x = _as_floating(x, dtype)
    if x.dtype == STORED:
        # The sum may be too large for the dtype, where the mean is not.
        return as_tensor(mean(x, axis, computed_in(STORED), keepdims, where=where), STORED)
    total = sum(x, axis, x.dtype, keepdims, where=where)
    return _divided(total, _count(x, axis, keepdims, where))


_mean = mean


@described
def var(
    x: TensorLike,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dtype: npt.DTypeLike | None = None,
    where: TensorLike | None = None,
    mean: TensorLike | None = None,
) -> Variable:
    """Return the variance over ``axis``: the mean of squared distances from the mean.

    x (tensor_like): Any tensor; bool and integers are taken as float64.
    ddof (number): Divide by the number of elements less ``ddof``, as in :func:`numpy.var`: by 0
        where that is negative.
    correction (number): Another name of ``ddof``.
    dtype (dtype_like): The dtype to compute in.
    mean (tensor_like): The mean with ``keepdims``, which is not computed then.
    returns: The variance, in the dtype of ``x`` if that is floating; a real number of complex ones.
    example: [[1.0, 3.0], [2.0, 8.0]], axis=1 -> [1., 9.]
    """
    ddof = degrees_less(ddof, correction)
    x = _as_floating(x, dtype)
    if x.dtype == STORED:
        wide = computed_in(STORED)
        found = var(x, axis, ddof, keepdims, dtype=wide, where=where, mean=mean)
        return as_tensor(found, STORED)
    distances = x - (_mean(x, axis, keepdims=True, where=where) if mean is None else mean)
    squares = squared_sizes(distances)
    total = sum(squares, axis, squares.dtype, keepdims, where=where)
    return _divided(total, _less(_count(x, axis, keepdims, where), ddof))


def degrees_less(ddof: float, correction: float | None) -> float:
    """Return the one of two names of an argument that was given."""
    if correction is None:
        return ddof
    if ddof:
        raise ValueError(f"ddof={ddof} and correction={correction} say the same: give one")
    return correction


@described_like(var)
def std(
    x: TensorLike,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dtype: npt.DTypeLike | None = None,
    where: TensorLike | None = None,
    mean: TensorLike | None = None,
) -> Variable:
    """Return the standard deviation of elements over ``axis``: the root of :func:`var`.

    returns: The standard deviation, in the dtype of ``x`` if that is floating.
    example: [[1.0, 3.0], [2.0, 8.0]], axis=1 -> [1., 3.]
    """
    square = var(
        x, axis, ddof, keepdims, correction=correction, dtype=dtype, where=where, mean=mean
    )
    return _core.elemwise(scalar.sqrt, square)


def squared_sizes(x: Variable) -> Variable:
    """Return the squares of numbers, or of the sizes of complex ones."""
    if x.type.numpy_dtype.kind != "c":
        return _core.elemwise(scalar.sqr, x)
    parts = (_core.elemwise(part, x) for part in (scalar.real, scalar.imag))
    re, im = (_core.elemwise(scalar.sqr, part) for part in parts)
    return _core.elemwise(scalar.add, re, im)


def _as_floating(x: TensorLike, dtype: npt.DTypeLike | None) -> Variable:
    x = as_tensor(x)
    if dtype is None and x.type.numpy_dtype.kind not in "fc":
        dtype = "float64"
    return as_tensor(x, dtype)


def _count(x: Variable, axis: Axis, keepdims: bool, where: TensorLike | None) -> Variable | int:
    """Return how many elements are folded into one."""
    if where is not None:
        mask = broadcast_to(as_tensor(where, "bool"), lengths(x))
        return sum(mask, axis, "int64", keepdims)
    shape = lengths(x)
    count = product(shape[axis] for axis in normalize_axes(axis, x.ndim))
    static = static_length(count)
    return count if static is None else static


def _less(count: Variable | int, ddof: float) -> Variable | float:
    """Return ``count - ddof``, or 0 if that is negative."""
    if not ddof:
        return count
    if isinstance(count, Variable):
        return _core.elemwise(scalar.maximum, count - ddof, 0)
    return max(count - ddof, 0)


def _divided(total: Variable, count: Variable | float) -> Variable:
    # A symbolic count is int64 and would lift float32 to float64; a Python number would not.
    divisor = as_tensor(count, total.dtype) if isinstance(count, Variable) else float(count)
    return _core.elemwise(scalar.truediv, total, divisor)
