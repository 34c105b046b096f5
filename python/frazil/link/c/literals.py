"""Constants in C: as expressions, or in a table that is filled when the library is loaded.

The table holds the constants whose values change nothing else in the machine code. Kernels that
differ in these alone have the same text, and one library serves them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from frazil.link.c.functions import C_TYPES
from frazil.link.kernel.loop_kernel import Literal
from frazil.scalar.float16 import STORED

TABLE = "literals"
"""The symbol of the table, in which each constant takes eight bytes."""

OWN = "\0"
"""The character that stands in names of a kernel for its number in the unit."""

_ENTRY = 8
_NUMBERS = {C_TYPES[dtype]: dtype for dtype in ("float32", "float64")}

# The compiler sees the declarations alone, and the assembler the definitions. So the constants are
# operands in memory, like a compiler's own, and it takes for granted that no store changes them.
_DECLARED = """\
#ifdef __ELF__
{declarations}__asm__(".pushsection .data\\n.balign 64\\n.globl {table}\\n{table}:\\n"
{labels}".popsection");
#else
u8 {table}[{count}];
{macros}#endif
"""


@dataclass
class LiteralTable:
    """The table of a unit: the constants of each kernel, one kernel after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from frazil.link.c.literals import OWN, LiteralTable
    >>> from frazil.link.kernel.loop_kernel import Literal
    >>> table = LiteralTable()
    >>> table.expression(Literal("float64", 0.0))
    '0x0.0p+0'
    >>> table.expression(Literal("float64", 0.1)).replace(OWN, "2_")
    'literal_2_0'
    >>> table.content == np.float64(0.1).tobytes()
    True
    """

    types: list[tuple[str, str]] = field(default_factory=list)
    """The name and the C type of each constant."""
    content: bytes = b""

    def expression(self, literal: Literal) -> str:
        """The expression of a constant; it is in the table if nothing depends on its value."""
        dtype = literal.dtype
        if dtype not in _NUMBERS.values() or not _is_plain(float(literal.value)):
            return literal_text(literal)
        name = f"literal_{OWN}{len(self.types)}"
        self.types.append((name, C_TYPES[dtype]))
        self.content += np.dtype(dtype).type(literal.value).tobytes().ljust(_ENTRY, b"\0")
        return name

    def text(self) -> str:
        """The declaration of the constants; nothing if there are none."""
        if not self.types:
            return ""
        declarations = (
            f'extern const {code} {name} __attribute__((visibility("hidden")));\n'
            for name, code in self.types
        )
        macros = (
            f"#define {name} (*(const {code} *)&{TABLE}[{k}])\n"
            for k, (name, code) in enumerate(self.types)
        )
        return _DECLARED.format(
            table=TABLE,
            count=len(self.types),
            declarations="".join(declarations),
            labels="".join(f'"{name}: .zero {_ENTRY}\\n"\n' for name, _ in self.types),
            macros="".join(macros),
        )

    def told(self) -> str:
        """A comment that tells the values; nothing if there are none."""
        values = (
            np.frombuffer(self.content, _NUMBERS[code], 1, k * _ENTRY).item().hex()
            for k, (_, code) in enumerate(self.types)
        )
        pairs = zip(self.types, values, strict=True)
        return "".join(f"/* {name} is {value} */\n" for (name, _), value in pairs)


def _is_plain(value: float) -> bool:
    """Whether compilers make of a number what they make of most others."""
    # They have other instructions for zeros, and know what no comparison with others is.
    return value != 0 and math.isfinite(value)


def literal_text(literal: Literal) -> str:
    """A constant, exact, as a C expression of its own type.

    Examples
    --------
    >>> from frazil.link.c.literals import literal_text
    >>> from frazil.link.kernel.loop_kernel import Literal
    >>> literal_text(Literal("float64", 0.1)), literal_text(Literal("int8", -3))
    ('0x1.999999999999ap-4', '((i1)-3)')
    """
    dtype, value = literal.dtype, literal.value
    if dtype == "bool":
        return "1" if value else "0"
    if dtype == STORED:
        return f"((half){np.float16(value).view(np.uint16):#06x})"
    if dtype.startswith("float"):
        return _float_text(float(value), "f" if dtype == "float32" else "")
    number = int(value)
    code = C_TYPES[dtype]
    if number == -(2**63):
        return "((i8)-0x7fffffffffffffffLL - 1)"
    return f"(({code}){number}{'ULL' if number >= 2**63 else 'LL' if abs(number) >= 2**31 else ''})"


def _float_text(value: float, suffix: str) -> str:
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    text = value.hex().replace("0000000000000p", "p")
    return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"
