"""The parts of numbers, all of which are real, and the sign as it is."""

from __future__ import annotations

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros_like
from frazil.tensor.elementwise.definition import elementwise


@elementwise("[1.0, -1.0] -> [ 1., -1.]", "``x`` itself.", "Numbers.")
def positive(x: TensorLike, /) -> Variable:
    """Return ``x`` as it is: ``+x``."""
    x = as_tensor(x)
    if x.dtype == "bool":
        raise TypeError(f"positive takes numbers; given {x.type}. Cast it first.")
    return x


@elementwise(
    "[1.0, -1.0] -> [ 1., -1.]",
    "``x`` itself, as :func:`numpy.real` gives.",
    "Any tensor; there are no complex ones.",
)
def real(x: TensorLike, /) -> Variable:
    """Return the real part, which is all of ``x``."""
    return as_tensor(x)


@elementwise(
    "[1.0, -1.0] -> [0., 0.]",
    "Zeros of the shape and dtype of ``x``, as :func:`numpy.imag` gives.",
    "Any tensor; there are no complex ones.",
)
def imag(x: TensorLike, /) -> Variable:
    """Return the imaginary part, which is zero."""
    return zeros_like(as_tensor(x))


@elementwise(
    "[1.0, -1.0] -> [ 1., -1.]",
    "``x`` itself, as :func:`numpy.conj` gives; int8 for bool.",
    "Any tensor; there are no complex ones.",
)
def conj(x: TensorLike, /) -> Variable:
    """Return the conjugate, which is ``x``."""
    x = as_tensor(x)
    return as_tensor(x, "int8") if x.dtype == "bool" else x


conjugate = conj
