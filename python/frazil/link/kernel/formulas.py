"""Functions that kernels compute by formulas of other ops.

Every compiler gets the same steps, so results have the same bits if the steps have.
Two functions of one operand, such as ``softplus`` and its slope, share the exponential.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp

Value = TypeVar("Value")


class Writer(Protocol[Value]):
    """Takes the steps of a formula, all of one dtype of floats."""

    def number(self, number: float) -> Value:
        """A constant."""

    def by_width(self, double: float, single: float) -> float:
        """The first number where the steps are of float64, else the second."""

    def step(self, op: ScalarOp, *args: Value) -> Value:
        """An op of values; a comparison or a predicate gives a bool."""


Formula = Callable[..., Any]


def formula(op: ScalarOp, dtype: str) -> Formula | None:
    """The writer of the formula of an op: a function of a writer and the operands; None if none.

    The operands have the dtype of the result.

    Examples
    --------
    >>> from frazil.link.kernel.formulas import formula
    >>> from frazil.scalar import exp, sigmoid
    >>> formula(sigmoid, "float64").__name__
    '_sigmoid'
    >>> formula(exp, "float64")
    """
    return _FORMULAS.get(op.table_name or "") if dtype.startswith("float") else None


_ABS, _ADD, _ARCTAN, _COPYSIGN, _EQ, _EXP, _GT, _LOG1P = map(
    Elementary, ("abs", "add", "arctan", "copysign", "eq", "exp", "gt", "log1p")
)
_LT, _MUL, _NEG, _SIGNBIT, _SQRT, _SUB, _TRUEDIV, _WHERE = map(
    Elementary, ("lt", "mul", "neg", "signbit", "sqrt", "sub", "truediv", "where")
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


def _hypot(to: Writer[Value], x: Value, y: Value) -> Value:
    """The root of the sum of squares, of numbers scaled so that no square overflows or vanishes."""
    a, b, infinity = to.step(_ABS, x), to.step(_ABS, y), to.number(math.inf)
    a_leads = to.step(_GT, a, b)
    more, less = to.step(_WHERE, a_leads, a, b), to.step(_WHERE, a_leads, b, a)
    bound, scale = to.by_width(2.0**500, 2.0**60), to.by_width(2.0**600, 2.0**100)
    is_large = to.step(_GT, more, to.number(bound))
    is_small = to.step(_LT, more, to.number(1 / bound))
    large, small, one = to.number(1 / scale), to.number(scale), to.number(1.0)
    by = to.step(_WHERE, is_large, large, to.step(_WHERE, is_small, small, one))
    back = to.step(_WHERE, is_large, small, to.step(_WHERE, is_small, large, one))
    more, less = to.step(_MUL, more, by), to.step(_MUL, less, by)
    squares = to.step(_ADD, to.step(_MUL, more, more), to.step(_MUL, less, less))
    made = to.step(_MUL, to.step(_SQRT, squares), back)
    # Infinity is far from everything, even from what is not a number.
    made = to.step(_WHERE, to.step(_EQ, a, infinity), infinity, made)
    return to.step(_WHERE, to.step(_EQ, b, infinity), infinity, made)


def _arctan2(to: Writer[Value], y: Value, x: Value) -> Value:
    """The arc tangent of the sizes' quotient, taken from half a turn where ``x`` has a minus."""
    up, along, zero = to.step(_ABS, y), to.step(_ABS, x), to.number(0.0)
    # Two zeros and two infinities have no quotient.
    of_equals = to.step(_WHERE, to.step(_EQ, up, zero), zero, to.number(1.0))
    quotient = to.step(_TRUEDIV, up, along)
    quotient = to.step(_WHERE, to.step(_EQ, up, along), of_equals, quotient)
    angle = to.step(_ARCTAN, quotient)
    rest = to.number(to.by_width(1.2246467991473532e-16, -8.742278e-8))
    beyond = to.step(_SUB, to.number(math.pi), to.step(_SUB, angle, rest))
    return to.step(_COPYSIGN, to.step(_WHERE, to.step(_SIGNBIT, x), beyond, angle), y)


_FORMULAS: dict[str, Formula] = {
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": _log_sigmoid,
    "logaddexp": _logaddexp,
    "hypot": _hypot,
    "arctan2": _arctan2,
}
