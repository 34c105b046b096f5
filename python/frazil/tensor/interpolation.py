"""Functions given by points, with straight lines between them."""

from __future__ import annotations

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.checks import check_parameters
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.choice import clip, where
from frazil.tensor.elementwise.table import and_, eq, gt, isnan, lt, mod
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, literal, subtract
from frazil.tensor.positions import searchsorted
from frazil.tensor.sorting import argsort
from frazil.tensor.taking import take


@described
def interp(
    x: TensorLike,
    xp: TensorLike,
    fp: TensorLike,
    left: TensorLike | None = None,
    right: TensorLike | None = None,
    period: float | None = None,
) -> Variable:
    """Return the values of a function given by points, with straight lines between them.

    x (tensor_like): Where.
    xp, fp (tensor_like): Vectors of one length: where values are given, rising unless there is a
        period, and the values.
    left, right (tensor_like): The value before the first point and behind the last one; default:
        the point's own.
    period (number): After which the function repeats; ``left`` and ``right`` mean nothing then.
    returns: Of float64 and the shape of ``x``, as :func:`numpy.interp` gives.
    raises ValueError: If there are more points than values or fewer, during a call where no type
        tells.
    example: [0.5, 1.5, 9.0], [0.0, 1.0, 2.0], [0.0, 10.0, 30.0] -> [ 5., 20., 30.]
    """
    at, points, values = (as_tensor(as_tensor(one), "float64") for one in (x, xp, fp))
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError(f"points are given by two vectors; given {points.type}, {values.type}")
    points, values = _of_one_length(points, values)
    if period is not None:
        if period == 0:
            raise ValueError("the period cannot be zero")
        width = abs(period)
        at, points = mod(at, width), mod(points, width)
        order = argsort(points)
        points, values = take(points, order), take(values, order)
        last, first = (get_item(points, slice(-1, None)), get_item(points, slice(None, 1)))
        points = concatenate([last - width, points, first + width])
        ends = get_item(values, slice(-1, None)), get_item(values, slice(None, 1))
        values = concatenate([ends[0], values, ends[1]])
        left = right = None
    highest = subtract(length(points, 0), literal(2))
    before = clip(searchsorted(points, at, "right") - 1, 0, highest)
    x0, x1, f0, f1 = (take(one, before + k) for one in (points, values) for k in (0, 1))
    # A number outside may be looked for between two equal points. Its line has no part in the
    # result, and must have none in gradients.
    slope = (f1 - f0) / where(eq(x0, x1), 1.0, x1 - x0)
    line = where(eq(at, x0), f0, _towards(at, slope, (x0, f0), (x1, f1)))
    first, last = get_item(points, 0), get_item(points, -1)
    low = get_item(values, 0) if left is None else left
    high = get_item(values, -1) if right is None else right
    inner = where(eq(at, last), get_item(values, -1), line)
    return where(lt(at, first), low, where(gt(at, last), high, inner))


def _towards(
    at: Variable, slope: Variable, start: tuple[Variable, Variable], end: tuple[Variable, Variable]
) -> Variable:
    """Return the line through two points, which may be infinite, as NumPy does.

    It is computed from the first point on; where that gives NaN, back from the second one; where
    that gives NaN, too, it is the value of both points, if they are equal.
    """
    (x0, f0), (x1, f1) = start, end
    line = slope * (at - x0) + f0
    back = slope * (at - x1) + f1
    level = where(and_(eq(f0, f1), eq(at, at)), f0, back)
    return where(isnan(line), where(isnan(back), level, back), line)


def _of_one_length(points: Variable, values: Variable) -> tuple[Variable, Variable]:
    """Return two vectors of one length, which types or a check tell."""
    counts = points.type.shape[0], values.type.shape[0]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(
            f"interp takes as many values as points; given {counts[1]} for {counts[0]}"
        )
    if 0 in counts:
        raise ValueError("interp takes one point at least, given none")
    if None in counts:
        same = eq(length(values, 0), length(points, 0))
        values = check_parameters(values, same, msg="interp takes as many values as points")
    return points, values
