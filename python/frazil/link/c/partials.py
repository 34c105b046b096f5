"""The C functions that handle partial results, and operands at the end of a row.

Those of floats come with the runtime: compiling them again with each kernel would take a fifth of
the time. Here are those of other dtypes.
"""

from __future__ import annotations

import numpy as np

from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit
from frazil.link.kernel import Write
from frazil.link.reduction import SETS, has_levels

_FILL = """\
static NOINLINE void fill_{T}_{lanes}({T} *a, i8 count, {T} value) {{
  for (i8 set = 0; set < count; set += {lanes}) {{
    {simd}for (i4 l = 0; l < {lanes}; ++l) a[set + l] = value;
  }}
}}
"""
_FOLD = """\
static NOINLINE {T} fold_{name}_{T}_{lanes}({T} *a, i8 count) {{
  if (count == 4 * {lanes}) {{
    {simd}for (i4 l = 0; l < {lanes}; ++l) {{
      const {T} even = {even}, odd = {odd};
      a[l] = {sets};
    }}
  }} else for (i8 half = count / 2; half >= {lanes}; half /= 2) {{
    for (i8 set = 0; set < half; set += {lanes}) {{
      {simd}for (i4 l = 0; l < {lanes}; ++l) a[set + l] = {halved};
    }}
  }}
{lanes_folded}}}
"""
_HALF = "  {simd}for (i4 l = 0; l < {half}; ++l) a[l] = {folded};\n"


def lane_type(lanes: int) -> str:
    """The integer as wide as the lanes of a block: what counts them so is vectorised like them."""
    return {8: "i8", 16: "i4", 32: "i2", 64: "i1"}.get(lanes, "i8")


def simd(lanes: int) -> str:
    """What stands before a loop over lanes that is to be vectorised."""
    return '_Pragma("omp simd") ' if lanes > 1 else ""


def _is_float(write: Write) -> bool:
    return write.dtype.startswith("float")


def pad(unit: Unit, dtype: str, lanes: int, to: str, source: str, count: str) -> str:
    """The statement that copies the end of an operand, and repeats its last element."""
    name = f"pad{8 * np.dtype(dtype).itemsize}"
    unit.native(name, "void", "void *, const void *, i8, i8")
    return f"{name}({to}, {source}, {count}, {lanes});"


def copy(dtype: str, to: str, source: str, count: str) -> str:
    """The statement that copies results of less than a block."""
    return f"__builtin_memcpy({to}, {source}, {count} * {np.dtype(dtype).itemsize});"


def fill(unit: Unit, write: Write, lanes: int, to: str, count: str) -> str:
    """The statement that sets partial results to the identity."""
    code = C_TYPES[write.dtype]
    name = f"fill_{code}"
    if _is_float(write):
        unit.native(name, "void", f"{code} *, i8, {code}")
    else:
        name = f"{name}_{lanes}"
        unit.define(_FILL.format(T=code, lanes=lanes, simd=simd(lanes)))
    return f"{name}({to}, {count}, {unit.identity(write)});"


def carry(unit: Unit, write: Write, lanes: int, sums: str, turn: str) -> str:
    """The statement that adds partial sums to those of the next level."""
    assert has_levels(write)
    code = C_TYPES[write.dtype]
    unit.native(f"carry_{code}", "void", f"{code} *, i8, i8")
    return f"carry_{code}({sums}, {turn}, {SETS * lanes});"


def fold(unit: Unit, write: Write, lanes: int, of: str, count: str) -> str:
    """The expression that folds partial results to one."""
    code = C_TYPES[write.dtype]
    if _is_float(write):
        name = f"fold_{write.reduce}_{code}"
        unit.native(name, code, f"{code} *, i8, i8")
        return f"{name}({of}, {count}, {lanes})"
    arithmetic = write.reduce in ("add", "mul")
    text, half = "", lanes // 2
    # In vectors as long as that is quick. What compares stays there to the end: the last lane of
    # two is worth not having a branch that nobody can foresee.
    while half > (4 if arithmetic else 0):
        width = max(half, 2)
        folded = unit.fold(write, "a[l]", f"a[l + {half}]")
        text += _HALF.format(simd=simd(width), half=width, folded=folded)
        half //= 2
    names = [f"a[{k}]" for k in range(2 * half or 1)]
    while half > 0:
        pairs = zip(names[:half], names[half:], strict=True)
        text += "".join(
            f"  const {code} r{half}_{k} = {unit.fold(write, *pair)};\n"
            for k, pair in enumerate(pairs)
        )
        names = [f"r{half}_{k}" for k in range(half)]
        half //= 2
    unit.define(
        _FOLD.format(
            T=code,
            name=write.reduce,
            lanes=lanes,
            simd=simd(lanes),
            even=unit.fold(write, "a[l]", f"a[l + {2 * lanes}]"),
            odd=unit.fold(write, f"a[l + {lanes}]", f"a[l + {3 * lanes}]"),
            sets=unit.fold(write, "even", "odd"),
            halved=unit.fold(write, "a[set + l]", "a[set + l + half]"),
            lanes_folded=f"{text}  return {names[0]};\n",
        )
    )
    return f"fold_{write.reduce}_{code}_{lanes}({of}, {count})"
