"""Functions outside of kernels that their machine code calls, and their addresses in a process.

Numba is not imported for it.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

import llvmlite.binding as llvm

from frazil.link.numba.machine import new_engine
from frazil.link.toolchain.symbols import OF_SCIPY, function_address, load_math, scipy_function

MATH: Mapping[str, int] = dict.fromkeys(("atan2", "fmod", "hypot", "nextafter"), 2)
"""Functions of the C math library, with their number of operands."""

HIDDEN = "frazil_"
"""The prefix of the names of foreign functions, which hides them from LLVM.

LLVM rewrites calls of functions that it knows from the C library, not always soundly: it takes a
remainder for a number if the operands are neither infinite nor zero, though they may be NaN.
"""

_VECTORS: Mapping[str, tuple[str, int]] = {
    "sse2": ("b", 16),
    "avx2": ("d", 32),
    "avx512f": ("e", 64),
}
"""By feature of an x86-64: its letter in the names of vector functions, the bytes of a register."""


@cache
def address_of(name: str) -> int | None:
    """The address of a function that the runtime, SciPy or the C library exports; None if none
    does.
    """
    if name.startswith(OF_SCIPY):
        return scipy_function(name)
    with suppress(KeyError):
        return function_address(name)
    _see_process()
    address: int | None = llvm.address_of_symbol(name)
    return address


@cache
def _see_process() -> None:
    load_math()
    # LLVM finds what is in the process from the first engine on.
    new_engine()


def exported(symbol: str) -> str:
    """The name under which the function is exported that machine code calls ``symbol``."""
    return symbol.removeprefix(HIDDEN)


def provide(symbols: Mapping[str, str]) -> list[str]:
    """Lets LLVM find each symbol, given with the name that its function is exported under.

    Returns the names that nothing exports.
    """
    missing = []
    for symbol, name in symbols.items():
        address = address_of(name)
        if address is None:
            missing.append(name)
        else:
            llvm.add_symbol(symbol, address)
    return missing


@cache
def vector_form(name: str, kind: str) -> tuple[str, int] | None:
    """The widest vector function that does the same as one of the C math library to ``float`` or
    ``double``, and how many elements it takes at once.

    glibc has them, precise within 4 ulp and exact at infinities, NaN and signed zeros.
    """
    arity = MATH.get(name.removesuffix("f") if kind == "float" else name)
    if arity is None or sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    features = llvm.get_host_cpu_features()
    widest = None
    for feature, (letter, size) in _VECTORS.items():
        lanes = size // (4 if kind == "float" else 8)
        own = f"_ZGV{letter}N{lanes}{'v' * arity}_{name}"
        if features.get(feature) and address_of(own) is not None:
            widest = own, lanes
    return widest
