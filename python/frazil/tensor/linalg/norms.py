"""Norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes, normalize_axis
from frazil.tensor.dims import squeeze
from frazil.tensor.linalg.matrices import as_floating
from frazil.tensor.reductions import max, min, sum


def norm(
    x: TensorLike,
    ord: float | str | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Variable:
    """Return a norm of vectors or of matrices.

    Parameters
    ----------
    x : tensor_like
        Any tensor; integers become float64.
    ord : number, inf, -inf, "fro" or None, default None
        Which norm, as for :func:`numpy.linalg.norm`: None is the root of the sum of squares. Of
        matrices those that need singular values (2, -2, "nuc") are not supported.
    axis : int or tuple of two int, optional
        The dimension of the vectors, or those of the matrices. Default: ``x`` is one vector or
        matrix, and where ``ord`` is None a tensor of any rank, whose elements are one vector.
    keepdims : bool, default False
        Keep the reduced dimensions, with length 1.

    Returns
    -------
    Variable
        The norm, in the dtype of ``x`` if that is floating.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.norm([3.0, 4.0]).eval()
    array(5.)
    >>> ft.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1).eval()
    array(6.)
    """
    x = as_floating(as_tensor(x))
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim)
    if ord is None:
        return _root_of_squares(x, axes, keepdims)
    if axis is not None and isinstance(axis, Sequence):  # rows first, whatever their positions
        axes = tuple(normalize_axis(one, x.ndim) for one in axis)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError(
            f"the norm of order {ord!r} is one of vectors or matrices; given {x.type} and axis "
            f"{axis}. Name one axis, or two."
        )
    return _matrix_norm(x, ord, axes, keepdims)


def _root_of_squares(x: Variable, axes: Sequence[int], keepdims: bool) -> Variable:
    squares = _core.elemwise(scalar.sqr, x)
    return _core.elemwise(scalar.sqrt, sum(squares, axes, keepdims=keepdims))


def _vector_norm(x: Variable, ord: float | str, axis: int, keepdims: bool) -> Variable:
    if isinstance(ord, str):
        raise ValueError(f"the norm {ord!r} is one of matrices; given vectors along axis {axis}")
    if ord == 2:
        return _root_of_squares(x, (axis,), keepdims)
    if ord == 0:
        nonzero = _core.elemwise(scalar.neq, x, 0)
        return sum(as_tensor(nonzero, x.dtype), axis, keepdims=keepdims)
    size = _core.elemwise(scalar.abs, x)
    if ord == np.inf:
        return max(size, axis, keepdims=keepdims)
    if ord == -np.inf:
        return min(size, axis, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis, keepdims=keepdims)
    powers = _core.elemwise(scalar.pow, size, float(ord))
    return _core.elemwise(scalar.pow, sum(powers, axis, keepdims=keepdims), 1 / float(ord))


def _matrix_norm(x: Variable, ord: float | str, axes: Sequence[int], keepdims: bool) -> Variable:
    rows, columns = axes
    if ord == "fro":
        return _root_of_squares(x, sorted(axes), keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise NotImplementedError(
            f"the norm of order {ord!r} of matrices is not supported; "
            "None, 'fro', 1, -1, inf and -inf are"
        )
    order = float(ord)
    along, across = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = sum(_core.elemwise(scalar.abs, x), along, keepdims=True)
    extreme = (max if order > 0 else min)(sums, across, keepdims=True)
    return extreme if keepdims else squeeze(extreme, sorted(axes))
