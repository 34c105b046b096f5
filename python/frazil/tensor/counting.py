"""Numbers of elements that have a value, or lie in an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, Variable
from frazil.scalar.complex import refuse_complex
from frazil.scalar.constants import TensorLike, as_tensor, as_written
from frazil.tensor.checks import Check, checked
from frazil.tensor.creation import zeros
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.elementwise.choice import where
from frazil.tensor.index_syntax import get_item, inc_subtensor
from frazil.tensor.lengths import LengthLike, add, as_length, length, literal, subtract
from frazil.tensor.positions import searchsorted
from frazil.tensor.rearranging import diff, flip
from frazil.tensor.reductions import all, max, min, sum
from frazil.tensor.reshaping import ravel
from frazil.tensor.spacing import floating_dtype, linspace


@described
def bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: LengthLike = 0
) -> Variable:
    """Return how often each of the numbers from 0 on occurs.

    x (tensor_like): A vector of integers that are not negative.
    weights (tensor_like): The weight of each element; default: 1.
    minlength (int or 0-d integer variable): The least number of counts in the result.
    returns: As :func:`numpy.bincount` gives. Its length follows from the largest element.
    raises ValueError: If ``minlength`` is negative, or when a call finds a negative number.
    example: [0, 2, 2, 5] -> [1, 0, 2, 0, 0, 1]
    """
    x = as_tensor(x)
    if x.ndim != 1:
        raise ValueError(f"bincount takes a vector of integers; given {x.type}")
    if x.type.numpy_dtype.kind not in "iub":
        raise TypeError(f"bincount takes a vector of integers; given {x.type}")
    if isinstance(minlength, int | np.integer) and minlength < 0:
        raise ValueError(f"minlength must not be negative; given {minlength}")
    numbers = as_tensor(x, "int64")
    fits = _core.elemwise(scalar.le, 0, numbers)
    numbers = checked(numbers, [fits], Check("bincount of a negative number"))
    count = add(max(numbers, initial=-1), literal(1))
    size = _core.elemwise(scalar.maximum, count, as_length(minlength))
    if weights is None:
        return inc_subtensor(get_item(zeros(size, "int64"), numbers), 1)
    return inc_subtensor(get_item(zeros(size), numbers), as_tensor(weights, "float64"))


@described
def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Variable:
    """Return the number of the interval that each element lies in.

    x (tensor_like): Any tensor.
    bins (tensor_like): A vector of the ends of intervals, rising or falling.
    right (bool): Whether an interval has its right end, and not its left one.
    returns: Of int64 and the shape of ``x``, as :func:`numpy.digitize` gives.
    raises ValueError: If ``bins`` neither rise nor fall: at once if they are a constant, else by a
        call.
    example: [0.5, 2.0, 9.0], [1.0, 2.0, 3.0] -> [0, 2, 3]
    """
    x, edges = (refuse_complex(as_tensor(one), "digitize") for one in (x, bins))
    side = "left" if right else "right"
    if isinstance(edges, Constant):
        steps = np.diff(edges.data)
        if not (np.all(steps >= 0) or np.all(steps <= 0)):
            raise ValueError("bins must rise or fall")
        if np.all(steps >= 0):
            return searchsorted(edges, x, side)
        return length(edges, 0) - searchsorted(flip(edges), x, side)
    behind, before = get_item(edges, slice(1, None)), get_item(edges, slice(None, -1))
    rises = all(_core.elemwise(scalar.le, before, behind))
    falls = all(_core.elemwise(scalar.ge, before, behind))
    edges = checked(edges, [rises | falls], Check("bins must rise or fall"))
    falling = length(edges, 0) - searchsorted(flip(edges), x, side)
    return where(rises, searchsorted(edges, x, side), falling)


@described
def histogram_bin_edges(
    a: TensorLike, bins: int | TensorLike = 10, range: Sequence[float] | None = None
) -> Variable:
    """Return the ends of the intervals that :func:`histogram` counts in.

    a (tensor_like): Any tensor, with elements unless ``bins`` or ``range`` tells the intervals.
    bins (int or tensor_like): The number of intervals of equal length, or a vector of their ends,
        which rise.
    range (pair of numbers): The first and the last end; default: the smallest and the largest
        element.
    returns: As :func:`numpy.histogram_bin_edges` gives.
    example: [0.0, 1.0, 4.0], 2 -> [0., 2., 4.]
    """
    if isinstance(bins, str):
        raise TypeError("the number of intervals must be known: an int, or a vector of their ends")
    if not isinstance(bins, int | np.integer):
        edges = as_tensor(bins)
        if edges.ndim != 1:
            raise ValueError(f"the ends of intervals are a vector; given {edges.type}")
        if edges.type.numpy_dtype.kind == "c":
            return edges
        behind, before = get_item(edges, slice(1, None)), get_item(edges, slice(None, -1))
        rise = _core.elemwise(scalar.le, before, behind)
        return checked(edges, [rise], Check("the ends of intervals must rise"))
    if bins < 1:
        raise ValueError(f"there must be an interval at least; given {bins}")
    values = ravel(a)
    dtype = floating_dtype(values)
    if range is not None:
        dtype = floating_dtype(values, *range)
        low, high = (as_written(end, dtype) for end in range)
    else:  # of no elements from 0 to 1
        numbers = as_tensor(values, dtype)
        none = _core.elemwise(scalar.eq, length(values, 0), 0)
        low = where(none, 0.0, min(numbers, initial=np.inf))
        high = where(none, 1.0, max(numbers, initial=-np.inf))
    finite = [_core.elemwise(scalar.isfinite, end) for end in (low, high)]
    low = checked(low, finite, Check("the range of a histogram must be finite"))
    if range is not None:
        rise = _core.elemwise(scalar.le, low, high)
        low = checked(low, [rise], Check("the end of a range must not be below its start"))
    alike = _core.elemwise(scalar.eq, low, high)
    return linspace(where(alike, low - 0.5, low), where(alike, high + 0.5, high), int(bins) + 1)


@described_like(histogram_bin_edges)
def histogram(
    a: TensorLike,
    bins: int | TensorLike = 10,
    range: Sequence[float] | None = None,
    density: bool = False,
    weights: TensorLike | None = None,
) -> tuple[Variable, Variable]:
    """Return how many elements lie in each of several intervals, and their ends.

    density (bool): Give shares by length, whose integral is 1.
    weights (tensor_like): The weight of each element; default: 1.
    returns (tuple of Variable): The numbers, and the ends, one more, as :func:`numpy.histogram`
        gives.

    >>> counts, edges = ft.histogram([1.0, 2.0, 1.0, 4.0], bins=3)
    >>> counts.eval(), edges.eval()
    (array([2, 1, 1]), array([1., 2., 3., 4.]))
    """
    values = ravel(a)
    edges = histogram_bin_edges(values, bins, range)
    count = subtract(length(edges, 0), literal(1))
    at = searchsorted(edges, values, "right")
    last = _core.elemwise(scalar.eq, values, get_item(edges, -1))  # the last interval has its end
    at = where(last, count, at)
    kind: Any = "int64" if weights is None else as_tensor(weights).dtype
    cells = zeros(add(count, literal(2)), kind)
    one = 1 if weights is None else ravel(weights)
    counts = get_item(inc_subtensor(get_item(cells, at), one), slice(1, -1))
    if density:
        return counts / (sum(counts) * diff(edges)), edges
    return counts, edges
