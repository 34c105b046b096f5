"""Functions outside of kernels that their machine code calls, and their addresses in a process.

Numba is not imported for it.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping
from functools import cache

import llvmlite.binding as llvm

from frazil.link.numba.machine import new_engine
from frazil.link.toolchain.symbols import OF_SCIPY, function_address, load_math, scipy_function

MATH: Mapping[str, int] = {
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log1p", "log2", "log10"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "cbrt"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"), 1),
    **dict.fromkeys(("pow", "atan2", "fmod", "hypot", "nextafter"), 2),
}
"""Functions of the C math library, with their number of operands."""

RUNTIME = frozenset(("loop_stops",))
"""Functions of the runtime."""

HIDDEN = "frazil_"
"""The prefix of the names of foreign functions, by which LLVM does not know them.

What LLVM knows of the C library it uses to rewrite calls, not always soundly: it takes the
remainder of what it can tell to be neither infinite nor zero for a number, though it be NaN.
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
    if name in RUNTIME:
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
        elif symbol != name:
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


def with_vector_forms(text: str) -> str:
    """The text of a module in which loops that call the C math library can be vectorised.

    Each function says which vector function does the same, and is itself an element of what that
    gives: so a value does not depend on where its element stands. The vector functions are marked
    as used: else they would be gone before loops are vectorised.
    """
    lines: list[str] = []
    used: list[str] = []

    def defined(match: re.Match[str]) -> str:
        kind, name, operands = match.groups()
        form = vector_form(name, kind)
        if form is None:
            return match[0]
        own, lanes = form
        vector, arity = f"<{lanes} x {kind}>", operands.count(kind)
        taken = ", ".join([vector] * arity)
        lines.append(f"declare {vector} @{own}({taken})")
        used.append(f"i8* bitcast ({vector} ({taken})* @{own} to i8*)")
        same = f"{own.removesuffix(name)}{HIDDEN}{name}({own})"
        given = ", ".join(f"{kind} %x{k}" for k in range(arity))
        # It keeps no state, raises nothing and comes back.
        facts = f'noinline nounwind willreturn readnone "vector-function-abi-variant"="{same}"'
        body = []
        for k in range(arity):
            body += [
                f"  %one{k} = insertelement {vector} undef, {kind} %x{k}, i32 0",
                f"  %all{k} = shufflevector {vector} %one{k}, {vector} undef, "
                f"<{lanes} x i32> zeroinitializer",
            ]
        passed = ", ".join(f"{vector} %all{k}" for k in range(arity))
        return "\n".join(
            [
                f'define internal {kind} @"{HIDDEN}{name}"({given}) {facts} {{',
                *body,
                f"  %made = call {vector} @{own}({passed})",
                f"  %first = extractelement {vector} %made, i32 0",
                f"  ret {kind} %first",
                "}",
            ]
        )

    pattern = rf'^declare (double|float) @"{HIDDEN}(\w+)"\((.*)\)$'
    text = re.sub(pattern, defined, text, flags=re.MULTILINE)
    if not used:
        return text
    lines.append(
        f"@llvm.compiler.used = appending global [{len(used)} x i8*] [{', '.join(used)}], "
        'section "llvm.metadata"'
    )
    return "\n".join([text, *lines, ""])
