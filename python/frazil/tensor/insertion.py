"""Tensors with elements put in between, taken out, or added at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, Variable
from frazil.scalar.constants import TensorLike, as_tensor, as_written, constant
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.checks import Check, checked
from frazil.tensor.creation import ones, zeros
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item, set_subtensor
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import add, length, lengths, static_length
from frazil.tensor.positions import searchsorted
from frazil.tensor.ranges import arange
from frazil.tensor.reshaping import ravel
from frazil.tensor.searching import nonzero
from frazil.tensor.sorting import argsort, sort
from frazil.tensor.transposition import moveaxis

_BEYOND = "a position to insert at lies beyond the dimension"


@described
def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> Variable:
    """Return a tensor with others behind it.

    arr, values (tensor_like): Of equal lengths but along ``axis``.
    axis (int): The dimension; default: both are flattened.
    returns: As :func:`numpy.append` gives.
    example: [1, 2], [3, 4] -> [1, 2, 3, 4]
    """
    return concatenate([arr, values], axis)


@described
def delete(arr: TensorLike, obj: TensorLike | slice, axis: int | None = None) -> Variable:
    """Return a tensor without some of its elements.

    arr (tensor_like): Any tensor.
    obj (int, slice, tensor_like of integers, or mask): The positions along ``axis``.
    axis (int): The dimension; default: the flattened tensor.
    returns: As :func:`numpy.delete` gives. Its length is known before a call where ``obj`` and the
        length of ``arr`` are.
    example: [1, 2, 3, 4], [0, 2] -> [2, 4]
    """
    arr = as_tensor(arr)
    if axis is None:
        return delete(ravel(arr), obj, 0)
    axis = normalize_axis(axis, arr.ndim)
    before, n = [slice(None)] * axis, arr.type.shape[axis]
    if isinstance(obj, list | tuple):
        obj = constant(np.asarray(obj)) if len(obj) else constant([], "int64")
    value: Any = obj.data if isinstance(obj, Constant) else obj
    parts = (value.start, value.stop, value.step) if isinstance(value, slice) else (value,)
    is_known = not any(isinstance(part, Variable) for part in parts)
    if n is not None and is_known:
        kept = constant(np.delete(np.arange(n), value))
        return get_item(arr, (*before, kept))
    stays = set_subtensor(get_item(ones(length(arr, axis), "bool"), obj), False)
    return get_item(arr, (*before, nonzero(stays)[0]))


@described
def insert(
    arr: TensorLike, obj: TensorLike | slice, values: TensorLike, axis: int | None = None
) -> Variable:
    """Return a tensor with values put before some of its elements.

    arr (tensor_like): Any tensor.
    obj (int, slice or tensor_like of integers): The positions along ``axis`` before which the
        values come.
    values (tensor_like): They broadcast to the part that is inserted; they are cast to the dtype of
        ``arr``.
    axis (int): The dimension; default: the flattened tensor.
    returns: As :func:`numpy.insert` gives.
    raises IndexError, ValueError: At once, or when a call finds it, if a position lies beyond the
        dimension.

    >>> ft.insert([1, 2, 3], 1, 9).eval()
    array([1, 9, 2, 3])
    >>> ft.insert([1, 2, 3], [0, 2], [8, 9]).eval()
    array([8, 1, 2, 9, 3])
    """
    arr = as_tensor(arr)
    if axis is None:
        return insert(ravel(arr), obj, values, 0)
    axis = normalize_axis(axis, arr.ndim)
    new = as_written(values, arr.dtype)
    missing = arr.ndim - new.ndim
    if missing > 0:
        new = expand_dims(new, tuple(range(missing)))
    own = length(arr, axis)
    places = get_item(arange(own), obj) if isinstance(obj, slice) else as_tensor(obj)
    if places.type.numpy_dtype.kind not in "iu" or places.ndim > 1:
        raise TypeError(
            f"insert takes an integer, a vector of integers or a slice; given {places.type}"
        )
    at = _within(as_tensor(places, "int64"), own)
    if places.ndim == 0:
        new = moveaxis(new, 0, axis)
        shape = [*lengths(arr)]
        shape[axis] = length(new, axis)
        before = [slice(None)] * axis
        parts = get_item(arr, (*before, slice(None, at))), get_item(arr, (*before, slice(at, None)))
        return concatenate([parts[0], broadcast_to(new, shape), parts[1]], axis)
    return _between(arr, at, new, axis)


def _between(arr: Variable, at: Variable, new: Variable, axis: int) -> Variable:
    """``arr`` with a part of length 1 for each of the positions, which keep their order."""
    before, own, count = [slice(None)] * axis, length(arr, axis), length(at, 0)
    shape = [*lengths(arr)]
    shape[axis] = add(own, count)
    there = at + argsort(argsort(at))
    from_arr = arange(own)
    from_arr = from_arr + searchsorted(sort(at), from_arr, "right")
    whole = set_subtensor(get_item(zeros(shape, arr.dtype), (*before, from_arr)), arr)
    return set_subtensor(get_item(whole, (*before, there)), new)


def _within(at: Variable, n: Variable) -> Variable:
    """Positions counted from the start; those that are not known are checked by a run."""
    size = static_length(n)
    if isinstance(at, Constant) and size is not None:
        outside = at.data[(at.data < -size) | (at.data > size)]
        if outside.size:
            raise IndexError(f"{_BEYOND}: {outside.flat[0]} for length {size}")
        return constant(np.where(at.data < 0, at.data + size, at.data))
    negative = _core.elemwise(scalar.lt, at, 0)
    counted = _core.elemwise(scalar.where, negative, _core.elemwise(scalar.add, at, n), at)
    fits = _core.elemwise(
        scalar.and_,
        _core.elemwise(scalar.le, 0, counted),
        _core.elemwise(scalar.le, counted, n),
    )
    return checked(counted, [fits], Check(_BEYOND))
