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


@dataclass(frozen=True, slots=True)
class Value:
    """An operand of LLVM's instructions; a ``literal`` takes the type of the other operand."""

    dtype: str
    text: str
    literal: bool | int | float | None = None

    @property
    def typed(self) -> str:
        """The operand with its type before it."""
        return f"{LLVM_TYPES[self.dtype]} {self.text}"

    @property
    def is_float(self) -> bool:
        """Whether it is a float to LLVM; one of 16 bits is these bits."""
        return self.dtype in ("float32", "float64")


def constant(dtype: str, value: bool | int | float) -> Value:
    """A number of that type; integers wrap around."""
    if dtype == "bool":
        return Value(dtype, "true" if value else "false")
    if dtype == STORED:
        return Value(dtype, str(np.float16(value).view(np.int16)))
    if dtype.startswith("float"):
        wide = float(np.dtype(dtype).type(value))
        return Value(dtype, f"0x{struct.unpack('<Q', struct.pack('<d', wide))[0]:016X}")
    bits = 8 * np.dtype(dtype).itemsize
    half = 1 << bits - 1
    return Value(dtype, str((int(value) + half) % (2 * half) - half))


def literal(value: bool | int | float) -> Value:
    """A number as it is written."""
    kinds = {bool: "bool", int: "int64", float: "float64"}
    dtype = kinds[type(value)]
    return Value(dtype, constant(dtype, value).text, value)
