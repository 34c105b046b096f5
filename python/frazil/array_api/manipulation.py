"""Arrays of other shapes, parts and orders, and positions of elements."""

from __future__ import annotations

from collections.abc import Sequence

import frazil.tensor as ft
from frazil.array_api.array import Array, Number, lifted, lifted_all


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Return the arrays in the shape that they broadcast to together."""
    return list(lifted_all(ft.broadcast_arrays, *arrays))


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """Return ``x``, repeated to ``shape``."""
    return lifted(ft.broadcast_to, x, shape)


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Return arrays one after the other along an axis; all elements of all for None."""
    return lifted(ft.concat, list(arrays), axis)


def expand_dims(x: Array, /, axis: int | tuple[int, ...] = 0) -> Array:
    """Return ``x`` with new dimensions of length 1."""
    return lifted(ft.expand_dims, x, axis)


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Return ``x`` with the order of elements reversed along some axes, or all."""
    return lifted(ft.flip, x, axis)


def moveaxis(
    x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Array:
    """Return ``x`` with dimensions at other positions."""
    return lifted(ft.moveaxis, x, source, destination)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Return ``x`` with its dimensions in the order ``axes``."""
    return lifted(ft.permute_dims, x, axes)


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Return each element of ``x`` several times, one after the other."""
    return lifted(ft.repeat, x, repeats, axis)


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Return the elements of ``x`` in another shape; arrays never share elements."""
    if copy is False:
        raise ValueError("reshape cannot promise that elements are shared: arrays share none")
    return lifted(ft.reshape, x, shape)


def roll(
    x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None
) -> Array:
    """Return ``x`` with its elements moved; those that leave one end enter at the other."""
    return lifted(ft.roll, x, shift, axis)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Return ``x`` without some dimensions of length 1."""
    return lifted(ft.squeeze, x, axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Return arrays of one shape along a new axis."""
    return lifted(ft.stack, list(arrays), axis)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Return copies of ``x`` beside each other, so many along each axis."""
    return lifted(ft.tile, x, repetitions)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of ``x`` along an axis, each without it."""
    return lifted_all(ft.unstack, x, axis=axis)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Return the elements of ``x`` at positions along an axis."""
    return lifted(ft.take, x, indices, axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return elements of ``x``, at positions of their own for each line along an axis."""
    return lifted(ft.take_along_axis, x, indices, axis)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Return the positions of the elements that are not zero: an array for each dimension."""
    return lifted_all(ft.nonzero, x)


def where(condition: Array, x1: Array | Number, x2: Array | Number, /) -> Array:
    """Return elements of ``x1`` where the condition holds, and of ``x2`` elsewhere."""
    return lifted(ft.where, condition, x1, x2)
