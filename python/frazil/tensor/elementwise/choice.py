"""Functions that choose between values."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, overload

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.table import maximum, minimum
from frazil.tensor.searching import nonzero


@described
def clip(x: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Variable:
    """Return ``x`` limited to the interval from ``min`` to ``max``.

    x (tensor_like): Any tensor.
    min, max (tensor_like): The limits, which broadcast against ``x``; None: no limit. If they
        cross, ``max`` wins.
    returns: As :func:`numpy.clip` gives. NaN stays NaN. The gradient is zero outside the interval.
    example: [0.0, 1.0, 2.0], 0.5, 1.5 -> [0.5, 1. , 1.5]
    """
    if min is None:
        return as_tensor(x) if max is None else minimum(x, max)
    if max is None:
        return maximum(x, min)
    return elemwise(scalar.clip, as_operand(x), as_operand(min), as_operand(max))


@overload
def where(condition: TensorLike, /) -> tuple[Variable, ...]: ...


@overload
def where(condition: TensorLike, x1: TensorLike, x2: TensorLike, /) -> Variable: ...


@described
def where(
    condition: TensorLike, x1: TensorLike | None = None, x2: TensorLike | None = None, /
) -> Variable | tuple[Variable, ...]:
    """Return the elements of ``x1`` where ``condition`` is true, else the elements of ``x2``.

    Both are computed; a gradient flows only into the one that is chosen.

    condition (tensor_like): Of bool; numbers are true where they are not zero.
    x1, x2 (tensor_like): Tensors that broadcast against ``condition``; without both, this is
        :func:`nonzero`.
    returns (Variable, or tuple of Variable): As :func:`numpy.where` gives, of the dtype that ``x1``
        and ``x2`` promote to.
    example: [True, False], [1.0, 2.0], 0.0 -> [1., 0.]
    """
    if x1 is None or x2 is None:
        if x1 is not x2:
            raise TypeError("where takes one tensor, or three: condition, x1 and x2")
        return nonzero(condition)
    chosen = as_tensor(condition, "bool")
    return elemwise(scalar.where, chosen, as_operand(x1), as_operand(x2))


switch = cast("Callable[[TensorLike, TensorLike, TensorLike], Variable]", where)
