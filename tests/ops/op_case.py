"""Cases: functions of variables, what NumPy or SciPy has for them, and arrays to compare on."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from agreement import agree, several
from drawn_operands import LENGTHS, Operand, drawn

import frazil as fz
import frazil.tensor as ft

FLOATS = ("float64", "float32")
NUMBERS = (*FLOATS, "int64")
OTHERS = ("int8", "uint8", "bool", "int16", "uint16", "uint32", "int32", "uint64", "float16")
"""Dtypes that cases of numbers take, too: each case some of them, by fewer examples."""

EVERY = ("c", "cranelift", "numba")
FUNCTIONS = ("cranelift", "numba")
"""Without AVX-512, C's loops take functions of floats from the C library."""
STEPS = ("c", "cranelift")
"""The steps of a scan call the C library's functions there."""


@dataclass(frozen=True)
class Case:
    """One function; ``same_bits`` names the linkers that are to agree in every bit."""

    name: str
    ours: Callable
    theirs: Callable
    operands: tuple[Operand, ...]
    dtypes: tuple[str, ...] = NUMBERS
    same_bits: tuple[str, ...] = EVERY
    tolerance: float = 1e-12
    lengths: tuple[int, ...] = LENGTHS
    has_bool: bool = True
    """Whether NumPy takes truth values where it takes integers."""
    static: bool = True
    """Whether it takes the lengths of ``with_known_lengths``."""
    agreement: Callable = agree
    """What compares a result with NumPy's, up to a tolerance."""

    def takes(self, dtype):
        """Whether the case is tried with a dtype."""
        if dtype == "float16":
            return set(NUMBERS) <= set(self.dtypes)
        if dtype in OTHERS:
            return "int64" in self.dtypes and (self.has_bool or dtype != "bool")
        return dtype in self.dtypes

    def others(self):
        """Those of the other dtypes that it takes."""
        return [dtype for dtype in OTHERS if self.takes(dtype)]

    def with_known_lengths(self):
        """The case for types that tell every length: other code is compiled for these."""
        known = str.maketrans("bkmnp", "22353")
        operands = tuple(replace(one, dims=one.dims.translate(known)) for one in self.operands)
        return replace(self, operands=operands)

    def inputs(self, dtype):
        """Variables for the operands, of whose lengths only digits are known."""
        return [ft.tensor(dtype=one.dtype or dtype, shape=one.shape) for one in self.operands]

    def outputs(self, inputs):
        """The results for variables, as a list."""
        return several(self.ours(*inputs))

    def compiled(self, dtype, mode):
        """The function of the case, for one linker."""
        inputs = self.inputs(dtype)
        return fz.function(inputs, self.outputs(inputs), mode=mode, on_unused_input="ignore")

    def expected(self, arrays):
        """What NumPy gives, or the error that it raises.

        Of float16, NumPy rounds the steps of some functions: their values are those of float32.
        """
        found = self._by_numpy(arrays)
        if isinstance(found, Exception) or all(x.dtype != "float16" for x in arrays):
            return found
        wide = [x.astype("float32") if x.dtype == "float16" else x for x in arrays]
        values = zip(found, self._by_numpy(wide), strict=True)
        with np.errstate(over="ignore"):
            return [value.astype(half.dtype) for half, value in values]

    def _by_numpy(self, arrays):
        try:
            with np.errstate(all="ignore"):
                return [np.asarray(one) for one in several(self.theirs(*arrays))]
        except Exception as error:
            return error

    def drawn(self, draw, dtype):
        """Arrays for the operands."""
        return drawn(draw, self.operands, dtype, self.lengths)


def same(name, function, *operands, **options):
    """A case of a function that takes the module, :mod:`frazil.tensor` or :mod:`numpy`, first."""
    return case(
        name, lambda *x: function(ft, *x), lambda *x: function(np, *x), *operands, **options
    )


def case(name, ours, theirs, *operands, **options):
    """A case of two functions; texts stand for operands with values of every kind."""
    taken = tuple(Operand(one) if isinstance(one, str) else one for one in operands)
    return Case(name, ours, theirs, taken, **options)


def compile_together(chosen, modes):
    """Compile the kernels of many pairs of a case and a dtype at a time.

    Compilers start once for all of them, and each finds its kernels when a case is compiled alone.
    """
    inputs = [one.inputs(dtype) for one, dtype in chosen]
    outputs = [y for (one, _), own in zip(chosen, inputs, strict=True) for y in one.outputs(own)]
    flat = [x for own in inputs for x in own]
    return [fz.function(flat, outputs, mode=mode, on_unused_input="ignore") for mode in modes]


def bits_differ(one, other):
    """Whether two arrays differ in an element, where any NaN is as good as another."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return True
    if one.dtype.kind == "c":
        return bits_differ(one.real, other.real) or bits_differ(one.imag, other.imag)
    if one.dtype.kind != "f":
        return not np.array_equal(one, other)
    equal = (one == other) & (np.signbit(one) == np.signbit(other))
    return not np.all(equal | (np.isnan(one) & np.isnan(other)))
