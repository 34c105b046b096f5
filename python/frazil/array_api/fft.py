"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

import frazil.tensor as ft
from frazil.array_api.array import Array, check_device, lifted
from frazil.array_api.creation import DType, asarray

__all__ = [
    *("fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft"),
    *("irfft", "irfftn", "rfft", "rfftfreq", "rfftn"),
]


def __dir__() -> list[str]:
    return __all__


Norm: TypeAlias = Literal["backward", "ortho", "forward"]
Integers: TypeAlias = Sequence[int] | None


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the Fourier transform of ``x`` along ``axis``, of ``n`` numbers."""
    return lifted(ft.fft.fft, x, n=n, axis=axis, norm=norm)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of :func:`fft`."""
    return lifted(ft.fft.ifft, x, n=n, axis=axis, norm=norm)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the first half of the transform of real numbers."""
    return lifted(ft.fft.rfft, x, n=n, axis=axis, norm=norm)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the ``n`` real numbers whose transform begins with ``x``."""
    return lifted(ft.fft.irfft, x, n=n, axis=axis, norm=norm)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the transform, which is real, of numbers whose second half mirrors ``x``."""
    return lifted(ft.fft.hfft, x, n=n, axis=axis, norm=norm)


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of :func:`hfft`."""
    return lifted(ft.fft.ihfft, x, n=n, axis=axis, norm=norm)


def fftn(
    x: Array, /, *, s: Integers = None, axes: Integers = None, norm: Norm = "backward"
) -> Array:
    """Return the Fourier transform along ``axes``, of lengths ``s``."""
    return lifted(ft.fft.fftn, x, s=s, axes=axes, norm=norm)


def ifftn(
    x: Array, /, *, s: Integers = None, axes: Integers = None, norm: Norm = "backward"
) -> Array:
    """Return the inverse of :func:`fftn`."""
    return lifted(ft.fft.ifftn, x, s=s, axes=axes, norm=norm)


def rfftn(
    x: Array, /, *, s: Integers = None, axes: Integers = None, norm: Norm = "backward"
) -> Array:
    """Return the transform of real numbers along ``axes``, half of the last."""
    return lifted(ft.fft.rfftn, x, s=s, axes=axes, norm=norm)


def irfftn(
    x: Array, /, *, s: Integers = None, axes: Integers = None, norm: Norm = "backward"
) -> Array:
    """Return the inverse of :func:`rfftn`."""
    return lifted(ft.fft.irfftn, x, s=s, axes=axes, norm=norm)


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
