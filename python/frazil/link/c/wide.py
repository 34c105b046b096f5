"""The common parts of functions of whole blocks in vector registers of AVX-512."""

from __future__ import annotations

from collections.abc import Sequence

from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES
from frazil.link.kernel.loop_kernel import BLOCK_BYTES

HAS_REGISTERS = "defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)"
"""The preprocessor's condition for the compiler's names of the instructions used here."""

_MACROS = """\
#define FMA_{T}(a, b, c) (({V})__builtin_ia32_vfmadd{s}512_mask(a, b, c, -1, 4))
#define ALL_{T}(c) ((c) - ({V}){{}})
"""


def lanes(dtype: str) -> int:
    """The elements of a block that fills a register."""
    return BLOCK_BYTES // (4 if dtype == "float32" else 8)


def suffix(dtype: str) -> str:
    """The end of the names of instructions for a dtype."""
    return "ps" if dtype == "float32" else "pd"


def define_macros(definitions: Definitions, dtype: str) -> None:
    """Define ``FMA_T(a, b, c)``, which is a * b + c rounded once, and ``ALL_T(c)``, a constant in
    all lanes, where there are such registers.
    """
    vector = definitions.vector(dtype, lanes(dtype))
    definitions.has_block_functions = True
    definitions.define(_MACROS.format(T=C_TYPES[dtype], V=vector, s=suffix(dtype)))


def registers(definitions: Definitions, dtype: str, table: str) -> list[str]:
    """The expressions of the registers that hold a table of 16."""
    size = lanes(dtype)
    vector = definitions.vector(dtype, size)
    return [f"*(const {vector} *)({table} + {at})" for at in range(0, 16, size)]


def lookup(definitions: Definitions, dtype: str, table: Sequence[str], index: str) -> str:
    """The expression that takes from a table in registers what the last four bits of each lane of
    ``index`` say.
    """
    integers = definitions.vector("int32" if dtype == "float32" else "int64", lanes(dtype))
    return f"__builtin_shuffle({', '.join(table)}, ({integers}){index})"


def on_lanes(dtype: str, function: str) -> str:
    """The statements that return the value of a function of one element for each lane of ``x``."""
    code, count = C_TYPES[dtype], lanes(dtype)
    vector = f"{code}x{count}"
    return f"""\
  ALIGNED {code} of[{count}];
  *({vector} *)of = x;
  _Pragma("omp simd") for (i4 l = 0; l < {count}; ++l) of[l] = {function}(of[l]);
  return *({vector} *)of;
"""
