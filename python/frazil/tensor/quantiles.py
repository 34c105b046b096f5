"""Medians and other quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, Variable
from frazil.scalar.complex import refuse_complex
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.axes import normalize_axes
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.checks import Check, checked
from frazil.tensor.cumulation import cumsum
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import (
    floor_divide,
    length,
    lengths,
    literal,
    product,
    static_length,
    subtract,
)
from frazil.tensor.reductions import Axis, sum
from frazil.tensor.reshaping import reshape
from frazil.tensor.sorting import argsort, sort
from frazil.tensor.statistics import weights_along
from frazil.tensor.taking import take_along_axis
from frazil.tensor.transposition import permute_dims

_NOT_BELOW = Check("weights must not be negative")
_SOME_WEIGHT = Check("weights must be finite, and not all of them 0")

QuantilePlace: TypeAlias = Callable[[Variable, Variable], Variable]
"""The place of a quantile among sorted elements, from their number and the share."""
Weight: TypeAlias = Callable[[Variable], Variable]
"""The weight of the neighbour above, from the distance of the place to the one below."""
Pick: TypeAlias = Callable[[Variable, Variable], Variable]
"""The elements at places of sorted ones."""


@described
def median(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the middle of the sorted elements, or the mean of both that are in the middle.

    a (tensor_like): Any tensor; a NaN makes the result NaN.
    returns: As :func:`numpy.median` gives, in the dtype of ``a`` if that is floating or complex,
        else in float64. The elements are sorted; of complex ones with a NaN the result is the last.
    example: [[3.0, 1.0, 2.0], [6.0, 4.0, 9.0]], axis=1 -> [2., 6.]
    """
    x = _as_floating(as_tensor(a))
    ordered = sort(_filled(_first(x, axis)), 0)
    count = length(ordered, 0)
    low = get_item(ordered, floor_divide(subtract(count, literal(1)), literal(2)))
    high = get_item(ordered, floor_divide(count, literal(2)))
    # One part of a complex NaN may be a number, which NumPy keeps.
    nan = get_item(ordered, -1) if x.type.numpy_dtype.kind == "c" else np.nan
    has_nan = get_item(_last_is_nan(ordered), 0)
    middle = _core.elemwise(scalar.where, has_nan, nan, _mean(low, high, count))
    return _kept(middle, x, axis, keepdims)


