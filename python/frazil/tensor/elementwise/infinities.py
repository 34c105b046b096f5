"""Infinite numbers of either sign."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.complex import refuse_complex
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.definition import elementwise


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
