"""Tensors with elements added at the ends of their dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_mapping, is_sequence
from frazil.scalar.constants import TensorLike, as_tensor, as_written
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.checks import Check, checked
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.rounding import round
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import LengthLike, add, as_length, length, lengths, literal, subtract
from frazil.tensor.moments import mean
from frazil.tensor.quantiles import median
from frazil.tensor.ranges import arange
from frazil.tensor.rearranging import flip
from frazil.tensor.reductions import max, min
from frazil.tensor.spacing import linspace
from frazil.tensor.taking import take

Pairs: TypeAlias = Sequence[tuple[Any, Any]]

_STATISTICS: Mapping[str, Callable[..., Variable]] = {
    "maximum": max,
    "mean": mean,
    "median": median,
    "minimum": min,
}
_MODES: Mapping[str, str | None] = {
    "constant": "constant_values",
    "edge": None,
    "empty": None,
    "linear_ramp": "end_values",
    **dict.fromkeys(_STATISTICS, "stat_length"),
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "wrap": None,
}
"""The argument that each mode takes beside the widths."""


@described
def pad(
    array: TensorLike,
    pad_width: LengthLike | Sequence[object] | Mapping[int, object],
    mode: str = "constant",
    *,
    constant_values: object = None,
    end_values: object = None,
    stat_length: object = None,
    reflect_type: Literal["even", "odd"] | None = None,
) -> Variable:
    """Return a tensor with elements added before and behind those along each dimension.

    array (tensor_like): Any tensor.
    pad_width (int, sequence or dict): The number of elements: a number for all ends, a pair
        (before, behind) for all dimensions, or a number or pair for each dimension; a dict names
        the dimensions. The numbers may be 0-d integer variables.
    mode (str): The elements to add, as for :func:`numpy.pad`: "constant", "edge", "linear_ramp",
        "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap" or "empty", which is
        0 here.
    constant_values (number, or sequence as for ``pad_width``): For "constant"; default: 0.
    end_values (number, or sequence as for ``pad_width``): For "linear_ramp": what stands at the new
        ends; default: 0.
    stat_length (int, or sequence as for ``pad_width``): For "maximum" and its kin: how many
        elements at an end count; default: all.
    reflect_type ({"even", "odd"}): For "reflect" and "symmetric": whether elements are repeated as
        in a mirror, which is the default, or turned by half around each end, so that a line goes on
        as a line.
    returns: Of the dtype of ``array``.
    raises ValueError: For an argument that the mode does not take, for negative widths, and
        for a dimension without elements, but in the modes "constant" and "empty".

    >>> ft.pad([1, 2, 3], 2).eval()
    array([0, 0, 1, 2, 3, 0, 0])
    >>> ft.pad([1, 2, 3], (2, 1), mode="reflect").eval()
    array([3, 2, 1, 2, 3, 2])
    """
    x = as_tensor(array)
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}; given {mode!r}")
    options = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    for name, option in options.items():
        if option is not None and name != _MODES[mode]:
            raise ValueError(f"mode {mode!r} takes no {name}; given {option!r}")
    if reflect_type not in ("even", "odd", None):
        raise ValueError(f"reflect_type must be 'even' or 'odd'; given {reflect_type!r}")
    widths = _pairs(_of_axes(pad_width, x.ndim), x.ndim, "pad_width")
    given = end_values if mode == "linear_ramp" else constant_values
    values = _pairs(0 if given is None else given, x.ndim, "values")
    counts = _pairs(stat_length, x.ndim, "stat_length")
    for axis, (before, behind) in enumerate(widths):
        if all(isinstance(n, int | np.integer) and n == 0 for n in (before, behind)):
            continue
        if x.type.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(f"there is nothing to repeat along axis {axis} of {x.type}")
        ends = (_as_width(before), _as_width(behind))
        if mode not in ("constant", "empty"):
            x = _with_something(x, axis, ends)
        if mode in ("reflect", "symmetric") and reflect_type == "odd":
            x = _turned(mode, x, *ends, axis)
        elif mode in ("edge", "reflect", "symmetric", "wrap"):
            x = take(x, _sources(mode, length(x, axis), *ends), axis)
        elif mode in ("constant", "empty"):
            fills = values[axis] if mode == "constant" else (0, 0)
            added = [_filled(x, fill, n, axis) for fill, n in zip(fills, ends, strict=True)]
            x = concatenate([added[0], x, added[1]], axis)
        elif mode == "linear_ramp":
            x = _ramped(x, values[axis], ends, axis)
        else:
            x = _with_statistics(x, _STATISTICS[mode], counts[axis], ends, axis)
    return x


def _of_axes(given: object, ndim: int) -> object:
    """A dict of dimensions written out."""
    if not is_mapping(given):
        return given
    named = {normalize_axis(axis, ndim): width for axis, width in given.items()}
    return [named.get(axis, 0) for axis in range(ndim)]


def _pairs(given: object, ndim: int, name: str) -> Pairs:
    """A pair for each dimension, of numbers that NumPy would broadcast to that."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not is_sequence(given):
        return [(given, given)] * ndim
    rows = [
        tuple(one.tolist() if isinstance(one, np.ndarray) else one)
        if isinstance(one, Sequence | np.ndarray)
        else one
        for one in given
    ]
    if not any(isinstance(one, tuple) for one in rows):
        if len(rows) == 1:
            return [(rows[0], rows[0])] * ndim
        if len(rows) == 2:
            return [(rows[0], rows[1])] * ndim
    pairs = [one if isinstance(one, tuple) else (one, one) for one in rows]
    pairs = [one * 2 if len(one) == 1 else one for one in pairs]
    if len(pairs) == 1:
        pairs *= ndim
    if len(pairs) != ndim or any(len(one) != 2 for one in pairs):
        raise ValueError(f"{name} must be a number, a pair, or one for each of {ndim} dimensions")
    return [(before, behind) for before, behind in pairs]


