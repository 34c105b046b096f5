"""Shifts: the largest exponent, subtracted from all so that no exponential overflows."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable, elemwise
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.reductions import Max, Peak
from frazil.tensor.transposition import Transpose

_DEPTH = 6
"""The depth of nodes between an exponent and a maximum in it that a search visits."""

_LIMITS = {"float64": 600.0, "float32": 60.0}
"""Up to these sizes of exponents, sums of exponentials neither overflow nor vanish."""


def shift(x: Variable, axes: tuple[int, ...], weights: Variable | None = None) -> Variable:
    """Return the largest of ``x`` over ``axes`` where it is finite, else 0.

    The shift must be finite, since -inf - -inf is NaN. Where exponentials have ``weights``,
    another exponent may have the largest term, and terms may cancel. So exponents of weight 0 do
    not count, and the shift only brings the exponents within the limits of exponentials: it is 0
    where they are within already.

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
    """Return whether ``x`` already is an expression less its maximum over ``axes``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.shift import is_shifted
    >>> x = ft.vector("x")
    >>> is_shifted(x - ft.max(x), (0,)), is_shifted(x - 1, (0,))
    (True, False)
    """
    if not _moving(x, axes):
        return True  # one term: less its maximum it would be 0
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
    """Those of ``axes`` without length 1, numbered among the dimensions without length 1."""
    moving = [axis for axis, length in enumerate(x.type.shape) if length != 1]
    return [moving.index(axis) for axis in axes if axis in moving]


def _is_largest(inner: FrozenApply, whole: Variable, x: Variable, axes: tuple[int, ...]) -> bool:
    """Whether the maximum ``inner`` is over ``axes`` of ``whole``, which ``x`` is computed from."""
    (over,) = inner.inputs
    own = inner.op.axes
    chosen = over.owner
    if chosen is not None and chosen.op is Elemwise(
        scalar.where
    ):  # the exponents that have weights
        over = chosen.inputs[1]
    if _content(over) is whole:
        return _moving(over, own) == _moving(x, axes)
    node = whole.owner
    if node is not None and isinstance(node.op, Transpose):
        (whole,), order = node.inputs, node.op.axes
        if whole is over:  # a transpose has the same maximum
            return tuple(own) == tuple(sorted(order[axis] for axis in axes))
        node = whole.owner
    # The maximum of a maximum is a maximum of its operand.
    return node is not None and isinstance(node.op, Max) and node.inputs[0] is over


def _content(x: Variable) -> Variable:
    """``x`` before dimensions of length 1 were added and dropped."""
    while x.owner is not None and isinstance(x.owner.op, DropDims | ExpandDims):
        x = x.owner.inputs[0]
    return x
