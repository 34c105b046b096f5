"""Taking elements by position along one dimension."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axis
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item, set_subtensor
from frazil.tensor.lengths import length, lengths, literal, subtract
from frazil.tensor.ranges import arange
from frazil.tensor.reshaping import ravel, reshape


@described
def take(
    a: TensorLike, indices: TensorLike, axis: int | None = None, mode: str = "raise"
) -> Variable:
    """Return the elements at some positions along a dimension.

    a (tensor_like): Any tensor with dimensions.
    indices (tensor_like): Positions, of integers; negative ones count from the end.
    axis (int): The dimension; default: positions in the flattened tensor, as for
        :func:`numpy.take`.
    mode ({"raise", "wrap", "clip"}): The effect of positions beyond the dimension: an IndexError,
        those that are left when its length is taken off as often as it can be, or the first and the
        last.
    returns: ``a`` with the dimensions of ``indices`` in the place of ``axis``.

    >>> ft.take([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1).eval()
    array([[3, 1],
           [6, 4]])
    """
    a = as_tensor(a)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode must be 'raise', 'wrap' or 'clip'; given {mode!r}")
    axis = axis_of_any(axis, a.ndim)
    if axis is None:
        return take(ravel(a), indices, 0, mode)
    axis = normalize_axis(axis, a.ndim)
    positions, own = as_tensor(indices), length(a, axis)
    if mode != "raise":
        positions = as_tensor(positions, "int64")
    if mode == "wrap":
        positions = _core.elemwise(scalar.mod, positions, own)
    elif mode == "clip":
        positions = _core.elemwise(scalar.clip, positions, 0, subtract(own, literal(1)))
    return get_item(a, (*[slice(None)] * axis, positions))


@described
def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = 0) -> Variable:
    """Return for each line along a dimension the elements at positions of its own.

    The function :func:`put_along_axis` puts elements there.

    arr (tensor_like): Any tensor with dimensions.
    indices (tensor_like): Positions, of integers, with as many dimensions as ``arr``; their lengths
        but for ``axis`` are those of ``arr``, or declared to be 1.
    axis (int or None): The dimension; None takes from the flattened tensor, as
        :func:`numpy.take_along_axis` does.
    returns: Of the shape of ``indices``, where that has no length 1 that ``arr`` lacks.

    >>> ft.take_along_axis([[3, 1, 2], [4, 6, 5]], [[1], [0]], axis=1).eval()
    array([[1],
           [4]])
    """
    arr, indices = as_tensor(arr), as_tensor(indices)
    if axis is None:
        return take_along_axis(ravel(arr), indices, 0)
    along = normalize_axis(axis, arr.ndim)
    if indices.ndim != arr.ndim:
        raise ValueError(
            f"indices must have as many dimensions as the tensor, {arr.ndim}; given {indices.type}"
        )
    others = [
        indices if dim == along else _lines(length, dim, arr.ndim)
        for dim, length in enumerate(lengths(arr))
    ]
    return get_item(arr, tuple(others))


@described
def put_along_axis(
    arr: TensorLike, indices: TensorLike, values: TensorLike, axis: int | None = 0
) -> Variable:
    """Return a tensor with other elements at positions of each line along a dimension.

    arr (tensor_like): Any tensor with dimensions.
    indices (tensor_like): Positions, as for :func:`take_along_axis`; where one comes twice, the
        last value counts.
    values (tensor_like): The values to put; they broadcast to the shape of ``indices``.
    axis (int or None): The dimension; None puts into the flattened tensor.
    returns: Of the shape and dtype of ``arr``, as :func:`numpy.put_along_axis` leaves it; ``arr``
        itself stays as it is.

    >>> ft.put_along_axis([[3, 1, 2], [4, 6, 5]], [[1], [0]], 0, axis=1).eval()
    array([[3, 0, 2],
           [0, 6, 5]])
    """
    arr = as_tensor(arr)
    if axis is None:
        return reshape(put_along_axis(ravel(arr), indices, values, 0), lengths(arr))
    return set_subtensor(take_along_axis(arr, indices, axis), values)


def _lines(length: Variable, dim: int, ndim: int) -> Variable:
    """Return all positions along ``dim``, so that they broadcast."""
    return expand_dims(arange(length), [axis for axis in range(ndim) if axis != dim])
