"""Fourier transforms along several dimensions: one along each, the last first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described_like, renamed
from frazil.tensor.fft.one_dimension import Norm, fft, ifft, irfft, rfft
from frazil.tensor.lengths import LengthLike, length

Counts: TypeAlias = Sequence[LengthLike] | None
Axes: TypeAlias = Sequence[int] | None


def dimensions(x: Variable, s: Counts, axes: Axes) -> list[tuple[int, LengthLike | None]]:
    """Return each dimension to transform, with the length that it is to have."""
    if s is not None and axes is None:
        axes = range(x.ndim - len(s), x.ndim)
    over = [normalize_axis(axis, x.ndim) for axis in (range(x.ndim) if axes is None else axes)]
    wanted: Sequence[LengthLike | None] = [None] * len(over) if s is None else list(s)
    if len(wanted) != len(over):
        raise ValueError(f"Shape and axes have different lengths: {len(wanted)}, {len(over)}")
    if not over:
        raise ValueError("a transform needs a dimension at least")
    own = (length(x, axis) for axis in over)
    lacking = [k if isinstance(n, int) and n == -1 else n for n, k in zip(wanted, own, strict=True)]
    return list(zip(over, lacking, strict=True))


Transform: TypeAlias = Callable[[TensorLike, LengthLike | None, int, Norm], Variable]
"""A transform along one dimension."""


def _along(
    of: Transform, x: Variable, over: Iterable[tuple[int, LengthLike | None]], norm: Norm
) -> Variable:
    for axis, n in over:
        x = of(x, n, axis, norm)
    return x


def along_each(of: Transform, x: TensorLike, s: Counts, axes: Axes, norm: Norm) -> Variable:
    """Return the transform along several dimensions, the last one first."""
    x = as_tensor(x)
    return _along(of, x, reversed(dimensions(x, s, axes)), norm)


def to_half(
    half: Transform, of: Transform, x: TensorLike, s: Counts, axes: Axes, norm: Norm
) -> Variable:
    """Return the transform that gives half of the last dimension, and another along the rest."""
    x = as_tensor(x)
    *others, (axis, n) = dimensions(x, s, axes)
    return _along(of, half(x, n, axis, norm), reversed(others), norm)


def from_half(
    half: Transform, of: Transform, x: TensorLike, s: Counts, axes: Axes, norm: Norm
) -> Variable:
    """Return the transform of half of the last dimension, after another along the rest."""
    x = as_tensor(x)
    *others, (axis, n) = dimensions(x, s, axes)
    return half(_along(of, x, others, norm), n, axis, norm)


@described_like(fft)
def fftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the Fourier transform along several dimensions.

    a (tensor_like): Numbers, real or complex.
    s (sequence of int or 0-d integer variable): The length of each dimension, as ``n`` for
        :func:`fft`.
    axes (sequence of int): The dimensions. Default: all, or the last ones if ``s`` is given.
    returns: Of a complex dtype, as :func:`numpy.fft.fftn` gives.

    >>> ft.real(ft.fft.fftn([[1.0, 2.0], [3.0, 4.0]])).eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return along_each(fft, a, s, axes, norm)


@described_like(fftn)
def ifftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`fftn`, whose parameters it has.

    returns: Of a complex dtype, as :func:`numpy.fft.ifftn` gives.

    >>> ft.real(ft.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return along_each(ifft, a, s, axes, norm)


@described_like(fftn)
def rfftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the Fourier transform of real numbers along several dimensions, half of the last.

    a (tensor_like): Real numbers.
    returns: Of a complex dtype, as :func:`numpy.fft.rfftn` gives.

    >>> ft.real(ft.fft.rfftn([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])).eval()
    array([[18., -3.],
           [-6.,  0.]])
    """
    return to_half(rfft, fft, a, s, axes, norm)


@described_like(fftn)
def irfftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`rfftn`.

    a (tensor_like): Numbers, as for :func:`irfft`.
    s (sequence of int or 0-d integer variable): The length of each dimension of the result.
    returns: Real numbers, as :func:`numpy.fft.irfftn` gives.

    >>> ft.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]]).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return from_half(irfft, ifft, a, s, axes, norm)


class OverTwo(Protocol):
    """A transform of the last two dimensions, or of ``axes``."""

    def __call__(
        self, a: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None
    ) -> Variable: ...


_OVER_TWO = """Return :func:`{several}` of the last two dimensions, or of ``axes``.

axes (sequence of int): The dimensions.
returns: As :func:`numpy.fft.{name}` gives.

{example}
"""


def _over_two(of: Callable[..., Variable], example: str) -> OverTwo:
    """The form of a transform along several dimensions that takes two by default."""

    def function(
        a: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None
    ) -> Variable:
        return of(a, s, axes, norm)

    name = f"{of.__name__[:-1]}2"
    if of.__doc__ is not None:  # as Python -OO leaves it
        function.__doc__ = _OVER_TWO.format(several=of.__name__, name=name, example=example)
    return described_like(of)(renamed(function, name))


fft2 = _over_two(
    fftn,
    """\
>>> ft.real(ft.fft.fft2([[1.0, 2.0], [3.0, 4.0]])).eval()
array([[10., -2.],
       [-4.,  0.]])""",
)
ifft2 = _over_two(
    ifftn,
    """\
>>> ft.real(ft.fft.ifft2([[10.0, -2.0], [-4.0, 0.0]])).eval()
array([[1., 2.],
       [3., 4.]])""",
)
rfft2 = _over_two(
    rfftn,
    """\
>>> ft.real(ft.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])).eval()
array([[10., -2.],
       [-4.,  0.]])""",
)
irfft2 = _over_two(
    irfftn,
    """\
>>> ft.fft.irfft2([[10.0, -2.0], [-4.0, 0.0]]).eval()
array([[1., 2.],
       [3., 4.]])""",
)
