"""Values in LLVM's text: their types, and how numbers are written."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.scalar.float16 import STORED

INF = "inf"
"""The name of infinity in users' texts."""

LLVM_TYPES: Mapping[str, str] = {
    "void": "void",
    "pointer": "i8*",
    "pointers": "i8**",
    "integers": "i64*",
    "status": "i32*",
    "bool": "i1",
    **{f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": "i16",
    "float32": "float",
    "float64": "double",
}
"""The types of values, as LLVM writes them."""

ITEMS: Mapping[str, str] = {"pointers": "pointer", "integers": "int64"}
"""The contents of tables, which are read by ``table[index]``."""


def llvm_type(dtype: str, lanes: int) -> str:
    """The type of a value, or of a vector of that many, as LLVM writes it."""
    own = LLVM_TYPES[dtype]
    return own if lanes == 1 else f"<{lanes} x {own}>"


@dataclass(frozen=True, slots=True)
class Value:
    """An operand of LLVM's instructions: a number, or a vector of ``lanes`` numbers.

    A ``literal`` takes the type of the other operand.
    """

    dtype: str
    text: str
    literal: bool | int | float | None = None
    lanes: int = 1

    @property
    def type(self) -> str:
        """The type, as LLVM writes it."""
        return llvm_type(self.dtype, self.lanes)

    @property
    def typed(self) -> str:
        """The operand with its type before it."""
        return f"{self.type} {self.text}"

    @property
    def is_float(self) -> bool:
        """Whether it is a float to LLVM; one of 16 bits is these bits."""
        return self.dtype in ("float32", "float64")


def constant(dtype: str, value: bool | int | float, lanes: int = 1) -> Value:
    """A number of that type, or a vector of that number; integers wrap around."""
    return repeated(Value(dtype, _text(dtype, value)), lanes)


def _text(dtype: str, value: bool | int | float) -> str:
    if dtype == "bool":
        return "true" if value else "false"
    if dtype == STORED:
        return str(np.float16(value).view(np.int16))
    if dtype.startswith("float"):
        wide = float(np.dtype(dtype).type(value))
        return f"0x{struct.unpack('<Q', struct.pack('<d', wide))[0]:016X}"
    bits = 8 * np.dtype(dtype).itemsize
    half = 1 << bits - 1
    return str((int(value) + half) % (2 * half) - half)


def repeated(value: Value, lanes: int) -> Value:
    """A constant in each lane of a vector."""
    if lanes == 1:
        return value
    return Value(value.dtype, f"<{', '.join([value.typed] * lanes)}>", lanes=lanes)


def literal(value: bool | int | float) -> Value:
    """A number as it is written."""
    kinds = {bool: "bool", int: "int64", float: "float64"}
    dtype = kinds[type(value)]
    return Value(dtype, constant(dtype, value).text, value)
