"""Shifts: the largest exponent, taken from all of them so that no exponential overflows."""

from __future__ import annotations

from frazil import scalar
from frazil._core import Variable, elemwise
from frazil.elemwise import Elemwise
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.reductions import Max, Peak

_DEPTH = 6
"""Operations between an exponent and the maximum in it that are looked through."""


def shift(x: Variable, axes: tuple[int, ...]) -> Variable:
    """Return the largest of ``x`` over ``axes`` where it is finite, else 0.

    What is subtracted must be finite: -inf less -inf is NaN, not -inf.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.shift import shift
    >>> shift(ft.constant([1.0, 3.0]), (0,)).eval()
    array(3.)
    """
    some = all(x.type.shape[axis] for axis in axes)
    top = Max(axes)(x) if some else Peak(axes)(x)
    return elemwise(scalar.where, elemwise(scalar.isinf, top), 0, top)


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
        if (
            isinstance(inner.op, Max)
            and _content(inner.inputs[0]) is whole
            and _moving(inner.inputs[0], inner.op.axes) == _moving(x, axes)
        ):
            return True
        pending += [(y, depth - 1) for y in inner.inputs]
    return False


def _moving(x: Variable, axes: tuple[int, ...]) -> list[int]:
    """Of ``axes`` those that do not have length 1, counted among their like."""
    moving = [axis for axis, length in enumerate(x.type.shape) if length != 1]
    return [moving.index(axis) for axis in axes if axis in moving]


def _content(x: Variable) -> Variable:
    """What ``x`` is, dimensions of length 1 aside."""
    while x.owner is not None and isinstance(x.owner.op, DropDims | ExpandDims):
        x = x.owner.inputs[0]
    return x
