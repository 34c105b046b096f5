"""Modes: which linker makes a function's program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol

from frazil._core import FrozenFunctionGraph, Program
from frazil.link.c import CCompiler
from frazil.link.image import Image, Symbol
from frazil.link.kernel import NativeKernel
from frazil.link.native import NativeLinker
from frazil.link.numba import NumbaCompiler
from frazil.link.perform import PyLinker


class Linker(Protocol):
    """What makes a program of a frozen graph."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str:
        """What programs depend on besides the graph and frazil."""
        ...

    def compile(self, graph: FrozenFunctionGraph) -> Program: ...

    def symbol(self, keepalive: object) -> Symbol | None:
        """Where a kernel of a program is in an image; None if it cannot be kept."""
        ...

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        ...


def _c() -> Linker | None:
    compiler = CCompiler.find()
    return None if compiler is None else NativeLinker(compiler)


def _numba() -> Linker | None:
    compiler = NumbaCompiler.find()
    return None if compiler is None else NativeLinker(compiler)


_FINDERS: dict[str, Callable[[], Linker | None]] = {"c": _c, "numba": _numba, "py": PyLinker}

_WAYS_OUT = {
    "c": "install a C compiler (gcc or clang), or set CC to one",
    "numba": "install numba: pip install 'frazil[numba]'",
}


@cache
def find_linker(mode: str | None) -> Linker:
    """The linker of a mode; for None the best there is: ``c``, else ``numba``, else ``py``.

    Raises
    ------
    ValueError
        If no mode has this name.
    RuntimeError
        If this machine lacks what the mode needs.
    """
    if mode is None:
        found = (finder() for finder in _FINDERS.values())
        return next(linker for linker in found if linker is not None)
    if mode not in _FINDERS:
        known = ", ".join(map(repr, _FINDERS))
        raise ValueError(f"mode must be one of {known} or None, given {mode!r}")
    linker = _FINDERS[mode]()
    if linker is None:
        raise RuntimeError(f"mode {mode!r} is not available here; {_WAYS_OUT[mode]}")
    return linker
