"""Steps, sums of powers of two, and quotients with what remains."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.elementwise.arithmetic import floor_divide, remainder
from frazil.tensor.elementwise.definition import elementwise


def _floating(x1: TensorLike, x2: TensorLike) -> tuple[Variable, Variable]:
    """Return both in the floating dtype that elementary functions of them have."""
    dtype = elemwise(scalar.arctan2, as_operand(x1), as_operand(x2)).dtype
    return as_tensor(x1, dtype), as_tensor(x2, dtype)


def heaviside(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return 0 below zero, 1 above it, and ``x2`` at zero.

    Parameters
    ----------
    x1 : tensor_like
        Where the step is taken; NaN stays NaN.
    x2 : tensor_like
        What it gives at zero; the shapes broadcast.

    Returns
    -------
    Variable
        As :func:`numpy.heaviside` gives. The gradient flows into ``x2`` alone.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.heaviside([-1.5, 0.0, 2.0], 0.5).eval()
    array([0. , 0.5, 1. ])
    """
    a, b = _floating(x1, x2)
    above = elemwise(scalar.where, elemwise(scalar.gt, a, 0), 1, a * 0)
    step = elemwise(scalar.where, elemwise(scalar.lt, a, 0), 0, above)
    step = elemwise(scalar.where, elemwise(scalar.isnan, a), math.nan, step)
    return elemwise(scalar.where, elemwise(scalar.eq, a, 0), b, step)


@elementwise(
    "[1.0, 5000.0], [1.0, 5000.0] -> [2.000e+00, 5.001e+03]", "As :func:`numpy.logaddexp2` gives."
)
def logaddexp2(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return ``log2(2**x1 + 2**x2)``, whose powers may overflow."""
    a, b = _floating(x1, x2)
    first = elemwise(scalar.ge, a, b)
    large, small = elemwise(scalar.where, first, a, b), elemwise(scalar.where, first, b, a)
    # Infinities of one sign have no difference.
    equal = elemwise(scalar.and_, elemwise(scalar.eq, a, b), elemwise(scalar.isinf, a))
    below = elemwise(scalar.where, equal, 0, small - large)
    return large + elemwise(scalar.softplus, below * math.log(2)) / math.log(2)


def divmod(x1: TensorLike, x2: TensorLike, /) -> tuple[Variable, Variable]:
    """Return the quotient rounded down, and the remainder.

    Parameters
    ----------
    x1, x2 : tensor_like
        Tensors whose shapes broadcast.

    Returns
    -------
    tuple of Variable
        What :func:`floor_divide` and :func:`remainder` give, as :func:`numpy.divmod`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> quotient, rest = ft.divmod([7, -7], 3)
    >>> quotient.eval(), rest.eval()
    (array([ 2, -3]), array([1, 2]))
    """
    return floor_divide(x1, x2), remainder(x1, x2)
