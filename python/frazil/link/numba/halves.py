"""Conversions between floats of 16 bits and wider floats in LLVM's text, by their bits.

If the processor lacks the instructions, LLVM's own conversions call functions that kernels do not
have.
"""

from __future__ import annotations

from collections.abc import Callable

from frazil.link.numba.values import Value, constant, llvm_type

Make = Callable[[str, str, int], Value]
"""Writes an instruction; its dtype, text and lanes to its value."""


class Halves:
    """Writes conversions by a function that writes an instruction."""

    def __init__(self, write: Make, lanes: int) -> None:
        self._write = write
        self._lanes = lanes

    def _make(self, dtype: str, text: str) -> Value:
        return self._write(dtype, text, self._lanes)

    def _type(self, dtype: str) -> str:
        return llvm_type(dtype, self._lanes)

    def _number(self, dtype: str, value: float) -> Value:
        return constant(dtype, value, self._lanes)

    def from_half(self, x: Value) -> Value:
        """The float32 of the same value."""
        bits = self._make("uint32", f"zext {x.typed} to {self._type('uint32')}")
        sign = self._with("shl", self._with("and", bits, 0x8000), 16)
        magnitude = self._with("shl", self._with("and", bits, 0x7FFF), 13)
        shifted = self._float(self._with("add", magnitude, 113 << 23))
        # The smallest have no leading one: the difference of two numbers that do.
        least = self._number("float32", 2.0**-14).text
        small = self._bits(self._make("float32", f"fsub {shifted.typed}, {least}"))
        normal = self._with("add", magnitude, 112 << 23)
        special = self._with("or", magnitude, 0x7F800000)
        made = self._select(self._compare("ult", magnitude, 31 << 23), normal, special)
        made = self._select(self._compare("ult", magnitude, 1 << 23), small, made)
        return self._float(self._make("uint32", f"or {made.typed}, {sign.text}"))

    def to_half(self, x: Value) -> Value:
        """The nearest number of 16 bits; of two that are as near, the even one."""
        bits = self._to_odd(x) if x.dtype == "float64" else self._bits(x)
        magnitude = self._with("and", bits, 0x7FFFFFFF)
        whole, half = self._float(magnitude), self._number("float32", 0.5).text
        aligned = self._bits(self._make("float32", f"fadd {whole.typed}, {half}"))
        small = self._with("sub", aligned, 126 << 23)
        odd = self._with("and", self._with("lshr", magnitude, 13), 1)
        rounded = self._with("add", magnitude, 0xFFF - (112 << 23))
        rounded = self._make("uint32", f"add {rounded.typed}, {odd.text}")
        made = self._with("lshr", rounded, 13)
        payload = self._with("and", self._with("lshr", magnitude, 13), 0x3FF)
        quiet = self._with("or", payload, 0x7E00)
        infinite = self._number("uint32", 0x7C00)
        made = self._select(self._compare("ult", magnitude, 113 << 23), small, made)
        made = self._select(self._compare("uge", magnitude, 143 << 23), infinite, made)
        made = self._select(self._compare("ugt", magnitude, 0x7F800000), quiet, made)
        sign = self._with("and", self._with("lshr", bits, 16), 0x8000)
        signed = self._make("uint32", f"or {made.typed}, {sign.text}")
        return self._make("float16", f"trunc {signed.typed} to {self._type('float16')}")

    def _to_odd(self, x: Value) -> Value:
        """The bits of a float32 that rounds to the same number of fewer digits.

        If any digit that is cut off is set, its last digit is.
        """
        near = self._make("float32", f"fptrunc {x.typed} to {self._type('float32')}")
        back = self._make("float64", f"fpext {near.typed} to {self._type('float64')}")
        inexact = self._make("bool", f"fcmp une {back.typed}, {x.text}")
        bits = self._bits(near)
        magnitudes = []
        digits = self._number("uint64", 2**63 - 1)
        for each in (back, x):
            wide = self._make("uint64", f"bitcast {each.typed} to {self._type('uint64')}")
            magnitudes.append(self._make("uint64", f"and {wide.typed}, {digits.text}"))
        # The bits of numbers other than NaN are in the order of their sizes.
        above = self._make("bool", f"icmp ugt {magnitudes[0].typed}, {magnitudes[1].text}")
        less = self._select(above, self._with("sub", bits, 1), bits)
        return self._select(inexact, self._with("or", less, 1), bits)

    def _with(self, instruction: str, x: Value, number: int) -> Value:
        other = self._number("uint32", number)
        return self._make("uint32", f"{instruction} {x.typed}, {other.text}")

    def _compare(self, how: str, x: Value, number: int) -> Value:
        return self._make("bool", f"icmp {how} {x.typed}, {self._number('uint32', number).text}")

    def _select(self, condition: Value, yes: Value, no: Value) -> Value:
        return self._make(yes.dtype, f"select {condition.typed}, {yes.typed}, {no.typed}")

    def _bits(self, x: Value) -> Value:
        return self._make("uint32", f"bitcast {x.typed} to {self._type('uint32')}")

    def _float(self, x: Value) -> Value:
        return self._make("float32", f"bitcast {x.typed} to {self._type('float32')}")
