"""Floating numbers as fractions times powers of two."""

from __future__ import annotations

import numpy as np

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.definition import elementwise

_LEAST, _MOST = -1022, 1023
"""The exponents of float64 whose powers of two have all their digits."""
_DIGITS = 53


@elementwise
def ldexp(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return ``x1 * 2**x2``, rounded once and with powers that may be out of range.

    x1, x2 (tensor_like): Numbers, and exponents, which are integers that int64 holds; the shapes
        broadcast.
    returns: As :func:`numpy.ldexp` gives, in a floating dtype. The exponents have no gradient.
    example: [0.75, -0.5], [3, -1] -> [ 6.  , -0.25]
    """
    x, exponents = as_operand(x1), as_tensor(x2)
    if not np.can_cast(exponents.type.numpy_dtype, np.int64):
        raise TypeError(
            f"ldexp takes exponents that are integers and fit int64; given {exponents.type}"
        )
    dtype = elemwise(scalar.exp, x).dtype
    return as_tensor(_scaled(as_tensor(x, "float64"), as_tensor(exponents, "int64")), dtype)


@described
def frexp(x: TensorLike, /) -> tuple[Variable, Variable]:
    """Return fractions and exponents: ``x`` is ``fraction * 2**exponent``.

    x (tensor_like): Any tensor.
    returns (tuple of Variable): Fractions from 0.5 to 1, with the sign of ``x`` and in a floating
        dtype, and exponents of int32, as :func:`numpy.frexp` gives: zeros, infinities and NaN have
        the exponent 0. The exponents have no gradient. :func:`ldexp` is the inverse.

    >>> fraction, exponent = ft.frexp([6.0, -0.25])
    >>> fraction.eval(), exponent.eval()
    (array([ 0.75, -0.5 ]), array([ 3, -1], dtype=int32))
    """
    x = as_tensor(x)
    dtype = elemwise(scalar.exp, x).dtype
    wide = as_tensor(x, "float64")
    size = elemwise(scalar.abs, wide)
    plain = elemwise(scalar.and_, elemwise(scalar.gt, size, 0), elemwise(scalar.lt, size, _INF))
    size = elemwise(scalar.where, plain, size, 1.0)
    # The logarithm may round to the integer beside, or belong to a number with fewer digits.
    guess = as_tensor(elemwise(scalar.floor, elemwise(scalar.log2, size)), "int64") + 1
    fraction = _scaled(size, -guess)
    large = as_tensor(elemwise(scalar.ge, fraction, 1.0), "int64")
    small = as_tensor(elemwise(scalar.lt, fraction, 0.5), "int64")
    exponent = elemwise(scalar.where, plain, guess + large - small, 0)
    return as_tensor(_scaled(wide, -exponent), dtype), as_tensor(exponent, "int32")


_INF = float("inf")


def _scaled(x: Variable, exponents: Variable) -> Variable:
    """Return ``x * 2**exponents``, of float64.

    Exponents out of the range of powers are taken in three steps. A step down leaves so much that
    what has lost digits in it is zero after the next one.
    """
    for _ in range(2):
        down = elemwise(scalar.maximum, exponents, _LEAST + _DIGITS)
        small = elemwise(scalar.lt, exponents, _LEAST)
        step = elemwise(scalar.where, small, down, elemwise(scalar.minimum, exponents, _MOST))
        out = elemwise(scalar.or_, small, elemwise(scalar.gt, exponents, _MOST))
        step = elemwise(scalar.where, out, step, 0)
        x, exponents = x * _power(step), exponents - step
    return x * _power(elemwise(scalar.clip, exponents, _LEAST, _MOST))


def _power(exponents: Variable) -> Variable:
    """Return powers of two with all their digits, whatever ``exp2`` rounds to."""
    count = elemwise(scalar.abs, exponents)
    down = elemwise(scalar.lt, exponents, 0)
    power: Variable = as_tensor(1.0)
    for digit in range(10):
        bit = elemwise(scalar.and_, count, 1 << digit)
        factor = elemwise(scalar.where, down, 2.0 ** -(1 << digit), 2.0 ** (1 << digit))
        power = power * elemwise(scalar.where, elemwise(scalar.eq, bit, 0), 1.0, factor)
    return power
