"""Analyses: properties of values that are known before the graph runs."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from frazil._core import Constant, Variable
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.docstrings import described

_DEPTH = 16
"""The depth of operations below a variable that an analysis reads."""

_NEVER_NEGATIVE = frozenset({"exp", "exp2", "sqr", "abs", "sigmoid", "softplus", "cosh", "erfc"})
"""Scalar ops whose float results have no sign, whatever their operands."""

_KEEP_THE_SIGN_AWAY = frozenset(
    {"add", "mul", "truediv", "reciprocal", "maximum", "minimum", "identity", "cast"}
)
"""Scalar ops whose float results have no sign if no operand has one."""

_nonnegative: WeakKeyDictionary[Variable, bool] = WeakKeyDictionary()


@described
def is_nonnegative(x: Variable) -> bool:
    """Return whether no element of ``x`` can have a sign: it is NaN, or 0.0 (not -0.0) or more.

    False if it is unknown. Results are remembered as long as ``x`` is alive.

    x (Variable): Any variable.
    returns (bool): Whether every element is known to be so.

    >>> from frazil.rewrite import is_nonnegative
    >>> x = ft.vector("x")
    >>> is_nonnegative(ft.exp(x) + 1), is_nonnegative(x)
    (True, False)
    """
    return _is_nonnegative(x, _DEPTH)


def _is_nonnegative(x: Variable, depth: int) -> bool:
    if x.type.numpy_dtype.kind in "bu":
        return True
    if isinstance(x, Constant):
        return not np.signbit(x.data.astype(np.float64)).any()
    node = x.owner
    # Signed integers wrap around: a sum of positive integers may be negative.
    if node is None or not isinstance(node.op, Elemwise) or x.type.numpy_dtype.kind != "f":
        return False
    name = node.op.scalar_op.table_name
    if name in _NEVER_NEGATIVE:
        return True
    if depth == 0 or name not in _KEEP_THE_SIGN_AWAY:
        return False
    known = _nonnegative.get(x)
    if known is None:
        known = all(_is_nonnegative(operand, depth - 1) for operand in node.inputs)
        if depth == _DEPTH or known:
            _nonnegative[x] = known
    return known
