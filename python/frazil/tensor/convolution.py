"""Sums of products over windows: convolutions, and pools of neighbours.

Windows are gathered, so that a convolution is a product of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.complex import conjugate
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes
from frazil.tensor.checks import Check, checked
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.elementwise.choice import where
from frazil.tensor.elementwise.table import logical_and
from frazil.tensor.index_syntax import get_item
from frazil.tensor.lengths import (
    LengthLike,
    add,
    as_length,
    floor_divide,
    length,
    lengths,
    literal,
    maximum,
    minimum,
    subtract,
)
from frazil.tensor.moments import mean
from frazil.tensor.padding import pad
from frazil.tensor.products import matmul, tensordot
from frazil.tensor.ranges import arange
from frazil.tensor.rearranging import flip
from frazil.tensor.reductions import max, sum
from frazil.tensor.taking import take
from frazil.tensor.transposition import moveaxis

Mode: TypeAlias = Literal["full", "same", "valid"]
Sizes: TypeAlias = int | Sequence[int]


@described
def sliding_window_view(
    x: TensorLike,
    window_shape: LengthLike | Sequence[LengthLike],
    axis: int | Sequence[int] | None = None,
) -> Variable:
    """Return all windows of a tensor.

    x (tensor_like): Any tensor with dimensions.
    window_shape (int, 0-d integer variable, or a sequence of them): The lengths of windows along
        each dimension.
    axis (int or sequence of int): The dimensions along which windows slide; default: all.
    returns: With the dimensions of windows last, as NumPy's function of this name gives; a copy.

    >>> ft.sliding_window_view([1, 2, 3, 4], 2).eval()
    array([[1, 2],
           [2, 3],
           [3, 4]])
    """
    x = as_tensor(x)
    wanted = window_shape if is_sequence(window_shape) else [window_shape]
    if axis is None:
        axes = list(range(x.ndim))
    else:
        axes = [normalize_axes(one, x.ndim)[0] for one in np.atleast_1d(axis).tolist()]
    if len(axes) != len(wanted):
        raise ValueError(f"{len(wanted)} lengths of windows for {len(axes)} dimensions of {x.type}")
    for along, size in zip(axes, wanted, strict=True):
        fits = _core.elemwise(scalar.le, size, length(x, along))
        x = checked(x, [fits], Check("a window must not be longer than the tensor"))
        x = _slide(x, as_length(size), along, 1)
    return x


def _slide(x: Variable, size: Variable, axis: int, stride: int) -> Variable:
    """``x`` with windows along ``axis``, which start ``stride`` apart, as a last dimension."""
    count = add(floor_divide(subtract(length(x, axis), size), literal(stride)), literal(1))
    starts = arange(maximum(count, literal(0))) * stride
    positions = expand_dims(starts, 1) + arange(size)
    return moveaxis(take(x, positions, axis), axis + 1, -1)


@described
def convolve(a: TensorLike, v: TensorLike, mode: Mode = "full") -> Variable:
    """Return the convolution of two vectors.

    a, v (tensor_like): Vectors with elements; a number is a vector of one.
    mode ({"full", "same", "valid"}): The elements to return: all where the vectors overlap, as many
        as the longer one has, or those where they overlap completely.
    returns: As :func:`numpy.convolve` gives.
    example: [1.0, 2.0, 3.0], [0.0, 1.0, 0.5] -> [0. , 1. , 2.5, 4. , 1.5]
    """
    a, v = _vectors(*(_as_vector(as_tensor(one)) for one in (a, v)))
    less = minimum(length(a, 0), length(v, 0))
    return _moved_along(a, flip(v), mode, floor_divide(subtract(less, literal(1)), literal(2)))


def _moved_along(a: Variable, v: Variable, mode: Mode, start: Variable) -> Variable:
    """The sums of products with ``v`` moved along ``a``; the mode "same" begins at ``start``."""
    n, m = length(a, 0), length(v, 0)
    # Sizes are found before a check refuses vectors without elements, so they must fit for these.
    around = maximum(subtract(m, literal(1)), literal(0))
    windows = _slide(pad(a, [(around, around)]), m, 0, 1)
    if all(x.type.numpy_dtype.kind in "biu" for x in (a, v)):
        whole = matmul(windows, v)
    else:
        # An infinity beside the zeros around would be NaN, so products with these are left out.
        at = expand_dims(arange(length(windows, 0)), 1) + arange(m)
        there = logical_and(at >= around, at < add(n, around))
        whole = sum(where(there, windows * v, 0), 1)
    if mode == "full":
        return whole
    if mode == "same":
        return get_item(whole, slice(start, add(start, maximum(n, m))))
    if mode == "valid":
        return get_item(whole, slice(subtract(minimum(n, m), literal(1)), maximum(n, m)))
    raise ValueError(f"mode must be 'full', 'same' or 'valid'; given {mode!r}")


@described_like(convolve)
def correlate(a: TensorLike, v: TensorLike, mode: Mode = "valid") -> Variable:
    """Return the correlation of two vectors: the sums of products where one is moved along.

    returns: As :func:`numpy.correlate` gives.
    example: [1.0, 2.0, 3.0], [0.0, 1.0, 0.5] -> [3.5]
    """
    a, v = _vectors(a, v)
    v = conjugate(v)
    n, m = length(a, 0), length(v, 0)
    less = minimum(n, m)
    # NumPy moves the shorter one along the longer one, and turns what it finds.
    turned = minimum(subtract(m, less), literal(1))
    start = floor_divide(add(subtract(less, literal(1)), turned), literal(2))
    return _moved_along(a, v, mode, start)


@described
def convolve2d(
    in1: TensorLike,
    in2: TensorLike,
    mode: Mode = "full",
    boundary: Literal["fill", "wrap", "symm"] = "fill",
    fillvalue: TensorLike = 0,
) -> Variable:
    """Return the convolution of two matrices.

    in1, in2 (tensor_like): Matrices with elements.
    mode ({"full", "same", "valid"}): The elements to return: all where the matrices overlap, the
        middle of these in the shape of ``in1``, or those where they overlap completely. In the last
        case ``in1`` must not be smaller than ``in2``, unless types tell that it is not larger.
    boundary ({"fill", "wrap", "symm"}): The elements around ``in1``: ``fillvalue``, its other end,
        or its image in a mirror.
    fillvalue (number): For "fill".
    returns: As :func:`scipy.signal.convolve2d` gives.

    >>> ft.convolve2d([[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0]], "same").eval()
    array([[1., 3.],
           [3., 7.]])
    """
    return _moved_over(as_tensor(in1), flip(as_tensor(in2)), mode, boundary, fillvalue, 1)


def _moved_over(
    a: Variable, v: Variable, mode: str, boundary: str, fillvalue: TensorLike, off: int
) -> Variable:
    """The sums of products where ``v`` is moved over ``a``.

    Those of "same" begin at half of the lengths of ``v`` less ``off``.
    """
    own_shape = lengths(a)
    if a.ndim != 2 or v.ndim != 2 or 0 in (*a.type.shape, *v.type.shape):
        raise ValueError(f"two matrices with elements are needed; given {a.type} and {v.type}")
    kinds = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}
    if mode not in ("full", "same", "valid") or boundary not in kinds:
        raise ValueError(
            "mode must be 'full', 'same' or 'valid', and boundary 'fill', 'wrap' or 'symm'; given "
            f"{mode!r} and {boundary!r}"
        )
    if mode == "valid":
        a, v = _larger_first(a, v)
    around = [subtract(length(v, axis), literal(1)) for axis in (0, 1)]
    if mode != "valid":
        widths = [(n, n) for n in around]
        fill = fillvalue if boundary == "fill" else None
        a = pad(a, widths, kinds[boundary], constant_values=fill)
    windows = _slide(_slide(a, length(v, 0), 0, 1), length(v, 1), 1, 1)
    whole = tensordot(windows, v, axes=2)
    if mode != "same":
        return whole
    starts = [floor_divide(subtract(n, literal(off)), literal(2)) for n in lengths(v)]
    return get_item(
        whole, tuple(slice(k, add(k, n)) for k, n in zip(starts, own_shape, strict=True))
    )


@described_like(convolve2d)
def correlate2d(
    in1: TensorLike,
    in2: TensorLike,
    mode: Mode = "full",
    boundary: Literal["fill", "wrap", "symm"] = "fill",
    fillvalue: TensorLike = 0,
) -> Variable:
    """Return the correlation of two matrices.

    returns: As :func:`scipy.signal.correlate2d` gives.

    >>> ft.correlate2d([[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0]], "valid").eval()
    array([[3.],
           [7.]])
    """
    return _moved_over(as_tensor(in1), conjugate(as_tensor(in2)), mode, boundary, fillvalue, 0)


def _larger_first(a: Variable, v: Variable) -> tuple[Variable, Variable]:
    """Return two matrices in the order in which the second one slides within the first one.

    If they change places, both are turned, so that the results keep their order.
    """
    pairs = [
        (n, m)
        for n, m in zip(a.type.shape, v.type.shape, strict=True)
        if n is not None and m is not None and n != m
    ]
    larger = {n > m for n, m in pairs}
    if len(larger) > 1:
        raise ValueError(f"neither lies within the other: {a.type} and {v.type}")
    if larger == {False}:
        a, v = flip(v), flip(a)
    fits = [_core.elemwise(scalar.ge, length(a, k), length(v, k)) for k in (0, 1)]
    return checked(a, fits, Check("the first matrix must not be smaller than the second")), v


def _as_vector(x: Variable) -> Variable:
    return x if x.ndim else expand_dims(x, 0)


def _vectors(a: TensorLike, v: TensorLike) -> tuple[Variable, Variable]:
    a, v = as_tensor(a), as_tensor(v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"two vectors are needed; given {a.type} and {v.type}")
    if 0 in (*a.type.shape, *v.type.shape):
        raise ValueError(f"vectors with elements are needed; given {a.type} and {v.type}")
    filled = [_core.elemwise(scalar.gt, length(one, 0), 0) for one in (a, v)]
    return checked(a, filled, Check("vectors with elements are needed")), v


@described
def conv1d(x: TensorLike, w: TensorLike, stride: int = 1, padding: Sizes = 0) -> Variable:
    """Return the correlation of signals with filters, as layers of networks have it.

    x (tensor_like): Signals, of shape (batch, channels, length).
    w (tensor_like): Filters, of shape (filters, channels, length).
    stride (int): The distance between windows.
    padding (int): The number of zeros at both ends.
    returns: Of shape (batch, filters, length).
    example: [[[1.0, 2.0, 4.0]]], [[[1.0, -1.0]]] -> [[[-1., -2.]]]
    """
    return _convolved(as_tensor(x), as_tensor(w), stride, padding, 1)


@described
def conv2d(x: TensorLike, w: TensorLike, stride: Sizes = 1, padding: Sizes = 0) -> Variable:
    """Return the correlation of images with filters, as layers of networks have it.

    x (tensor_like): Images, of shape (batch, channels, rows, columns).
    w (tensor_like): Filters, of shape (filters, channels, rows, columns).
    stride (int or pair of int): The distance between windows.
    padding (int or pair of int): The number of zeros at both ends.
    returns: Of shape (batch, filters, rows, columns).

    >>> ft.conv2d(ft.ones((1, 1, 3, 3)), ft.ones((1, 1, 2, 2))).eval()
    array([[[[4., 4.],
             [4., 4.]]]])
    """
    return _convolved(as_tensor(x), as_tensor(w), stride, padding, 2)


def _convolved(x: Variable, w: Variable, stride: Sizes, padding: Sizes, ndim: int) -> Variable:
    if x.ndim != ndim + 2 or w.ndim != ndim + 2:
        raise ValueError(f"tensors of {ndim + 2} dimensions are needed; given {x.type}, {w.type}")
    steps, zeros = _sizes(stride, ndim, 1), _sizes(padding, ndim, 0)
    x = pad(x, [(0, 0), (0, 0), *((n, n) for n in zeros)])
    for axis, step in enumerate(steps, start=2):
        x = _slide(x, length(w, axis), axis, step)
    inner = list(range(ndim + 2, 2 * ndim + 2))
    products = tensordot(x, w, axes=([1, *inner], list(range(1, ndim + 2))))
    return moveaxis(products, -1, 1)


@described
def max_pool(x: TensorLike, window: Sizes, stride: Sizes | None = None) -> Variable:
    """Return the largest elements in windows over the last dimensions.

    x (tensor_like): A tensor with as many dimensions as windows have, or more.
    window (int or sequence of int): The lengths of windows; an int stands for one dimension.
    stride (int or sequence of int): The distance between windows; default: side by side.
    returns: Elements at the end that do not fill a window are left out.
    example: [[1.0, 2.0, 5.0, 4.0]], 2 -> [[2., 5.]]
    """
    x, axes = _pooled(as_tensor(x), window, stride)
    return max(x, axes)


@described_like(max_pool)
def avg_pool(x: TensorLike, window: Sizes, stride: Sizes | None = None) -> Variable:
    """Return the means of elements in windows over the last dimensions.

    returns: Elements at the end that do not fill a window are left out.
    example: [[1.0, 2.0, 5.0, 4.0]], 2 -> [[1.5, 4.5]]
    """
    x, axes = _pooled(as_tensor(x), window, stride)
    return mean(x, axes)


def _pooled(x: Variable, window: Sizes, stride: Sizes | None) -> tuple[Variable, tuple[int, ...]]:
    sizes = [window] if isinstance(window, int) else list(window)
    ndim = len(sizes)
    if x.ndim < ndim:
        raise ValueError(f"windows of {ndim} dimensions do not fit {x.type}")
    sizes = _sizes(sizes, ndim, 1)
    steps = sizes if stride is None else _sizes(stride, ndim, 1)
    first = x.ndim - ndim
    for axis, (size, step) in enumerate(zip(sizes, steps, strict=True), start=first):
        x = _slide(x, literal(size), axis, step)
    return x, tuple(range(x.ndim - ndim, x.ndim))


def _sizes(given: Sizes, ndim: int, least: int) -> list[int]:
    sizes = [given] * ndim if isinstance(given, int) else list(given)
    if len(sizes) != ndim or any(n < least for n in sizes):
        raise ValueError(f"{ndim} ints of at least {least} are needed; given {given}")
    return sizes
