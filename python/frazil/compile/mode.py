"""Modes: which linker makes a function's program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.link.c import CCompiler
from frazil.link.debug import DebugLinker
from frazil.link.native import NativeLinker
from frazil.link.numba import NumbaCompiler
from frazil.link.perform import PyLinker


class Linker(Protocol):
    """What makes a program of a frozen graph."""

    @property
    def name(self) -> str: ...

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph`` and may use up the memory of ``donated`` inputs."""
        ...


def _c() -> Linker | None:
    compiler = CCompiler.find()
    return None if compiler is None else NativeLinker(compiler)


def _numba() -> Linker | None:
    compiler = NumbaCompiler.find()
    return None if compiler is None else NativeLinker(compiler)


def _debug() -> Linker:
    return DebugLinker(CCompiler.find() or NumbaCompiler.find())


_FINDERS: dict[str, Callable[[], Linker | None]] = {
    "c": _c,
    "numba": _numba,
    "py": PyLinker,
    "debug": _debug,
}

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
