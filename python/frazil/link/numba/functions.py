"""The functions that the text of kernels may call, by their names in the table of scalar ops.

Functions of a few steps are written out at each use (``written_out.py``); longer ones are functions
of their own in the kernel's module (``special_functions.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np

from frazil.link.kernel.loop_kernel import LoweringError
from frazil.link.numba import special_functions
from frazil.link.numba.externals import HIDDEN, MATH, provide, vector_form
from frazil.link.numba.runtime import FACTS, OF_RUNTIME, of_runtime
from frazil.link.numba.translation import Callee, Defined, Writer
from frazil.link.numba.values import LLVM_TYPES, Value, constant
from frazil.link.numba.vectors import Routine
from frazil.link.numba.written_out import WRITTEN_OUT, WrittenOut, written_out
from frazil.link.toolchain.symbols import OF_SCIPY
from frazil.scalar.scipy_functions import ARITIES

INSTRUCTIONS: Mapping[str, int] = {
    "fabs": 1,
    "sqrt": 1,
    "floor": 1,
    "ceil": 1,
    "trunc": 1,
    "rint": 1,
    "copysign": 2,
}
"""Functions that LLVM has itself, with their number of operands."""

WRAPPING = ("add", "sub", "mul")
"""Arithmetic of integers of one type, modulo two to the number of their bits.

Operators promise LLVM that no int64 overflows, and LLVM draws conclusions from it: that ``x + x``
has the sign of ``x``, or that ``x + 1`` is more than ``x``.
"""


SHIFTS = ("left_shift", "right_shift")
"""Shifts of integers of one type by any number of bits."""


@cache
def function(name: str, dtype: str) -> Callee:
    """The function of that name for operands of ``dtype``.

    Raises
    ------
    KeyError
        If there is none.
    LoweringError
        If there is none for this type, or on this machine.
    """
    if name in INSTRUCTIONS:
        return Routine(partial(_instruction, name), (dtype,) * INSTRUCTIONS[name])
    if name in WRAPPING:
        return Routine(partial(_wrapping, name), (dtype, dtype))
    if name in SHIFTS:
        return Routine(partial(_shifted, name), (dtype, dtype))
    if name in MATH or name in OF_RUNTIME:
        if not dtype.startswith("float"):
            raise LoweringError(f"{name} is a function of floats, not of {dtype}")
        if name in OF_RUNTIME:
            return of_runtime(name, dtype)
        own = f"{name}f" if dtype == "float32" else name
        return _foreign(own, (dtype,) * MATH[name], dtype)
    return _OTHERS[name]()


@cache
def callee(name: str, dtype: str) -> Callee:
    """The things that a user's text calls under that name: functions, and what takes several steps.

    Raises
    ------
    LoweringError
        If there is none.
    """
    own = written_out(name, dtype)
    if own is None:
        try:
            return function(name, dtype)
        except KeyError:
            raise LoweringError(f"the numba linker has no function {name} of {dtype}") from None
    return _defined(name, dtype, own)


def _defined(name: str, dtype: str, own: WrittenOut) -> Defined:
    """Code that is written out elsewhere, as a function."""
    names: dict[str, object] = {}

    def resolve(match: re.Match[str]) -> str:
        called = match[1]
        if called == "T":
            return dtype
        names[f"{called}_{dtype}"] = callee(called, dtype)
        return f"{called}_{dtype}"

    lines = [re.sub(r"\{(\w+)\}", resolve, line) for line in (*own.lines, own.value)]
    if any(re.search(r"\bstatus\b", line) for line in lines):
        raise LoweringError(f"{name} of {dtype} can fail, which only an op of frazil can tell")
    body = [f"def {name}({', '.join(own.params)}):", *lines[:-1], f"return {lines[-1]}"]
    params = (dtype,) * len(own.params)
    return Defined(f"frazil.{name}.{dtype}", params, dtype, "\n    ".join(body), names)


def _foreign(name: str, params: tuple[str, ...], result: str) -> Routine:
    """A C function, by a name that LLVM does not know."""
    if provide({f"{HIDDEN}{name}": name}):
        raise LoweringError(f"the C library has no function {name}")

    symbol, form = f"{HIDDEN}{name}", vector_form(name, LLVM_TYPES[result])

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        if form is not None:
            return _by_vectors(writer, *form, args)
        writer.module.declare(symbol, params, result)
        return writer.each_lane(args, params, lambda one: writer.call(symbol, params, result, one))

    return Routine(write, params)


def _by_vectors(writer: Writer, symbol: str, width: int, args: Sequence[Value]) -> Value:
    """A function of so many lanes at once; so a value does not depend on where its element is."""
    given = writer.level(args)
    lanes, dtype = given[0].lanes, given[0].dtype
    if lanes >= width:
        parts = [
            writer.call_elsewhere(symbol, [writer.part(x, at, width) for x in given], FACTS)
            for at in range(0, lanes, width)
        ]
        while len(parts) > 1:
            parts = [writer.joined(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def one(numbers: Sequence[Value]) -> Value:
        whole = [writer.spread(x, width) for x in numbers]
        return writer.part(writer.call_elsewhere(symbol, whole, FACTS), 0, 1)

    return writer.each_lane(given, [dtype] * len(given), one)


def _select(writer: Writer, args: Sequence[Value]) -> Value:
    """``yes if condition else no`` of two values of one type, without a branch."""
    return writer.select(*args)


def _instruction(name: str, writer: Writer, args: Sequence[Value]) -> Value:
    given = writer.level(args)
    dtype, lanes = given[0].dtype, given[0].lanes
    vector = "" if lanes == 1 else f"v{lanes}"
    symbol = f"llvm.{name}.{vector}f{32 if dtype == 'float32' else 64}"
    return writer.call_elsewhere(symbol, given)


def _wrapping(name: str, writer: Writer, args: Sequence[Value]) -> Value:
    x, y = writer.level(args)
    return writer.value(x.dtype, f"{name} {x.typed}, {y.text}", x.lanes)


def _shifted(name: str, writer: Writer, args: Sequence[Value]) -> Value:
    """``x`` shifted by ``y`` bits; beyond the width, which negative numbers are, nothing is left
    but the sign.
    """
    x, y = writer.level(args)
    lanes = x.lanes
    last = constant(x.dtype, 8 * np.dtype(x.dtype).itemsize - 1, lanes)
    inside = writer.value("bool", f"icmp ule {y.typed}, {last.text}", lanes)
    if name == "right_shift" and x.dtype[0] == "i":
        taken = writer.select(inside, y, last)
        return writer.value(x.dtype, f"ashr {x.typed}, {taken.text}", lanes)
    taken = writer.value(y.dtype, f"and {y.typed}, {last.text}", lanes)
    done = "shl" if name == "left_shift" else "lshr"
    moved = writer.value(x.dtype, f"{done} {x.typed}, {taken.text}", lanes)
    return writer.select(inside, moved, constant(x.dtype, 0, lanes))


def _truncate(target: str, writer: Writer, args: Sequence[Value]) -> Value:
    """The integer part where ``fits`` says that there is one, else the least integer."""
    x, fits = args
    least = constant(target, np.iinfo(target).min)
    whole = writer.cast(writer.select(fits, x, constant(x.dtype, 0)), target)
    return writer.select(fits, whole, least)


@cache
def load(dtype: str) -> Routine:
    """``load(bytes, index)``: an element of an array of ``dtype``."""
    return Routine(lambda writer, args: writer.load(dtype, *args), ("pointer", "int64"))


@cache
def store(dtype: str) -> Routine:
    """``store(bytes, index, value)``: set an element of an array of ``dtype``."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        where, index, given = args
        writer.store(given, where, index)
        return Value("void", "")

    return Routine(write, ("pointer", "int64", dtype))


