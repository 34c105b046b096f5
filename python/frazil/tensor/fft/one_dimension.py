"""Fourier transforms along one dimension."""

from __future__ import annotations

from typing import Literal, TypeAlias

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.scalar.float16 import computed_in
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.fft.operations import (
    SWAPPED,
    Fourier,
    InverseRealFourier,
    RealFourier,
    check_length,
    fitted,
    half,
)
from frazil.tensor.lengths import (
    LengthLike,
    as_length,
    length,
    literal,
    multiply,
    static_length,
    subtract,
)
from frazil.tensor.realness import conj

Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None


def _as_complex(x: Variable) -> Variable:
    kind = x.type.numpy_dtype.kind
    if kind == "c":
        return x
    return as_tensor(x, "complex64" if x.dtype in ("float16", "float32") else "complex128")


def _as_real(x: Variable, name: str) -> Variable:
    kind = x.type.numpy_dtype.kind
    if kind == "c":
        raise TypeError(f"{name} takes real numbers; given {x.type}. Take ft.real of it, or fft")
    return as_tensor(x, computed_in(x.dtype)) if kind == "f" else as_tensor(x, "float64")


def as_norm(norm: Norm) -> str:
    """Return a norm by its name; ValueError if it is none."""
    given = "backward" if norm is None else norm
    if given not in SWAPPED:
        raise ValueError(
            f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".'
        )
    return given


def _along(x: Variable, n: LengthLike | None, axis: int) -> tuple[Variable, int]:
    """The numbers to transform, ``n`` along the dimension ``axis``, and that, counted from 0."""
    if not x.ndim:
        raise ValueError(f"a transform takes a tensor with dimensions; given {x.type}")
    axis = normalize_axis(axis, x.ndim)
    wanted = length(x, axis) if n is None else as_length(n)
    check_length(static_length(wanted))
    return fitted(x, wanted, axis), axis


def _complex_transform(
    a: TensorLike, n: LengthLike | None, axis: int, norm: Norm, inverse: bool
) -> Variable:
    x, axis = _along(_as_complex(as_tensor(a)), n, axis)
    made: Variable = Fourier(axis - x.ndim, inverse, as_norm(norm))(x)
    return made


@described
def fft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the Fourier transform along a dimension.

    a (tensor_like): Numbers, real or complex.
    n (int or 0-d integer variable): The number of them: the last ones are left out, or zeros
        follow. Default: all.
    axis (int): The dimension.
    norm ({"backward", "ortho", "forward"}): The direction that is scaled by ``1 / n``, or both by
        its root; default: "backward".
    returns: Of complex64 for complex64 and float32, else complex128, as :func:`numpy.fft.fft`
        gives.
    raises ValueError: If there are no numbers along the dimension, or ``norm`` is another one.

    >>> ft.fft.fft([1.0, 0.0, -1.0, 0.0]).eval()
    array([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    return _complex_transform(a, n, axis, norm, False)


@described_like(fft)
def ifft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`fft`, whose parameters it has.

    returns: Of a complex dtype, as :func:`numpy.fft.ifft` gives.

    >>> ft.fft.ifft([0.0, 2.0, 0.0, 2.0]).eval()
    array([ 1.+0.j,  0.+0.j, -1.+0.j,  0.+0.j])
    """
    return _complex_transform(a, n, axis, norm, True)


@described_like(fft)
def rfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the first half of the Fourier transform of real numbers; the rest mirrors it.

    a (tensor_like): Real numbers.
    returns: Of length ``n // 2 + 1`` along the dimension, as :func:`numpy.fft.rfft` gives.
    raises TypeError: If ``a`` is complex.

    >>> ft.fft.rfft([1.0, 0.0, -1.0, 0.0]).eval()
    array([0.+0.j, 2.+0.j, 0.+0.j])
    """
    x, axis = _along(_as_real(as_tensor(a), "rfft"), n, axis)
    made: Variable = RealFourier(axis - x.ndim, as_norm(norm))(x)
    return made


@described_like(fft)
def irfft(
    a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None
) -> Variable:
    """Return the real numbers whose Fourier transform begins with ``a``, as :func:`rfft` gives.

    a (tensor_like): Numbers. The first, and the middle one of an even ``n``, count as real.
    n (int or 0-d integer variable): The length of the result; default: twice the length of ``a``
        less one.
    returns: Of float32 for complex64 and float32, else float64, as :func:`numpy.fft.irfft` gives.

    >>> ft.fft.irfft([0.0, 2.0, 0.0]).eval()
    array([ 1.,  0., -1.,  0.])
    """
    x = _as_complex(as_tensor(a))
    if not x.ndim:
        raise ValueError(f"a transform takes a tensor with dimensions; given {x.type}")
    axis = normalize_axis(axis, x.ndim)
    own = length(x, axis)
    count = multiply(literal(2), subtract(own, literal(1))) if n is None else as_length(n)
    check_length(static_length(count))
    if n is not None:
        x = fitted(x, half(count), axis)
    made: Variable = InverseRealFourier(axis - x.ndim, as_norm(norm))(x, count)
    return made


@described_like(irfft)
def hfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the real Fourier transform of numbers whose second half mirrors the first.

    a (tensor_like): The first half.
    returns: Real numbers, as :func:`numpy.fft.hfft` gives.

    >>> ft.fft.hfft([1.0, 2.0, 3.0]).eval()
    array([ 8., -2.,  0., -2.])
    """
    return irfft(conj(_as_complex(as_tensor(a))), n, axis, SWAPPED[as_norm(norm)])


@described_like(fft)
def ihfft(
    a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None
) -> Variable:
    """Return the inverse of :func:`hfft`: the first half of numbers, which the second mirrors.

    a (tensor_like): Real numbers.
    returns: Of a complex dtype, as :func:`numpy.fft.ihfft` gives.

    >>> ft.real(ft.fft.ihfft([8.0, -2.0, 0.0, -2.0])).eval()
    array([1., 2., 3.])
    """
    return conj(rfft(a, n, axis, SWAPPED[as_norm(norm)]))