@described
def nanmedian(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the median of the elements that are not NaN.

    a (tensor_like): Any tensor.
    returns: As :func:`numpy.nanmedian` gives; NaN where there is no number.
    example: [[3.0, 1.0, 2.0], [6.0, ft.nan, 9.0]], axis=1 -> [2. , 7.5]
    """
    x = _as_floating(as_tensor(a))
    ordered = sort(_filled(_first(x, axis)), 0)
    count = expand_dims(_numbers(ordered), 0)
    below = _core.elemwise(scalar.maximum, count - 1, 0)
    low, high = (
        get_item(take_along_axis(ordered, place, 0), 0)
        for place in (below // 2, _core.elemwise(scalar.minimum, count // 2, below))
    )
    return _kept(_mean(low, high, get_item(count, 0)), x, axis, keepdims)


@described
def quantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Variable:
    """Return the numbers below which given shares of the elements lie.

    a (tensor_like): Any tensor with elements; a NaN makes the result NaN.
    q (tensor_like): The shares, from 0 to 1; 2 dimensions at most.
    method (str): The value between two elements: any of the names that :func:`numpy.quantile`
        takes.
    weights (tensor_like): What each element counts, not below 0 and not 0 for all; of the shape of
        ``a``, or with the dimensions ``axis`` alone. The method is then "inverted_cdf".
    returns: With the dimensions of ``q`` in front, as :func:`numpy.quantile` gives. The elements
        are sorted. If a share falls on an element it is that, also beside an infinite one.
    example: [1.0, 2.0, 3.0, 4.0], [0.25, 0.5] -> [1.75, 2.5 ]
    """
    return _quantile(a, q, 1, axis, method, keepdims, weights)


@described_like(quantile)
def percentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Variable:
    """Return the numbers below which given percentages of the elements lie.

    q (tensor_like): The percentages, from 0 to 100; 2 dimensions at most.
    returns: With the dimensions of ``q`` in front, as :func:`numpy.percentile` gives.
    example: [1.0, 2.0, 3.0, 4.0], 50 -> 2.5
    """
    return _quantile(a, q, 100, axis, method, keepdims, weights)


@described_like(quantile)
def nanquantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Variable:
    """Return the numbers below which given shares of the elements that are not NaN lie.

    a (tensor_like): Any tensor; one of integers has elements where ``method`` chooses one.
    returns: As :func:`numpy.nanquantile` gives; NaN where there is no number. If ``method`` chooses
        one of no integers, that is an IndexError at the call, unless the type tells that there are
        none.
    example: [1.0, ft.nan, 3.0], [0.5, 1.0] -> [2., 3.]
    """
    return _quantile(a, q, 1, axis, method, keepdims, weights, pass_over_nan=True)


@described_like(percentile)
def nanpercentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Variable:
    """Return the numbers below which given percentages of the elements that are not NaN lie.

    a (tensor_like): Any tensor; one of integers has elements where ``method`` chooses one.
    returns: As :func:`numpy.nanpercentile` gives; NaN where there is no number, as in
        :func:`nanquantile`.
    example: [1.0, ft.nan, 3.0], 50 -> 2.
    """
    return _quantile(a, q, 100, axis, method, keepdims, weights, pass_over_nan=True)


def _as_shares(q: TensorLike, whole: int) -> Variable:
    """Return ``q`` as shares of 1."""
    shares = refuse_complex(as_tensor(q), "the share of a quantile")
    if shares.ndim > 2:
        raise ValueError(f"q must have 2 dimensions at most; given {shares.type}")
    if isinstance(shares, Constant):
        if not ((shares.data >= 0) & (shares.data <= whole)).all():
            raise ValueError(f"q must be from 0 to {whole}; given {q!r}")
        return constant(np.true_divide(shares.data, whole))
    within = _core.elemwise(scalar.and_, shares >= 0, shares <= whole)  # nor NaN
    shares = checked(shares, [within], Check(f"q must be from 0 to {whole}"))
    return _as_floating(shares) if whole == 1 else _as_floating(shares) / whole


def _quantile(
    a: TensorLike,
    share: TensorLike,
    whole: int,
    axis: Axis,
    method: str,
    keepdims: bool,
    weights: TensorLike | None,
    *,
    pass_over_nan: bool = False,
) -> Variable:
    """Return quantiles; a weak share, a Python number, gives the dtype of ``a``.

    ``whole`` is the share that stands for all elements: 1, or 100 for percentages.
    """
    x = refuse_complex(as_tensor(a), "a quantile")
    q, weak = _as_shares(share, whole), type(share) in (int, float)
    if method == "linear" and whole == 1 and as_tensor(share).type.numpy_dtype.kind in "biu":
        # Whole shares are 0 and 1: the first and the last element, whose dtype NumPy keeps then.
        method = "lower"
    if method not in _WEIGHTS and method not in _PLACES:
        known = ", ".join(map(repr, sorted({*_WEIGHTS, *_PLACES})))
        raise ValueError(f"method must be one of {known}; given {method!r}")
    if x.dtype == "bool":
        raise TypeError(f"quantiles are of numbers; given {x.type}. Cast it first.")
    if weights is not None:
        own = weights_along(as_tensor(weights), x, axis)
        values = _weighted(x, q, axis, method, own, pass_over_nan)
        return _kept(values, x, axis, keepdims, q.ndim)
    lines = _first(x, axis)
    is_empty = 0 in x.type.shape  # the dtype of a result cannot depend on what a run finds
    if pass_over_nan and (is_empty or method in _WEIGHTS or lines.dtype.startswith("float")):
        lines = _filled(_as_floating(lines))
    ordered = sort(lines, 0)
    has_nan = ordered.dtype.startswith("float")
    of_lines = pass_over_nan and has_nan
    if of_lines:
        # NaN are sorted to the end, behind the elements that count; each line has its own number.
        count = as_tensor(_numbers(ordered), q.dtype)
        shares = expand_dims(q, tuple(range(q.ndim, q.ndim + count.ndim)))
    else:
        count, shares = as_tensor(length(ordered, 0), q.dtype), q
    pick = _pick_of_lines if of_lines else get_item
    if method in _PLACES:
        values = pick(ordered, as_tensor(_PLACES[method](count, shares), "int64"))
    else:
        place, weight_of = _WEIGHTS[method]
        floating = _as_floating(ordered)
        dtype = floating.dtype if weak else None
        values = _between(floating, place(count, shares), count, weight_of, dtype, pick)
    if has_nan and not of_lines:
        nan = get_item(_last_is_nan(ordered), 0)
        values = _core.elemwise(scalar.where, nan, np.nan, values)
    return _kept(values, x, axis, keepdims, q.ndim)


def _weighted(
    x: Variable, q: Variable, axis: Axis, method: str, weights: Variable, pass_over_nan: bool
) -> Variable:
    """Return the elements at which the sum of sorted weights reaches shares of the whole."""
    if method != "inverted_cdf":
        raise ValueError(f"only the method 'inverted_cdf' takes weights; given {method!r}")
    lines, own = _first(x, axis), refuse_complex(weights, "the weight of a quantile")
    own = checked(own, [_core.elemwise(scalar.invert, own < 0)], _NOT_BELOW)
    order = argsort(lines, 0)
    ordered = take_along_axis(lines, order, 0)
    own = broadcast_to(as_tensor(own, "float64"), lengths(x))
    own = take_along_axis(_first(own, axis), order, 0)
    has_nan = ordered.dtype.startswith("float")
    if has_nan and pass_over_nan:
        own = _core.elemwise(scalar.where, _core.elemwise(scalar.isnan, ordered), 0.0, own)
    total = cumsum(own, 0)
    whole = expand_dims(get_item(total, -1), 0)
    fine = _core.elemwise(scalar.isfinite, whole) & (whole > 0)
    if has_nan and pass_over_nan:
        fine = fine | expand_dims(_core.elemwise(scalar.isnan, get_item(ordered, 0)), 0)
    reached = as_tensor(checked(total, [fine], _SOME_WEIGHT) / whole, q.dtype)
    shares = expand_dims(q, tuple(range(q.ndim, q.ndim + reached.ndim)))
    # Elements without weight in front are passed over, also by the share 0.
    below = (reached < shares) | _core.elemwise(scalar.eq, reached, 0)
    last = subtract(length(ordered, 0), literal(1))
    place = _core.elemwise(scalar.minimum, sum(below, q.ndim, "int64"), last)
    values = _pick_of_lines(ordered, place)
    if has_nan and not pass_over_nan:
        nan = get_item(_last_is_nan(ordered), 0)
        values = _core.elemwise(scalar.where, nan, np.nan, values)
    return values


def _numbers(ordered: Variable) -> Variable:
    """Return how many elements of each line are not NaN."""
    return sum(_core.elemwise(scalar.invert, _core.elemwise(scalar.isnan, ordered)), 0)


def _pick_of_lines(ordered: Variable, places: Variable) -> Variable:
    """Return elements of each line; the dimensions of lines are the last ones of ``places``."""
    rest = lengths(ordered)[1:]
    flat = reshape(places, (product(lengths(places)[: places.ndim - len(rest)]), *rest))
    return reshape(take_along_axis(ordered, flat, 0), lengths(places))


def _between(
    ordered: Variable,
    place: Variable,
    count: Variable,
    weight_of: Weight,
    dtype: str | None,
    pick: Pick,
) -> Variable:
    """Return what lies at places between elements, which are weighted."""
    down = _core.elemwise(scalar.floor, place)
    weight = as_tensor(weight_of(place - down), dtype)
    last = count - 1
    low, high = (
        pick(ordered, as_tensor(_core.elemwise(scalar.clip, at, 0, last), "int64"))
        for at in (
            _core.elemwise(scalar.where, place >= last, last, down),
            _core.elemwise(scalar.where, place < 0, 0, down + 1),
        )
    )
    weight = expand_dims(weight, tuple(range(weight.ndim, low.ndim)))
    distance = high - low
    near = low + distance * weight
    far = high - distance * (1 - weight)
    inside = _core.elemwise(scalar.where, weight >= 0.5, far, near)
    there = _core.elemwise(scalar.or_, _is_zero(weight), _core.elemwise(scalar.eq, low, high))
    return _core.elemwise(scalar.where, there, low, inside)


def _is_zero(weight: Variable) -> Variable:
    return _core.elemwise(scalar.eq, weight, 0)


def _spread(alpha: float, beta: float) -> QuantilePlace:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _as_it_is(distance: Variable) -> Variable:
    return distance


def _half_at_elements(distance: Variable) -> Variable:
    return _on_elements(distance, distance + 0.5, 1)


def _half_between(distance: Variable) -> Variable:
    return _on_elements(distance, distance, 0.5)


def _on_elements(distance: Variable, on: Variable, off: float) -> Variable:
    """Return one of two weights: where a place is that of an element, and elsewhere."""
    elsewhere = distance * 0 + off  # of the dtype of the distance, whatever `off` is
    return _core.elemwise(scalar.where, _is_zero(distance), on, elsewhere)


def _midpoint(n: Variable, q: Variable) -> Variable:
    place = (n - 1) * q
    return 0.5 * (_core.elemwise(scalar.floor, place) + _core.elemwise(scalar.ceil, place))


_WEIGHTS: Mapping[str, tuple[QuantilePlace, Weight]] = {
    "linear": (lambda n, q: (n - 1) * q, _as_it_is),
    "averaged_inverted_cdf": (lambda n, q: n * q - 1, _half_at_elements),
    "interpolated_inverted_cdf": (_spread(0, 1), _as_it_is),
    "hazen": (_spread(0.5, 0.5), _as_it_is),
    "weibull": (_spread(0, 0), _as_it_is),
    "median_unbiased": (_spread(1 / 3, 1 / 3), _as_it_is),
    "normal_unbiased": (_spread(3 / 8, 3 / 8), _as_it_is),
    "midpoint": (_midpoint, _half_between),
}
"""Methods that weight neighbours: the place of the quantile, and the weight of the one above."""


def _inverted(n: Variable, q: Variable) -> Variable:
    return _core.elemwise(scalar.maximum, _core.elemwise(scalar.ceil, n * q - 1), 0)


def _closest(n: Variable, q: Variable) -> Variable:
    place = n * q - 1.5
    down = _core.elemwise(scalar.floor, place)
    stays = _core.elemwise(
        scalar.and_,
        _core.elemwise(scalar.eq, place, down),
        _core.elemwise(scalar.eq, _core.elemwise(scalar.mod, down, 2), 1),
    )
    return _core.elemwise(scalar.maximum, _core.elemwise(scalar.where, stays, down, down + 1), 0)


_PLACES: Mapping[str, QuantilePlace] = {
    "inverted_cdf": _inverted,
    "closest_observation": _closest,
    "lower": lambda n, q: _core.elemwise(scalar.floor, (n - 1) * q),
    "higher": lambda n, q: _core.elemwise(scalar.ceil, (n - 1) * q),
    "nearest": lambda n, q: _core.elemwise(scalar.rint, (n - 1) * q),
}
"""Methods that choose one element: its place."""


def _first(x: Variable, axis: Axis) -> Variable:
    """Return ``x`` with the dimensions ``axis`` joined to be the first one."""
    axes = normalize_axes(axis, x.ndim)
    rest = [k for k in range(x.ndim) if k not in axes]
    own = lengths(x)
    moved = permute_dims(x, [*axes, *rest])
    if len(axes) == 1:
        return moved
    return reshape(moved, (product(own[k] for k in axes), *(own[k] for k in rest)))


def _filled(lines: Variable) -> Variable:
    """Return lines, each of which is a NaN where they would be empty."""
    count = length(lines, 0)
    if static_length(count):
        return lines
    of_none = _core.elemwise(scalar.eq, count, 0)
    nan = constant(np.full((), np.nan, lines.type.numpy_dtype))
    nans = broadcast_to(nan, (as_tensor(of_none, "int64"), *lengths(lines)[1:]))
    return concatenate([lines, nans])


def _kept(values: Variable, x: Variable, axis: Axis, keepdims: bool, front: int = 0) -> Variable:
    if not keepdims:
        return values
    return expand_dims(values, tuple(front + k for k in normalize_axes(axis, x.ndim)))


def _mean(low: Variable, high: Variable, count: Variable) -> Variable:
    """Return the element in the middle, or the mean of both."""
    odd = _core.elemwise(scalar.eq, _core.elemwise(scalar.mod, count, 2), 1)
    return _core.elemwise(scalar.where, odd, low, (low + high) / 2)


def _last_is_nan(ordered: Variable) -> Variable:
    """Return whether there are NaN, which are sorted to the end; with the first dimension."""
    last = get_item(ordered, slice(-1, None))
    if ordered.type.numpy_dtype.kind not in "fc":
        return _core.elemwise(scalar.neq, last, last)
    return _core.elemwise(scalar.isnan, last)


def _as_floating(x: Variable) -> Variable:
    return x if x.type.numpy_dtype.kind in "fc" else as_tensor(x, "float64")
