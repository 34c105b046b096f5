"""The C functions that handle partial results, and operands at the end of a row.

Those of floats come with the runtime: compiling them again with each kernel would take a fifth of
the time. Here are those of other dtypes.
"""

from __future__ import annotations

import numpy as np

from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit, memory_type
from frazil.link.kernel import Write
from frazil.link.reduction import SETS, identity

_FOLD = """\
static NOINLINE {T} fold_{name}_{T}_{lanes}({M} *a, i8 count) {{
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
_FOLD_COLUMNS = """\
static NOINLINE void {name}({M} *to, const {M} *sets, i8 count) {{
  for (i8 l = 0; l < count; ++l) {{
    const {T} even = {even}, odd = {odd}, one = {both};
    to[l] = {folded};
  }}
}}
"""
_IS_DECIDED = """\
INLINE b1 {name}(const u8 *sets, i4 words) {{
  u8 others = 0;
  for (i4 k = 0; k < words; ++k) others |= sets[k] ^ {word};
  return others != 0;
}}
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


def pad_ends(
    unit: Unit, dtype: str, lanes: int, to: str, source: str, stride: str, rows: str
) -> str:
    """The statement that copies the ends of rows of an operand, and repeats their last elements."""
    size = np.dtype(dtype).itemsize
    name = f"pad_ends_{8 * size}"
    unit.native(name, "void", "void *, const void *, i8, i8, i8, i8, i8")
    return f"{name}({to}, {source}, {stride}, outer, {rows}, rest, {lanes});"


def copy_ends(
    unit: Unit, dtype: str, lanes: int, to: str, source: str, stride: str, rows: str
) -> str:
    """The statement that copies results to the ends of rows."""
    size = np.dtype(dtype).itemsize
    name = f"copy_ends_{8 * size}"
    unit.native(name, "void", "void *, const void *, i8, i8, i8, i8")
    return f"{name}({to}, {source}, {stride}, {rows}, rest, {lanes});"


def fold_rows(
    unit: Unit,
    write: Write,
    lanes: int,
    to: str,
    of: str,
    rows: str,
    count: str,
    walked: str,
    *,
    sets: int,
) -> str:
    """The statement that folds the partial results of each of some rows to one; bools have as many
    ``sets``.
    """
    code = C_TYPES[write.dtype]
    if _is_float(write):
        name = f"fold_rows_{write.reduce}_{code}"
        unit.native(name, "void", f"{code} *, {code} *, i8, i8, i8, i8")
        return f"{name}({to}, {of}, {rows}, {count}, {walked}, {lanes});"
    own = fold(unit, write, lanes, f"{of} + row * {count}", count, walked, sets=sets)
    return f"for (i8 row = 0; row < {rows}; ++row) {to}[row] = {own};"


def fold_columns(unit: Unit, write: Write, lanes: int, to: str, sets: str, count: str) -> str:
    """The statement that folds the lanes of all sets into an output each."""
    code = C_TYPES[write.dtype]
    name = f"fold_columns_{write.reduce}_{code}"
    if _is_float(write):
        unit.native(name, "void", f"{code} *, const {code} *, i8, i8")
        return f"{name}({to}, {sets}, {count}, {lanes});"
    name += f"_{lanes}"
    places = [f"sets[l + {turn * lanes}]" for turn in range(SETS)]
    text = _FOLD_COLUMNS.format(
        name=name,
        M=memory_type(write.dtype),
        T=code,
        even=unit.fold(write, places[0], places[2]),
        odd=unit.fold(write, places[1], places[3]),
        both=unit.fold(write, "even", "odd"),
        folded=unit.fold(write, "to[l]", "one"),
    )
    unit.define(text)
    return f"{name}({to}, {sets}, {count});"


def is_decided(unit: Unit, write: Write, of: str, words: int) -> str:
    """The expression that tells whether one of the partial results of bools, which come in words
    of eight, is another than that of no elements, which decides the fold.
    """
    empty = identity(str(write.reduce), "bool")
    name = f"one_is_{'false' if empty else 'true'}"
    unit.define(_IS_DECIDED.format(name=name, word=f"0x{'01' * 8 if empty else '0'}ULL"))
    return f"{name}((const u8 *)({of}), {words})"


def fold(
    unit: Unit, write: Write, lanes: int, of: str, count: str, walked: str, *, sets: int = SETS
) -> str:
    """The expression that folds partial results to one; of integers in any order."""
    code = C_TYPES[write.dtype]
    if _is_float(write):
        name = f"fold_all_{write.reduce}_{code}"
        unit.native(name, code, f"{code} *, i8, i8, i8")
        return f"{name}({of}, {count}, {walked}, {lanes})"
    if write.dtype == "bool" and lanes > 1:
        decided = is_decided(unit, write, of, sets * lanes // 8)
        return f"!{decided}" if identity(str(write.reduce), "bool") else decided
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
            M=memory_type(write.dtype),
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
