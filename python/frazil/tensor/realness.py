"""The parts of complex numbers, and what makes complex numbers of their parts."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.complex import is_complex
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.creation import zeros_like
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def positive(x: TensorLike, /) -> Variable:
    """Return ``x`` as it is: ``+x``.

    x (tensor_like): Numbers.
    returns: ``x`` itself.
    example: [1.0, -1.0] -> [ 1., -1.]
    """
    x = as_tensor(x)
    if x.dtype == "bool":
        raise TypeError(f"positive takes numbers; given {x.type}. Cast it first.")
    return x


@elementwise
def real(x: TensorLike, /) -> Variable:
    """Return the real part.

    x (tensor_like): Any tensor.
    returns: Floats, as :func:`numpy.real` gives; ``x`` itself if it is real.
    example: [1.0 + 2.0j] -> [1.]
    """
    x = as_tensor(x)
    return elemwise(scalar.real, x) if is_complex(x) else x


@elementwise
def imag(x: TensorLike, /) -> Variable:
    """Return the imaginary part.

    x (tensor_like): Any tensor.
    returns: Floats, as :func:`numpy.imag` gives; zeros of the dtype of ``x`` if it is real.
    example: [1.0 + 2.0j] -> [2.]
    """
    x = as_tensor(x)
    return elemwise(scalar.imag, x) if is_complex(x) else zeros_like(x)


@elementwise
def conj(x: TensorLike, /) -> Variable:
    """Return the conjugate, whose imaginary part has the other sign.

    x (tensor_like): Any tensor.
    returns: Of the type of ``x``, as :func:`numpy.conj` gives: ``x`` itself if it is real, int8 for
        bool.
    example: [1.0 + 2.0j] -> [1.-2.j]
    """
    x = as_tensor(x)
    if is_complex(x):
        return elemwise(scalar.conj, x)
    return as_tensor(x, "int8") if x.dtype == "bool" else x


@elementwise
def angle(z: TensorLike, /, deg: bool = False) -> Variable:
    """Return the angle between a number and the positive real axis.

    z (tensor_like): Any tensor.
    deg (bool): Give it in degrees.
    returns: Floats between -pi and pi, or -180 and 180, as :func:`numpy.angle` gives.
    example: [2.0, -3.0, 4.0j] -> [0.        , 3.14159265, 1.57079633]
    """
    z = as_tensor(z)
    radians = elemwise(scalar.arctan2, imag(z), real(z))
    return elemwise(scalar.mul, radians, 180 / math.pi) if deg else radians


@elementwise
def complex(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return the complex numbers with a real part ``x1`` and an imaginary part ``x2``.

    x1, x2 (tensor_like): Real numbers; their shapes broadcast.
    returns: Of complex64 for float32 and short integers, else of complex128.
    example: [1.0, 2.0], [3.0, -1.0] -> [1.+3.j, 2.-1.j]
    """
    return elemwise(scalar.complex, as_operand(x1), as_operand(x2))


@elementwise
def isreal(x: TensorLike, /) -> Variable:
    """Return whether the imaginary parts are zero, as :func:`numpy.isreal` does.

    x (tensor_like): Any tensor.
    returns: Of bool.
    example: [1.0, 2.0j, 3.0 + 0.0j] -> [ True, False,  True]
    """
    return elemwise(scalar.eq, imag(x), 0)


@elementwise
def iscomplex(x: TensorLike, /) -> Variable:
    """Return whether the imaginary parts are not zero, as :func:`numpy.iscomplex` does.

    x (tensor_like): Any tensor.
    returns: Of bool.
    example: [1.0, 2.0j, 3.0 + 0.0j] -> [False,  True, False]
    """
    return elemwise(scalar.neq, imag(x), 0)


conjugate = conj
