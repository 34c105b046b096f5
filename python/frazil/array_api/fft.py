"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np

import frazil.tensor as ft
from frazil.array_api.array import Array, check_device, lifted
from frazil.array_api.creation import DType, asarray
from frazil.tensor.docstrings import renamed

__all__ = [
    *("fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft"),
    *("irfft", "irfftn", "rfft", "rfftfreq", "rfftn"),
]


def __dir__() -> list[str]:
    return __all__


Norm: TypeAlias = Literal["backward", "ortho", "forward"]
Integers: TypeAlias = Sequence[int] | None


class AlongOne(Protocol):
    """A transform along one dimension."""

    def __call__(
        self, x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Array: ...


class AlongSeveral(Protocol):
    """A transform along several dimensions."""

    def __call__(
        self, x: Array, /, *, s: Integers = None, axes: Integers = None, norm: Norm = "backward"
    ) -> Array: ...


def _along_one(of: Callable[..., object], summary: str) -> AlongOne:
    def function(
        x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Array:
        return lifted(of, x, n=n, axis=axis, norm=norm)

    function.__doc__ = summary
    return renamed(function, of.__name__)


def _along_several(of: Callable[..., object], summary: str) -> AlongSeveral:
    def function(
        x: Array, /, *, s: Integers = None, axes: Integers = None, norm: Norm = "backward"
    ) -> Array:
        return lifted(of, x, s=s, axes=axes, norm=norm)

    function.__doc__ = summary
    return renamed(function, of.__name__)


fft = _along_one(
    ft.fft.fft, "Return the Fourier transform of ``x`` along ``axis``, of ``n`` numbers."
)
ifft = _along_one(ft.fft.ifft, "Return the inverse of :func:`fft`.")
rfft = _along_one(ft.fft.rfft, "Return the first half of the transform of real numbers.")
irfft = _along_one(ft.fft.irfft, "Return the ``n`` real numbers whose transform begins with ``x``.")
hfft = _along_one(
    ft.fft.hfft, "Return the transform, which is real, of numbers whose second half mirrors ``x``."
)
ihfft = _along_one(ft.fft.ihfft, "Return the inverse of :func:`hfft`.")
fftn = _along_several(ft.fft.fftn, "Return the Fourier transform along ``axes``, of lengths ``s``.")
ifftn = _along_several(ft.fft.ifftn, "Return the inverse of :func:`fftn`.")
rfftn = _along_several(
    ft.fft.rfftn, "Return the transform of real numbers along ``axes``, half of the last."
)
irfftn = _along_several(ft.fft.irfftn, "Return the inverse of :func:`rfftn`.")


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType = None, device: str | None = None) -> Array:
    """Return the frequencies of the results of :func:`fft`."""
    check_device(device)
    return asarray(np.fft.fftfreq(n, d), dtype="float64" if dtype is None else dtype)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType = None, device: str | None = None) -> Array:
    """Return the frequencies of the results of :func:`rfft`."""
    check_device(device)
    return asarray(np.fft.rfftfreq(n, d), dtype="float64" if dtype is None else dtype)


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Return ``x`` with the frequency zero in the middle of ``axes``."""
    return lifted(ft.fft.fftshift, x, axes=axes)


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Return the inverse of :func:`fftshift`."""
    return lifted(ft.fft.ifftshift, x, axes=axes)
