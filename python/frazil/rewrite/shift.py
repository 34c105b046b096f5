"""Shifts: the largest exponent, taken from all of them so that no exponential overflows."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable, elemwise
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.reductions import Max, Peak
from frazil.tensor.transposition import Transpose

_DEPTH = 6
"""Operations between an exponent and the maximum in it that are looked through."""

_LIMITS = {"float64": 600.0, "float32": 60.0}
"""Of exponents whose exponentials are far from overflowing, many together too, and vanishing."""


def shift(x: Variable, axes: tuple[int, ...], weights: Variable | None = None) -> Variable:
    """Return the largest of ``x`` over ``axes`` where it is finite, else 0.

    What is subtracted must be finite: -inf less -inf is NaN, not -inf. Where exponentials have
    ``weights``, the largest term is that of another exponent, and terms may cancel. So exponents
    without weight do not count, and those that are left are brought just within the limits of
    exponentials: a sum that can be written as it is stays so.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.shift import shift
    >>> x = ft.constant([1.0, 3.0])
    >>> shift(x, (0,)).eval()
    array(3.)
    >>> shift(x * 1000, (0,), ft.constant([2.0, 0.0])).eval()
    array(400.)
    """
    if weights is not None and not _is_never_zero(weights):
        x = elemwise(scalar.where, elemwise(scalar.neq, weights, 0), x, -math.inf)
    some = all(x.type.shape[axis] for axis in axes)
    top = Max(axes)(x) if some else Peak(axes)(x)
    finite = elemwise(scalar.where, elemwise(scalar.isinf, top), 0, top)
    if weights is None:
        return finite
    limit = _LIMITS[x.dtype]
    within = elemwise(scalar.maximum, elemwise(scalar.minimum, finite, limit), -limit)
    return elemwise(scalar.sub, finite, within)


def _is_never_zero(x: Variable) -> bool:
    return isinstance(x, Constant) and bool(x.data.all())


def is_shifted(x: Variable, axes: tuple[int, ...]) -> bool:
    """Return whether a maximum over ``axes`` was taken from what ``x`` is made of already.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.shift import is_shifted
    >>> x = ft.vector("x")
    >>> is_shifted(x - ft.max(x), (0,)), is_shifted(x - 1, (0,))
    (True, False)
    """
    if not _moving(x, axes):
        return True  # of one term it is the largest, and nothing is left to take from it
    node = x.owner
    if node is None or not isinstance(node.op, Elemwise):
        return False
    if node.op.scalar_op not in (scalar.sub, scalar.add):
        return False
    whole = _content(node.inputs[0])
    pending = [(operand, _DEPTH) for operand in node.inputs]
    while pending:
        operand, depth = pending.pop()
        inner = operand.owner
        if inner is None or depth == 0:
            continue
        if isinstance(inner.op, Max) and _is_largest(inner, whole, x, axes):
            return True
        pending += [(y, depth - 1) for y in inner.inputs]
    return False


def _moving(x: Variable, axes: tuple[int, ...]) -> list[int]:
    """Of ``axes`` those that do not have length 1, counted among their like."""
    moving = [axis for axis, length in enumerate(x.type.shape) if length != 1]
    return [moving.index(axis) for axis in axes if axis in moving]


def _is_largest(inner: FrozenApply, whole: Variable, x: Variable, axes: tuple[int, ...]) -> bool:
    """Whether a maximum is over ``axes`` of what ``x`` is made of, ``whole``."""
    (over,) = inner.inputs
    own = inner.op.axes
    chosen = over.owner
    if chosen is not None and chosen.op is Elemwise(scalar.where):  # those that have weights
        over = chosen.inputs[1]
    if _content(over) is whole:
        return _moving(over, own) == _moving(x, axes)
    node = whole.owner
    if node is not None and isinstance(node.op, Transpose):
        (whole,), order = node.inputs, node.op.axes
        if whole is over:  # the maximum of a transpose is that of what is transposed
            return tuple(own) == tuple(sorted(order[axis] for axis in axes))
        node = whole.owner
    # That of a maximum is one of what this is over.
    return node is not None and isinstance(node.op, Max) and node.inputs[0] is over


def _content(x: Variable) -> Variable:
    """What ``x`` is, dimensions of length 1 aside."""
    while x.owner is not None and isinstance(x.owner.op, DropDims | ExpandDims):
        x = x.owner.inputs[0]
    return x