def _as_width(n: LengthLike) -> Variable:
    if isinstance(n, int | np.integer) and n < 0:
        raise ValueError(f"a number of elements cannot be negative; given {n}")
    return as_length(n)


def _with_something(x: Variable, axis: int, ends: tuple[Variable, Variable]) -> Variable:
    """Return ``x``, checked for elements along an axis: the added ones are made of them."""
    if x.type.shape[axis] is not None:
        return x
    needed = _core.elemwise(scalar.minimum, add(*ends), literal(1))
    there = _core.elemwise(scalar.ge, length(x, axis), needed)
    return checked(x, [there], Check(f"there is nothing to repeat along axis {axis}"))


def _sources(mode: str, n: Variable, before: Variable, behind: Variable) -> Variable:
    """The element that stands at each position."""
    at = arange(subtract(literal(0), before), add(n, behind))
    last = subtract(n, literal(1))
    if mode == "edge":
        return _core.elemwise(scalar.clip, at, 0, last)
    if mode == "wrap":
        return _core.elemwise(scalar.mod, at, n)
    # There and back: at the ends, "symmetric" has an element twice, and "reflect" once.
    period = (
        add(n, n) if mode == "symmetric" else _core.elemwise(scalar.maximum, add(last, last), 1)
    )
    there = _core.elemwise(scalar.mod, at, period)
    turn = subtract(period, literal(1)) if mode == "symmetric" else period
    back = _core.elemwise(scalar.sub, turn, there)
    return _core.elemwise(scalar.minimum, there, back)


def _turned(mode: str, x: Variable, before: Variable, behind: Variable, axis: int) -> Variable:
    """Add what is there turned around the ends: each is a centre of symmetry of the result.

    Every second copy is turned. A copy differs from the next but one by twice the distance from
    the first element to the last one.
    """
    n = length(x, axis)
    at = arange(subtract(literal(0), before), add(n, behind))
    period = n
    if mode == "reflect":
        period = _core.elemwise(scalar.maximum, subtract(n, literal(1)), 1)
    copy = at // period
    place, odd = _core.elemwise(scalar.mod, at, period), _core.elemwise(scalar.mod, copy, 2)
    source = _core.elemwise(scalar.where, odd > 0, subtract(subtract(n, literal(1)), place), place)
    numbers = as_tensor(x, "int8") if x.dtype == "bool" else x
    first, last = (expand_dims(end, axis) for end in _ends(numbers, axis))
    behind_it = list(range(1, x.ndim - axis))
    copy, odd = (expand_dims(one, behind_it) for one in (copy, odd))
    centre = _core.elemwise(scalar.where, copy < 0, first, last)
    result = take(numbers, source, axis)
    result = _core.elemwise(scalar.where, odd > 0, centre + centre - result, result)
    shifts = _core.elemwise(scalar.where, copy < 0, -(-copy // 2), copy // 2)
    shift = last - first
    far = result + as_tensor(shifts, numbers.dtype) * (shift + shift)
    return as_tensor(
        _core.elemwise(scalar.where, _core.elemwise(scalar.eq, shifts, 0), result, far), x.dtype
    )


def _filled(x: Variable, value: TensorLike, n: Variable, axis: int) -> Variable:
    shape = [*lengths(x)]
    shape[axis] = n
    return broadcast_to(as_written(value, x.dtype), shape)


def _ends(x: Variable, axis: int) -> tuple[Variable, Variable]:
    """The first and the last elements along an axis."""
    before = [slice(None)] * axis
    return get_item(x, (*before, 0)), get_item(x, (*before, -1))


def _ramped(
    x: Variable, values: tuple[TensorLike, TensorLike], ends: tuple[Variable, Variable], axis: int
) -> Variable:
    first, last = _ends(x, axis)
    up, down = (
        as_tensor(linspace(value, edge, n, endpoint=False, axis=axis), x.dtype)
        if x.dtype.startswith(("float", "complex"))
        else linspace(value, edge, n, endpoint=False, dtype=x.dtype, axis=axis)
        for value, edge, n in zip(values, (first, last), ends, strict=True)
    )
    return concatenate([up, x, flip(down, axis)], axis)


def _with_statistics(
    x: Variable,
    statistic: Callable[..., Variable],
    counts: tuple[LengthLike | None, LengthLike | None],
    ends: tuple[Variable, Variable],
    axis: int,
) -> Variable:
    before = [slice(None)] * axis
    own = length(x, axis)
    added = []
    for count, n, at_start in zip(counts, ends, (True, False), strict=True):
        part = x
        if count is not None:
            taken = _core.elemwise(scalar.minimum, _as_width(count), own)
            kept = slice(None, taken) if at_start else slice(subtract(own, taken), None)
            part = get_item(x, (*before, kept))
        told = statistic(part, axis=axis, keepdims=True)
        if told.dtype != x.dtype and x.type.numpy_dtype.kind in "iu":
            told = round(told)
        shape = [*lengths(x)]
        shape[axis] = n
        added.append(broadcast_to(as_tensor(told, x.dtype), shape))
    return concatenate([added[0], x, added[1]], axis)
