"""Numbers that are evenly spaced, and grids of them."""

from __future__ import annotations

from functools import reduce
from typing import Literal

import numpy as np
import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import (
    LengthLike,
    as_length,
    length,
    literal,
    maximum,
    static_length,
    subtract,
)
from frazil.tensor.ranges import arange
from frazil.tensor.reshaping import ravel
from frazil.tensor.transposition import moveaxis


@described
def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: LengthLike = 50,
    endpoint: bool = True,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> Variable:
    """Return numbers that are evenly spaced from ``start`` to ``stop``.

    start, stop (tensor_like): The ends, whose shapes broadcast.
    num (int or 0-d integer variable): The number of values.
    endpoint (bool): Whether ``stop`` is the last of them; else it is where the next one would be.
    dtype (dtype_like): Default: what the ends promote to, float64 if that is an integer or bool;
        Python numbers do not count. Numbers are rounded down to integers.
    axis (int): The dimension of the result along which they lie.
    returns: As :func:`numpy.linspace` gives. Gradients flow into both ends.
    example: 0, 1, 5 -> [0.  , 0.25, 0.5 , 0.75, 1.  ]
    """
    working = floating_dtype(start, stop)
    first, last = as_tensor(start, working), as_tensor(stop, working)
    values = _spaced(first, last, _as_count(num), endpoint)
    if dtype is not None and np.dtype(dtype).kind in "iu":
        values = _core.elemwise(scalar.floor, values)
    return _placed(as_tensor(values, dtype), axis)


@described
def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: LengthLike = 50,
    endpoint: bool = True,
    base: TensorLike = 10.0,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> Variable:
    """Return powers of ``base`` whose exponents are evenly spaced.

    start, stop (tensor_like): The exponents of the first and of the last power; their shapes
        broadcast.
    num (int or 0-d integer variable): The number of powers.
    endpoint (bool): Whether ``stop`` is the last exponent.
    base (tensor_like): The base of the powers; it broadcasts with the ends.
    dtype (dtype_like): Default: as for :func:`linspace`.
    axis (int): The dimension of the result along which they lie.
    returns: As :func:`numpy.logspace` gives.
    example: 0, 2, 3 -> [  1.,  10., 100.]
    """
    is_number = isinstance(base, int | float | complex)
    if is_number:
        foot, exponents = base, linspace(start, stop, num, endpoint)
    else:
        ends = [as_tensor(one) for one in (start, stop, base)]
        ndim = max(one.ndim for one in ends)
        first, last, foot = (expand_dims(x, tuple(range(ndim - x.ndim))) for x in ends)
        foot, exponents = expand_dims(foot, 0), linspace(first, last, num, endpoint)
    return _placed(as_tensor(_core.elemwise(scalar.pow, foot, exponents), dtype), axis)


@described
def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: LengthLike = 50,
    endpoint: bool = True,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> Variable:
    """Return a geometric series: each number is the one before it times the same factor.

    start, stop (tensor_like): The ends, not zero; their shapes broadcast. Real ends have one sign,
        complex ones are joined by a spiral.
    num (int or 0-d integer variable): The number of values.
    endpoint (bool): Whether ``stop`` is the last of them.
    dtype (dtype_like): Default: float64, or complex128.
    axis (int): The dimension of the result along which they lie.
    returns: As :func:`numpy.geomspace` gives; NaN between real ends of two signs.
    example: 1, 1000, 4 -> [   1.,   10.,  100., 1000.]
    """
    first, last = as_tensor(start), as_tensor(stop)
    for end in (first, last):
        if isinstance(end, Constant) and (end.data == 0).any():
            raise ValueError(f"no factor leads from zero, or to it; given the end {end}")
    wanted = np.dtype(dtype).name  # NumPy makes float64 of None
    working = _core.promote(floating_dtype(start, stop), wanted)
    first, last = as_tensor(first, working), as_tensor(last, working)
    sign = _core.elemwise(scalar.sign, first)
    # For complex numbers, the direction of the first end.
    low, high = first / sign, last / sign
    count = _as_count(num)
    exponents = _spaced(
        _core.elemwise(scalar.log10, low), _core.elemwise(scalar.log10, high), count, endpoint
    )
    powers = _core.elemwise(scalar.pow, 10.0, exponents)
    # Both ends are as they were given.
    position = _positions(count, powers.ndim)
    values = _core.elemwise(scalar.where, _core.elemwise(scalar.eq, position, 0), low, powers)
    if endpoint:
        values = _core.elemwise(scalar.where, _is_end(position, count), high, values)
    dtype = working if dtype is None else wanted
    return _placed(as_tensor(values * sign, dtype), axis)


