"""Functions that kernels compute by formulas of other ops.

Every compiler gets the same steps, so results have the same bits wherever those of the steps have.
Two functions of one operand, such as ``softplus`` and its slope, share the exponential.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp

Value = TypeVar("Value")


class Writer(Protocol[Value]):
    """Takes the steps of a formula, all of one dtype of floats."""

    def number(self, number: float) -> Value:
        """A constant."""

    def step(self, op: ScalarOp, *args: Value) -> Value:
        """An op of values; a comparison gives a bool."""


Formula = Callable[..., Any]


def formula(op: ScalarOp, operands: Sequence[str], dtype: str) -> Formula | None:
    """What writes the formula of an op: a function of a writer and the operands; None if none.

    An op whose operands are of other dtypes than its result has none.

    Examples
    --------
    >>> from frazil.link.kernel.formulas import formula
    >>> from frazil.scalar import exp, sigmoid
    >>> formula(sigmoid, ["float64"], "float64").__name__
    '_sigmoid'
    >>> formula(sigmoid, ["int8"], "float64"), formula(exp, ["float64"], "float64")
    (None, None)
    """
    if not dtype.startswith("float") or any(own != dtype for own in operands):
        return None
    return _FORMULAS.get(op.table_name or "")


_ABS, _ADD, _EQ, _EXP, _GT, _LOG1P, _LT, _NEG, _SUB, _TRUEDIV, _WHERE = map(
    Elementary,
    ("abs", "add", "eq", "exp", "gt", "log1p", "lt", "neg", "sub", "truediv", "where"),
)


def _decay(to: Writer[Value], x: Value) -> Value:
    """``e**-|x|``, which never overflows."""
    return to.step(_EXP, to.step(_NEG, to.step(_ABS, x)))


def _sigmoid(to: Writer[Value], x: Value) -> Value:
    decay, one = _decay(to, x), to.number(1.0)
    above = to.step(_WHERE, to.step(_LT, x, to.number(0.0)), decay, one)
    return to.step(_TRUEDIV, above, to.step(_ADD, one, decay))


def _softplus(to: Writer[Value], x: Value) -> Value:
    zero = to.number(0.0)
    positive = to.step(_WHERE, to.step(_GT, x, zero), x, zero)
    return to.step(_ADD, positive, to.step(_LOG1P, _decay(to, x)))


def _log_sigmoid(to: Writer[Value], x: Value) -> Value:
    return to.step(_NEG, _softplus(to, to.step(_NEG, x)))


def _logaddexp(to: Writer[Value], x: Value, y: Value) -> Value:
    more = to.step(_WHERE, to.step(_GT, x, y), x, y)
    total = to.step(_ADD, more, to.step(_LOG1P, _decay(to, to.step(_SUB, x, y))))
    # Infinite ones have no difference.
    double = to.step(_ADD, x, to.number(math.log(2)))
    return to.step(_WHERE, to.step(_EQ, x, y), double, total)


_FORMULAS: dict[str, Formula] = {
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": _log_sigmoid,
    "logaddexp": _logaddexp,
}
