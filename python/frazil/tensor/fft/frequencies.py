"""The frequencies of the results of Fourier transforms, and their order."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.fft.operations import half
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import (
    LengthLike,
    add,
    as_length,
    floor_divide,
    length,
    literal,
    subtract,
)
from frazil.tensor.ranges import arange
from frazil.tensor.rearranging import roll


@described
def fftfreq(n: LengthLike, d: TensorLike = 1.0) -> Variable:
    """Return the frequencies of the results of :func:`fft`.

    n (int or 0-d integer variable): The number of values that are transformed.
    d (tensor_like): The distance between two of them.
    returns: Of float64, as :func:`numpy.fft.fftfreq` gives.

    >>> ft.fft.fftfreq(4, 0.5).eval()
    array([ 0. ,  0.5, -1. , -0.5])
    """
    count = as_length(n)
    positive = arange(floor_divide(add(count, literal(1)), literal(2)))
    negative = arange(subtract(literal(0), floor_divide(count, literal(2))), literal(0))
    return concatenate([positive, negative]) * (1.0 / (count * as_tensor(d)))


@described_like(fftfreq)
def rfftfreq(n: LengthLike, d: TensorLike = 1.0) -> Variable:
    """Return the frequencies of the results of :func:`rfft`.

    returns: Of float64, as :func:`numpy.fft.rfftfreq` gives.

    >>> ft.fft.rfftfreq(4, 0.5).eval()
    array([0. , 0.5, 1. ])
    """
    count = as_length(n)
    return arange(half(count)) * (1.0 / (count * as_tensor(d)))


@described
def fftshift(x: TensorLike, axes: int | Sequence[int] | None = None) -> Variable:
    """Return ``x`` with the frequency zero in the middle of dimensions.

    x (tensor_like): Any tensor.
    axes (int or sequence of int): The dimensions; default: all.
    returns: As :func:`numpy.fft.fftshift` gives.

    >>> ft.fft.fftshift([0, 1, 2, -2, -1]).eval()
    array([-2, -1,  0,  1,  2])
    """
    return _shifted(as_tensor(x), axes, back=False)


@described_like(fftshift)
def ifftshift(x: TensorLike, axes: int | Sequence[int] | None = None) -> Variable:
    """Return the inverse of :func:`fftshift`, whose parameters it has.

    returns: As :func:`numpy.fft.ifftshift` gives.

    >>> ft.fft.ifftshift([-2, -1, 0, 1, 2]).eval()
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted(as_tensor(x), axes, back=True)


def _shifted(x: Variable, axes: int | Sequence[int] | None, back: bool) -> Variable:
    given = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    for axis in given:
        axis = normalize_axis(axis, x.ndim)
        middle = floor_divide(length(x, axis), literal(2))
        x = roll(x, subtract(literal(0), middle) if back else middle, axis)
    return x
