"""BLAS and LAPACK, as NumPy or SciPy ships them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np
import scipy

import frazil._core as _core
from frazil.link.toolchain.symbols import address_in

BLAS = ("dot", "gemm", "gemv", "ger", "symm", "syrk", "trsm", "trsv")
LAPACK = ("gbsv", "geqrf", "gesdd", "gesv", "getrf", "gtsv", "orgqr", "potrf", "syevd")
"""The routines that the runtime calls, without the letter of their precision."""


@cache
def install() -> None:
    """Give the runtime BLAS; once, when the first program needs it."""
    _install(BLAS, "cython_blas")


@cache
def install_lapack() -> None:
    """Give the runtime BLAS and LAPACK; once, when the first program needs them."""
    install()
    _install(LAPACK, "cython_lapack")


def install_library(name: Literal["blas", "lapack"] | None) -> None:
    """Give the runtime the library that a program needs."""
    if name == "blas":
        install()
    elif name == "lapack":
        install_lapack()


def _install(routines: Sequence[str], part: str) -> None:
    names = [precision + routine for routine in routines for precision in "sd"]
    found = routines_of_numpy(names)
    if found is not None:
        _core.set_routines(found, bits=64)
    else:
        _core.set_routines(routines_of_scipy(names, part), bits=32)


def routines_of_numpy(names: Sequence[str]) -> dict[str, int] | None:
    """The addresses of the routines that NumPy itself calls; None if it lacks one of the names.

    NumPy's own releases hold OpenBLAS with 64-bit integers, under names that say so. It is loaded
    already; SciPy's has to be loaded first, which takes as long as finding a program in the cache.

    Examples
    --------
    >>> from frazil.link.toolchain.blas import routines_of_numpy
    >>> routines_of_numpy(["no_routine"]) is None
    True
    """
    calling = getattr(np.linalg, "_umath_linalg", None)
    path = getattr(calling, "__file__", None)
    if path is None:
        return None
    try:
        library = ctypes.CDLL(path)  # also finds the libraries that it depends on
        return {
            name: ctypes.addressof(ctypes.c_char.in_dll(library, f"scipy_{name}_64_"))
            for name in names
        }
    except (OSError, ValueError):
        return None


def routines_of_scipy(names: Sequence[str], part: str) -> dict[str, int]:
    """The addresses of the routines that a module of ``scipy.linalg`` exports, for 32-bit integers.

    Examples
    --------
    >>> from frazil.link.toolchain.blas import routines_of_scipy
    >>> list(routines_of_scipy(["dgemm"], "cython_blas"))
    ['dgemm']
    """
    capsules = _part_of_linalg(part).__pyx_capi__
    return {name: address_in(capsules[name]) for name in names}


def _part_of_linalg(part: str) -> ModuleType:
    """A module of ``scipy.linalg``, imported without the rest of the package.

    The whole package takes forty times as long to import as ``cython_blas``, and the first
    compilation would take that much longer.
    """
    name = f"scipy.linalg.{part}"
    if "scipy.linalg" not in sys.modules:
        folder = str(Path(scipy.__file__).parent / "linalg")
        spec = PathFinder.find_spec(name, [folder])
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            # A later import of the package must find it whole, with this module in it.
            sys.modules.pop(name, None)
            return module
    return import_module(name)