@described
def meshgrid(
    *xi: TensorLike, indexing: Literal["xy", "ij"] = "xy", sparse: bool = False
) -> tuple[Variable, ...]:
    """Return the coordinates of the points of a grid, from those along each of its sides.

    xi (tensor_like): The coordinates along each side; tensors of more dimensions are flattened.
    indexing ({"xy", "ij"}): The dimensions of the first two sides: the second and the first, or in
        their order.
    sparse (bool): Leave dimensions along which nothing changes at length 1.
    returns (tuple of Variable): A tensor for each side, as :func:`numpy.meshgrid` gives.

    >>> x, y = ft.meshgrid([1, 2, 3], [10, 20])
    >>> (x + y).eval()
    array([[11, 12, 13],
           [21, 22, 23]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij'; given {indexing!r}")
    sides = [ravel(as_tensor(x)) for x in xi]
    order = list(range(len(sides)))
    if indexing == "xy" and len(sides) > 1:
        order[:2] = [1, 0]
    spread = [
        expand_dims(x, [axis for axis in range(len(sides)) if axis != place])
        for x, place in zip(sides, order, strict=True)
    ]
    if sparse:
        return tuple(spread)
    shape = [length(sides[order.index(axis)], 0) for axis in range(len(sides))]
    return tuple(broadcast_to(x, shape) for x in spread)


def _as_count(num: LengthLike) -> Variable:
    count = as_length(num)
    if (static_length(count) or 0) < 0:
        raise ValueError(f"the number of samples must not be negative; given {num}")
    return count


def floating_dtype(*values: TensorLike) -> str:
    """The dtype in which numbers from ``values`` are computed; Python numbers fit into any."""
    dtypes = [as_tensor(x).dtype for x in values if not isinstance(x, int | float | complex)]
    dtype = reduce(_core.promote, dtypes) if dtypes else "float64"
    if not dtype.startswith(("float", "complex")):
        dtype = "float64"
    has_complex = any(isinstance(x, complex) for x in values)
    return _core.promote(dtype, "complex64") if has_complex else dtype


def _spaced(first: Variable, last: Variable, count: Variable, endpoint: bool) -> Variable:
    """Return numbers from ``first`` to ``last`` along a new first dimension."""
    steps = maximum(subtract(count, literal(1)) if endpoint else count, literal(1))
    distance = _core.elemwise(scalar.sub, last, first)
    position = _positions(count, distance.ndim + 1)
    position, divisor = as_tensor(position, first.dtype), as_tensor(steps, first.dtype)
    step = distance / divisor
    vanishes = _core.elemwise(scalar.eq, step, 0)
    values = first + _core.elemwise(
        scalar.where, vanishes, position / divisor * distance, position * step
    )
    if endpoint:
        values = _core.elemwise(scalar.where, _is_end(position, count), last, values)
    return values


def _positions(count: Variable, ndim: int) -> Variable:
    return expand_dims(arange(count), tuple(range(1, ndim)))


def _is_end(position: Variable, count: Variable) -> Variable:
    """Return which position is the last; a single one is the first, and not the last."""
    last = maximum(subtract(count, literal(1)), literal(1))
    return _core.elemwise(scalar.eq, position, last)


def _placed(values: Variable, axis: int) -> Variable:
    return moveaxis(values, 0, normalize_axis(axis, values.ndim))
