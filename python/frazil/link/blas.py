"""BLAS, as SciPy ships it."""

from __future__ import annotations

from functools import cache

from frazil import _core
from frazil.link.symbols import address_in

ROUTINES = ("ddot", "dgemm", "dgemv", "sdot", "sgemm", "sgemv")
"""The routines that the runtime calls."""


@cache
def install() -> None:
    """Gives the runtime SciPy's own BLAS; once, when the first program needs it."""
    from scipy.linalg import cython_blas

    _core.set_blas({name: address_in(cython_blas.__pyx_capi__[name]) for name in ROUTINES})
