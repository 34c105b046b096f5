"""Comparisons, and predicates of numbers."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.complex import refuse_complex
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.definition import binary, elementwise, unary

equal = binary(
    scalar.eq,
    "whether ``x1`` is equal to ``x2``. (``x1 == x2`` is whether they are one variable)",
    "[1, 2], [1, 3] -> [ True, False]",
)
not_equal = binary(
    scalar.neq, "whether ``x1`` differs from ``x2``", "[1, 2], [1, 3] -> [False,  True]"
)
less = binary(scalar.lt, "whether ``x1 < x2``", "[1, 2], [2, 2] -> [ True, False]")
less_equal = binary(scalar.le, "whether ``x1 <= x2``", "[1, 3], [2, 2] -> [ True, False]")
greater = binary(scalar.gt, "whether ``x1 > x2``", "[1, 3], [2, 2] -> [False,  True]")
greater_equal = binary(scalar.ge, "whether ``x1 >= x2``", "[1, 2], [2, 2] -> [False,  True]")
isnan = unary(scalar.isnan, "whether the number is NaN", "[1.0, float('nan')] -> [False,  True]")
isinf = unary(
    scalar.isinf, "whether the number is infinite", "[1.0, float('inf')] -> [False,  True]"
)
isfinite = unary(
    scalar.isfinite,
    "whether the number is neither NaN nor infinite",
    "[1.0, float('inf')] -> [ True, False]",
)


@elementwise
def isneginf(x: TensorLike, /) -> Variable:
    """Return whether the number is negative and infinite.

    returns: Of bool.
    example: [1.0, -float('inf')] -> [False,  True]
    """
    return elemwise(scalar.eq, refuse_complex(as_tensor(x), "isneginf"), -math.inf)


@elementwise
def isposinf(x: TensorLike, /) -> Variable:
    """Return whether the number is positive and infinite.

    returns: Of bool.
    example: [1.0, float('inf')] -> [False,  True]
    """
    return elemwise(scalar.eq, refuse_complex(as_tensor(x), "isposinf"), math.inf)


eq = equal
neq = not_equal
lt = less
le = less_equal
gt = greater
ge = greater_equal
