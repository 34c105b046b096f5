"""Reductions and cumulations that pass over NaN."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor import cumulation, moments, reductions, searching
from frazil.tensor.checks import Check, checked
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.reductions import (
    Axis,
    Max,
    Min,
    Prod,
    Reduction,
    Sum,
    accumulation,
    reduction,
)


def _replaced(x: Variable, value: float) -> Variable:
    """Return ``x`` with a number in place of NaN."""
    return _core.elemwise(scalar.where, _is_nan(x), value, x) if _has_nan(x) else x


def _is_nan(x: Variable) -> Variable:
    return _core.elemwise(scalar.isnan, x)


def _has_nan(x: Variable) -> bool:
    """Whether there may be NaN in tensors of this dtype."""
    return x.dtype.startswith(("float", "complex"))


def _extreme(extreme: Reduction, least: float, x: Variable, axis: Axis, keepdims: bool) -> Variable:
    """Return the extreme of the numbers; NaN where there is none."""
    if not _has_nan(x):
        return extreme(x, axis, keepdims)
    found = extreme(_replaced(x, least), axis, keepdims)
    none = reductions.all(_is_nan(x), axis, keepdims)
    return _core.elemwise(scalar.where, none, np.nan, found)


nansum = accumulation(
    "nansum",
    Sum,
    "the sum of the elements that are not NaN",
    "[1.0, ft.nan, 3.0] -> 4.",
    "As :func:`numpy.nansum` gives; 0 where there is no number.",
    numbers=partial(_replaced, value=0),
)
nanprod = accumulation(
    "nanprod",
    Prod,
    "the product of the elements that are not NaN",
    "[2.0, ft.nan, 3.0] -> 6.",
    "As :func:`numpy.nanprod` gives; 1 where there is no number.",
    numbers=partial(_replaced, value=1),
)
nanmax = reduction(
    "nanmax",
    Max,
    "the largest of the elements that are not NaN",
    "[1.0, ft.nan, 3.0] -> 3.",
    "As :func:`numpy.nanmax` gives; NaN where there is no number.",
    "Any tensor with elements.",
    numbers=partial(_replaced, value=-np.inf),
    without_initial=partial(_extreme, reductions.max, -np.inf),
)
nanmin = reduction(
    "nanmin",
    Min,
    "the smallest of the elements that are not NaN",
    "[1.0, ft.nan, 3.0] -> 1.",
    "As :func:`numpy.nanmin` gives; NaN where there is no number.",
    "Any tensor with elements.",
    numbers=partial(_replaced, value=np.inf),
    without_initial=partial(_extreme, reductions.min, np.inf),
)


@described
def nanargmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Variable:
    """Return the positions of the largest elements along a dimension that are not NaN.

    x (tensor_like): Any tensor with elements.
    axis (int): The dimension; default: the position in the flattened tensor.
    returns: Of int64, as :func:`numpy.nanargmax` gives. A call raises ValueError where all are NaN.
    example: [1.0, ft.nan, 3.0] -> 2
    """
    return _position(searching.argmax, -np.inf, as_tensor(x), axis, keepdims)


@described_like(nanargmax)
def nanargmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Variable:
    """Return the positions of the smallest elements along a dimension that are not NaN.

    returns: Of int64, as :func:`numpy.nanargmin` gives. A call raises ValueError where all are NaN.
    example: [1.0, ft.nan, 3.0] -> 0
    """
    return _position(searching.argmin, np.inf, as_tensor(x), axis, keepdims)


@described
def nanmean(
    x: TensorLike,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = None,
) -> Variable:
    """Return the mean of the elements over ``axis`` that are not NaN.

    x (tensor_like): Any tensor.
    dtype (dtype_like): The dtype to accumulate in; default as for :func:`mean`.
    returns: As :func:`numpy.nanmean` gives; NaN where there is no number.
    example: [1.0, ft.nan, 3.0] -> 2.
    """
    x = as_tensor(x)
    if not _has_nan(x):
        return moments.mean(x, axis, dtype, keepdims, where=where)
    _refuse_integers(dtype, "nanmean")
    x = _masked(x, where)
    total = nansum(x, axis, dtype, keepdims)
    return total / as_tensor(_count(x, axis, keepdims), total.dtype)


@described
def nanvar(
    x: TensorLike,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dtype: npt.DTypeLike | None = None,
    where: TensorLike | None = None,
) -> Variable:
    """Return the variance of the elements over ``axis`` that are not NaN.

    x (tensor_like): Any tensor; bool and integers are taken as float64.
    ddof (number): Divide by the number of these elements less ``ddof``.
    correction (number): Another name of ``ddof``.
    dtype (dtype_like): The dtype to compute in, a floating one if the tensor is.
    returns: As :func:`numpy.nanvar` gives; NaN where there are no more than ``ddof`` numbers.
    example: [1.0, ft.nan, 3.0] -> 1.
    """
    x, ddof = as_tensor(x), moments.degrees_less(ddof, correction)
    if not _has_nan(x):
        return moments.var(x, axis, ddof, keepdims, dtype=dtype, where=where)
    _refuse_integers(dtype, "nanvar")
    x = _masked(as_tensor(x, dtype), where)
    apart = _replaced(x, 0) - nanmean(x, axis, keepdims=True)
    squares = moments.squared_sizes(_core.elemwise(scalar.where, _is_nan(x), 0, apart))
    left = as_tensor(_count(x, axis, keepdims), squares.dtype) - ddof
    divided = reductions.sum(squares, axis, keepdims=keepdims) / left
    return _core.elemwise(scalar.where, left > 0, divided, np.nan)


@described_like(nanvar)
def nanstd(
    x: TensorLike,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    dtype: npt.DTypeLike | None = None,
    where: TensorLike | None = None,
) -> Variable:
    """Return the standard deviation of the elements over ``axis`` that are not NaN.

    returns: As :func:`numpy.nanstd` gives: the root of :func:`nanvar`.
    example: [1.0, ft.nan, 3.0] -> 1.
    """
    ddof = moments.degrees_less(ddof, correction)
    return _core.elemwise(scalar.sqrt, nanvar(x, axis, ddof, keepdims, dtype=dtype, where=where))


def _refuse_integers(dtype: npt.DTypeLike | None, who: str) -> None:
    """NaN and means have no integers to be in."""
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError(f"{who} of floating numbers takes a floating dtype, given {dtype!r}")


@described
def nancumsum(
    x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the cumulative sum along a dimension, NaN counting as 0.

    x (tensor_like): Any tensor.
    axis (int): The dimension to sum along; default: of the flattened tensor.
    dtype (dtype_like): The dtype to accumulate in; default as for :func:`cumsum`.
    returns: As :func:`numpy.nancumsum` gives.
    example: [1.0, ft.nan, 3.0] -> [1., 1., 4.]
    """
    return cumulation.cumsum(_replaced(as_tensor(x), 0), axis, dtype)


@described_like(nancumsum)
def nancumprod(
    x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the cumulative product along a dimension, NaN counting as 1.

    returns: As :func:`numpy.nancumprod` gives.
    example: [2.0, ft.nan, 3.0] -> [2., 2., 6.]
    """
    return cumulation.cumprod(_replaced(as_tensor(x), 1), axis, dtype)


def _position(
    search: searching.Position, least: float, x: Variable, axis: int | None, keepdims: bool
) -> Variable:
    found = search(_replaced(x, least), axis, keepdims)
    if not _has_nan(x):
        return found
    some = _core.elemwise(scalar.invert, reductions.all(_is_nan(x), axis, keepdims))
    return checked(found, [some], Check("all elements of a line are NaN: none has a place"))


def _masked(x: Variable, where: TensorLike | None) -> Variable:
    """``x`` with NaN in place of elements that do not count."""
    return reductions.counted(x, where, np.nan)


def _count(x: Variable, axis: Axis, keepdims: bool) -> Variable:
    """Return how many elements are numbers."""
    numbers = _core.elemwise(scalar.invert, _is_nan(x))
    return reductions.sum(numbers, axis, keepdims=keepdims)
