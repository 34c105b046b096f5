"""Reductions and cumulations that pass over NaN."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor import cumulation, moments, reductions
from frazil.tensor.reductions import Axis


def nansum(
    x: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False
) -> Variable:
    """Return the sum of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x : tensor_like
        Any tensor.
    axis : int or tuple of int, optional
        The dimensions to reduce; default: all.
    dtype : dtype_like, optional
        What to accumulate in; default as for :func:`sum`.
    keepdims : bool, default False
        Keep the reduced dimensions, with length 1.

    Returns
    -------
    Variable
        As :func:`numpy.nansum` gives; 0 where there is no number.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nansum([1.0, ft.nan, 3.0]).eval()
    array(4.)
    """
    return reductions.sum(_replaced(as_tensor(x), 0), axis, dtype, keepdims)


def nanprod(
    x: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False
) -> Variable:
    """Return the product of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x, axis, dtype, keepdims
        As for :func:`nansum`.

    Returns
    -------
    Variable
        As :func:`numpy.nanprod` gives; 1 where there is no number.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nanprod([2.0, ft.nan, 3.0]).eval()
    array(6.)
    """
    return reductions.prod(_replaced(as_tensor(x), 1), axis, dtype, keepdims)


def nanmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the largest of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x : tensor_like
        Any tensor with elements.
    axis : int or tuple of int, optional
        The dimensions to reduce; default: all.
    keepdims : bool, default False
        Keep the reduced dimensions, with length 1.

    Returns
    -------
    Variable
        As :func:`numpy.nanmax` gives; NaN where there is no number.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nanmax([1.0, ft.nan, 3.0]).eval()
    array(3.)
    """
    return _extreme(reductions.max, -np.inf, as_tensor(x), axis, keepdims)


def nanmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the smallest of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x, axis, keepdims
        As for :func:`nanmax`.

    Returns
    -------
    Variable
        As :func:`numpy.nanmin` gives; NaN where there is no number.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nanmin([1.0, ft.nan, 3.0]).eval()
    array(1.)
    """
    return _extreme(reductions.min, np.inf, as_tensor(x), axis, keepdims)


def nanmean(
    x: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False
) -> Variable:
    """Return the mean of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x : tensor_like
        Any tensor.
    axis : int or tuple of int, optional
        The dimensions to reduce; default: all.
    dtype : dtype_like, optional
        What to accumulate in; default as for :func:`mean`.
    keepdims : bool, default False
        Keep the reduced dimensions, with length 1.

    Returns
    -------
    Variable
        As :func:`numpy.nanmean` gives; NaN where there is no number.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nanmean([1.0, ft.nan, 3.0]).eval()
    array(2.)
    """
    x = as_tensor(x)
    if not _has_nan(x):
        return moments.mean(x, axis, dtype, keepdims)
    total = nansum(x, axis, dtype, keepdims)
    return total / as_tensor(_count(x, axis, keepdims), total.dtype)


def nanvar(x: TensorLike, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> Variable:
    """Return the variance of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x : tensor_like
        Any tensor; bool and integers are taken as float64.
    axis : int or tuple of int, optional
        The dimensions to reduce; default: all.
    ddof : number, default 0
        Divide by the number of these elements less ``ddof``.
    keepdims : bool, default False
        Keep the reduced dimensions, with length 1.

    Returns
    -------
    Variable
        As :func:`numpy.nanvar` gives; NaN where there are no more than ``ddof`` numbers.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nanvar([1.0, ft.nan, 3.0]).eval()
    array(1.)
    """
    x = as_tensor(x)
    if not _has_nan(x):
        return moments.var(x, axis, ddof, keepdims)
    apart = _replaced(x, 0) - nanmean(x, axis, keepdims=True)
    squares = _core.elemwise(scalar.sqr, _core.elemwise(scalar.where, _is_nan(x), 0, apart))
    left = as_tensor(_count(x, axis, keepdims), x.dtype) - ddof
    divided = reductions.sum(squares, axis, keepdims=keepdims) / left
    return _core.elemwise(scalar.where, left > 0, divided, np.nan)


def nanstd(x: TensorLike, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> Variable:
    """Return the standard deviation of the elements over ``axis`` that are not NaN.

    Parameters
    ----------
    x, axis, ddof, keepdims
        As for :func:`nanvar`.

    Returns
    -------
    Variable
        As :func:`numpy.nanstd` gives: the root of :func:`nanvar`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nanstd([1.0, ft.nan, 3.0]).eval()
    array(1.)
    """
    return _core.elemwise(scalar.sqrt, nanvar(x, axis, ddof, keepdims))


def nancumsum(
    x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the cumulative sum along a dimension, NaN counting as 0.

    Parameters
    ----------
    x : tensor_like
        Any tensor.
    axis : int, optional
        The dimension to sum along; default: of the flattened tensor.
    dtype : dtype_like, optional
        What to accumulate in; default as for :func:`cumsum`.

    Returns
    -------
    Variable
        As :func:`numpy.nancumsum` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nancumsum([1.0, ft.nan, 3.0]).eval()
    array([1., 1., 4.])
    """
    return cumulation.cumsum(_replaced(as_tensor(x), 0), axis, dtype)


def nancumprod(
    x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return the cumulative product along a dimension, NaN counting as 1.

    Parameters
    ----------
    x, axis, dtype
        As for :func:`nancumsum`.

    Returns
    -------
    Variable
        As :func:`numpy.nancumprod` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.nancumprod([2.0, ft.nan, 3.0]).eval()
    array([2., 2., 6.])
    """
    return cumulation.cumprod(_replaced(as_tensor(x), 1), axis, dtype)


def _extreme(
    reduction: reductions.Reduction, least: float, x: Variable, axis: Axis, keepdims: bool
) -> Variable:
    if not _has_nan(x):
        return reduction(x, axis, keepdims)
    found = reduction(_replaced(x, least), axis, keepdims)
    none = reductions.all(_is_nan(x), axis, keepdims)
    return _core.elemwise(scalar.where, none, np.nan, found)


def _count(x: Variable, axis: Axis, keepdims: bool) -> Variable:
    """Return how many elements are numbers."""
    numbers = _core.elemwise(scalar.invert, _is_nan(x))
    return reductions.sum(numbers, axis, keepdims=keepdims)


def _replaced(x: Variable, value: float) -> Variable:
    return _core.elemwise(scalar.where, _is_nan(x), value, x) if _has_nan(x) else x


def _is_nan(x: Variable) -> Variable:
    return _core.elemwise(scalar.isnan, x)


def _has_nan(x: Variable) -> bool:
    """Whether there may be NaN in tensors of this dtype."""
    return x.dtype.startswith("float")
