"""BLAS and LAPACK, as SciPy ships them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Literal

import scipy

from frazil import _core
from frazil.link.symbols import address_in

BLAS = ("dot", "gemm", "gemv", "ger", "symm", "syrk", "trsm", "trsv")
LAPACK = ("getrf", "potrf")
"""The routines that the runtime calls, without the letter of their precision."""


@cache
def install() -> None:
    """Gives the runtime SciPy's own BLAS; once, when the first program needs it."""
    _install("cython_blas", BLAS)


@cache
def install_lapack() -> None:
    """Gives the runtime SciPy's own BLAS and LAPACK; once, when the first program needs it."""
    install()
    _install("cython_lapack", LAPACK)


def install_library(name: Literal["blas", "lapack"] | None) -> None:
    """Gives the runtime what a program needs, by the name of its library."""
    if name == "blas":
        install()
    elif name == "lapack":
        install_lapack()


def _install(part: str, routines: Sequence[str]) -> None:
    capsules = _part_of_linalg(part).__pyx_capi__
    names = [precision + routine for routine in routines for precision in "sd"]
    _core.set_routines({name: address_in(capsules[name]) for name in names})


def _part_of_linalg(part: str) -> ModuleType:
    """A module of ``scipy.linalg``, without the rest of the package.

    The package takes forty times as long to import as ``cython_blas`` alone, and that would be part
    of the first compilation.
    """
    name = f"scipy.linalg.{part}"
    if "scipy.linalg" not in sys.modules:
        folder = str(Path(scipy.__file__).parent / "linalg")
        spec = PathFinder.find_spec(name, [folder])
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            # Whoever imports the package later is to find it whole, this module in it.
            sys.modules.pop(name, None)
            return module
    return import_module(name)
