"""The best linker that works on this machine, if the user names none."""

from __future__ import annotations

import warnings

import frazil._core as _core
from frazil._core import FrozenFunctionGraph
from frazil.compile.mode import Linker, Mode, usable_linkers
from frazil.compile.programs import Compiled, find_program
from frazil.graph.call_site import users_level
from frazil.link.c.search import refused_compilers
from frazil.link.kernel.compiler import BrokenCompilerError
from frazil.link.linkers.c_first import reason_in_graph

_broken: dict[str, str] = {}
"""The linkers whose compilers failed, with the reasons; this process does not try them again."""

_told: dict[str, object] = {}
"""The warnings that were shown."""


def find_best_program(
    graph: FrozenFunctionGraph, mode: Mode, donated: tuple[int, ...]
) -> tuple[Compiled, Linker]:
    """Return the program of ``graph`` and the linker that made it: the best one that works.

    In a tiered mode, C may take over later what has the same bits there. A warning says
    once which compiler does not work, and what to do.
    """
    for linker in usable_linkers():
        if linker.name in _broken:
            continue
        if linker.name == "tiered" and not (mode.tiered and reason_in_graph(graph) is None):
            continue
        try:
            compiled = find_program(graph, linker, mode, donated)
        except BrokenCompilerError as error:
            _broken[linker.name] = str(error)
            continue
        _warn_of(linker.name)
        return compiled, linker
    raise AssertionError("the py linker needs no compiler")


def _warn_of(chosen: str) -> None:
    """Warn, if functions are slower than with another linker, and say why."""
    if chosen in ("c", "tiered"):
        return
    known = [*refused_compilers(), *_broken.values()]
    if chosen in ("numba", "py") and (fault := _core.native_code_fault()) is not None:
        known.append(f"code that frazil makes itself does not run here: {fault}")
    reasons = "".join(f"\n{reason}" for reason in known)
    # Numba, too, needs memory that code may run in.
    may_help = _core.made_code_fault() is None
    numba = ", or install Numba: pip install 'frazil[numba]'" if may_help else ""
    if chosen == "py":
        message = (
            "fz.function found neither a C compiler nor Numba that works, and may run no code "
            "of its own, so NumPy runs operation by operation, often a hundred times slower. "
            "Install gcc or clang (or let the environment variable CC name another C compiler)"
            f"{numba}. mode='py' asks for NumPy, without this warning.{reasons}"
        )
    elif reasons:
        message = (
            f"fz.function compiles with {chosen.capitalize()}, as no C compiler works here. Repair "
            "it, or let the environment variable CC name another one; "
            f"mode={chosen!r} asks for {chosen.capitalize()}, without this warning.{reasons}"
        )
    else:
        return
    this = object()
    if _told.setdefault(message, this) is this:
        warnings.warn(message, RuntimeWarning, stacklevel=users_level())
