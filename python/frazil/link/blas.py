"""BLAS, as SciPy ships it."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import scipy

from frazil import _core
from frazil.link.symbols import address_in

ROUTINES = ("ddot", "dgemm", "dgemv", "sdot", "sgemm", "sgemv")
"""The routines that the runtime calls."""


@cache
def install() -> None:
    """Gives the runtime SciPy's own BLAS; once, when the first program needs it."""
    capsules = _cython_blas().__pyx_capi__
    _core.set_blas({name: address_in(capsules[name]) for name in ROUTINES})


def _cython_blas() -> ModuleType:
    """``scipy.linalg.cython_blas``, without the rest of ``scipy.linalg``.

    The package takes forty times as long to import as this one module of it, and that would be part
    of the first compilation.
    """
    name = "scipy.linalg.cython_blas"
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
