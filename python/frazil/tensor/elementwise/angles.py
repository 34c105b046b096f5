"""Angles in degrees and radians, and ``sinc``."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise, elemwise_type
from frazil.scalar.complex import refuse_complex
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def deg2rad(x: TensorLike, /) -> Variable:
    """Return angles in radians.

    x (tensor_like): Angles in degrees.
    returns: As :func:`numpy.deg2rad` gives.
    example: [0.0, 180.0] -> [0.        , 3.14159265]
    """
    return elemwise(scalar.mul, refuse_complex(as_floating(x), "deg2rad"), math.pi / 180)


@elementwise
def rad2deg(x: TensorLike, /) -> Variable:
    """Return angles in degrees.

    x (tensor_like): Angles in radians.
    returns: As :func:`numpy.rad2deg` gives.
    example: [0.0, ft.pi] -> [  0., 180.]
    """
    return elemwise(scalar.mul, refuse_complex(as_floating(x), "rad2deg"), 180 / math.pi)


radians = deg2rad
degrees = rad2deg

# Below this angle three terms of the series are exact, and so are their first derivatives.
_SMALL = 0.01


@elementwise
def sinc(x: TensorLike) -> Variable:
    """Return ``sin(pi * x) / (pi * x)``, and 1 at 0.

    returns: As :func:`numpy.sinc` gives. Its first and second derivatives are right at 0, too.
    example: [0.0, 0.5] -> [1.        , 0.63661977]
    """
    angle = elemwise(scalar.mul, as_floating(x), math.pi)
    small = elemwise(scalar.lt, elemwise(scalar.abs, angle), _SMALL)
    far = elemwise(scalar.where, small, 1, angle)
    quotient = elemwise(scalar.truediv, elemwise(scalar.sin, far), far)
    square = elemwise(scalar.sqr, elemwise(scalar.where, small, angle, 0))
    series = 1 - square * (1 - square * (1 - square / 42) / 20) / 6
    return elemwise(scalar.where, small, series, quotient)


def as_floating(x: TensorLike) -> Variable:
    """Return ``x`` in the floating dtype that elementary functions of it have."""
    x = as_tensor(x)
    return as_tensor(x, elemwise_type(scalar.exp, x.type).dtype)