def _advance(writer: Writer, args: Sequence[Value]) -> Value:
    """The pointer that many bytes further."""
    where, offset = args
    return writer.value("pointer", f"getelementptr i8, {where.typed}, {offset.typed}")


advance = Routine(_advance, ("pointer", "int64"))


@cache
def stack(size: int) -> Routine:
    """``stack()``: a pointer to ``size`` bytes that live as long as the call."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        whole = f"[{size} x i8]"
        place = writer.allocate(whole, 64)
        return writer.value("pointer", f"bitcast {whole}* {place} to i8*")

    return Routine(write, ())


def _real(name: str) -> Callee:
    """A function of float64."""
    return callee(name, "float64")


def _of_floats(name: str, nin: int) -> Callee:
    """A function of float64 that the runtime exports."""
    return _foreign(name, ("float64",) * nin, "float64")


def _of_scipy(name: str, nin: int) -> Callee:
    """A function of scipy.special.cython_special."""
    return _foreign(f"{OF_SCIPY}{name}", (*("float64",) * nin, "int32"), "float64")


_OTHERS: Mapping[str, Callable[[], Callee]] = {
    "select": lambda: Routine(_select, ("bool", None, None)),
    "power": special_functions.power,
    "truncate64": lambda: Routine(partial(_truncate, "int64"), (None, "bool")),
    "truncate32": lambda: Routine(partial(_truncate, "int32"), (None, "bool")),
    "loop_stops": lambda: _foreign("loop_stops", (), "int32"),
    "log_ndtr_double": partial(special_functions.log_ndtr, _real),
    "log_ndtr_of_scaled": partial(_of_floats, "log_ndtr_of_scaled", 2),
    "tri_gamma_one_f8": partial(_of_floats, "tri_gamma_one_f8", 1),
    "polygamma_one_f8": partial(_of_floats, "polygamma_one_f8", 2),
    "zeta_one_f8": partial(_of_floats, "zeta_one_f8", 2),
    **{f"{OF_SCIPY}{name}": partial(_of_scipy, name, nin) for name, nin in ARITIES.items()},
}

NAMES = frozenset(
    (
        *(*INSTRUCTIONS, *WRAPPING, *SHIFTS, *MATH, *OF_RUNTIME, *_OTHERS),
        *(name for name, _ in WRITTEN_OUT),
    )
)
"""The names of all that texts of ops may call."""
