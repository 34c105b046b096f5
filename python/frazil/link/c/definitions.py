"""Definitions before the kernels of a C translation unit: types, functions, function pointers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from frazil.link.c.functions import (
    BUILTINS,
    C_TYPES,
    OF_RUNTIME,
    POINTERS,
    SCALAR_MATH,
    VECTOR_SINCE,
    static_function_for,
)
from frazil.link.c.static_function import StaticFunction
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, LoweringError

_DTYPES: Mapping[str, str] = {code: dtype for dtype, code in C_TYPES.items()}

_MORE_OPERANDS: Mapping[str, str] = {
    **dict.fromkeys(("pow", "atan2", "fmod", "hypot", "nextafter"), ", T"),
    "lgamma_r": ", i4 *",
}
"""The operands of functions of the C math library after the first one, of type T."""


@dataclass
class Definitions:
    """The definitions of a unit, in order."""

    vector_functions: frozenset[str]
    """The functions of the C math library that loops can call on vectors."""
    register_bits: int = 0
    """The bits of the registers that vectors should fit; 0 if they are not quick."""
    has_block_functions: bool = False
    """Whether functions of whole blocks are among them, which are long."""
    definitions: dict[str, str] = field(default_factory=dict)
    pointers: dict[str, str] = field(default_factory=dict)
    vectorisable: dict[str, bool] = field(default_factory=dict)
    """For each function, whether a loop that calls it can be vectorised."""

    @property
    def has_wide_registers(self) -> bool:
        """Whether a register holds a block."""
        return self.register_bits == 8 * BLOCK_BYTES

    @property
    def has_short_registers(self) -> bool:
        """Whether two registers hold a block, as those of AVX2 do."""
        return self.register_bits == 4 * BLOCK_BYTES

    def parts(self, size: int) -> int:
        """The registers that a block of so many bytes takes."""
        return max(1, 8 * size // self.register_bits)

    def function(self, name: str, dtype: str) -> str:
        """Define or declare a function for operands of ``dtype``; its C name."""
        if name in BUILTINS:
            return self._known(f"__builtin_{name}{_suffix(dtype)}", "", vector=True)
        if name in VECTOR_SINCE or name in SCALAR_MATH:
            return self._library_function(name, dtype)
        if name in POINTERS:
            self.pointers[name] = name
            return self._known(name, f"{POINTERS[name]}\n", vector=False)
        if name in OF_RUNTIME:
            types = OF_RUNTIME[name]
            self.native(name, types.split(", ")[0], types)
            self.vectorisable[name] = False
            return name
        return self._static_function(name, dtype)

    def native(self, name: str, result: str, operands: str) -> None:
        """Declare a pointer to a function of the runtime."""
        self.pointers[name] = name
        self.definitions.setdefault(name, f"{result} (*{name})({operands});\n")

    def define(self, text: str) -> None:
        """Put a definition before the kernels, once."""
        self.definitions.setdefault(text, text)

    def vector(self, dtype: str, lanes: int) -> str:
        """The C type of a block of elements in memory, which registers can hold.

        Its own objects are aligned; with ``_at`` behind its name it may be anywhere.
        """
        code = memory_type(dtype)
        name, size = f"{code}x{lanes}", np.dtype(dtype).itemsize
        self.define(
            f"typedef {code} {name} __attribute__((vector_size({lanes * size}), may_alias));\n"
            f"typedef {name} {name}_at __attribute__((aligned({size})));\n"
        )
        return name

    def _library_function(self, name: str, dtype: str) -> str:
        """Declare a function of the C math library; its C name."""
        if not dtype.startswith("float"):
            raise LoweringError(f"{name} is a function of floats, not of {dtype}")
        code, own = C_TYPES[dtype], f"{name}{_suffix(dtype)}"
        operands = f"{code}{_MORE_OPERANDS.get(name, '').replace('T', code)}"
        vector = name in VECTOR_SINCE and name in self.vector_functions
        prefix = "VECTOR" if vector else "extern"
        return self._known(own, f"{prefix} {code} {own}({operands});\n", vector=vector)

    def _static_function(self, name: str, dtype: str) -> str:
        """Define a function that the text has; its C name."""
        function = static_function_for(name, dtype)
        if function is None:
            raise LoweringError(f"the C linker has no function {name} for {dtype}")
        return self.written_out(name, dtype, function)

    def written_out(self, name: str, dtype: str, function: StaticFunction) -> str:
        """Define a function that is written in C; its C name."""
        code = C_TYPES[dtype]
        own = f"{name}_{code}"
        if own in self.definitions:
            return own
        vector = function.vector

        def resolve(match: re.Match[str]) -> str:
            nonlocal vector
            if match[1] == "T":
                return code
            if match[1] == "self":
                return own
            called = self.function(match[1], _DTYPES[match[2]] if match[2] else dtype)
            vector = vector and self.vectorisable[called]
            return called

        text = re.sub(r"\$(\w+)(?:@(\w+))?", resolve, function.text)
        return self._known(own, text, vector=vector)

    def _known(self, name: str, definition: str, *, vector: bool) -> str:
        self.definitions.setdefault(name, definition)
        self.vectorisable[name] = vector
        return name


def _suffix(dtype: str) -> str:
    """The last letters of names of the C library's functions."""
    return "f" if dtype == "float32" else ""


def memory_type(dtype: str) -> str:
    """The C type of an element in memory; a bool is a byte there."""
    return "u1" if dtype == "bool" else C_TYPES[dtype]


def load(dtype: str, pointer: str, index: str | int) -> str:
    """The expression of the element at an index of memory."""
    text = f"((const {memory_type(dtype)} *){pointer})[{index}]"
    return f"({text} != 0)" if dtype == "bool" else text


def place(dtype: str, pointer: str, index: str | int) -> str:
    """The element at an index of memory, for an assignment to it."""
    return f"(({memory_type(dtype)} *){pointer})[{index}]"


def lane_type(lanes: int) -> str:
    """The integer as wide as the lanes of a block: loops that count so are vectorised like them."""
    return {8: "i8", 16: "i4", 32: "i2", 64: "i1"}.get(lanes, "i8")
