"""The C functions that handle partial results, and operands at the end of a row."""

from __future__ import annotations

import numpy as np

from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit
from frazil.link.kernel import Write
from frazil.link.reduction import LEVELS, TURNS, has_levels

_PAD = """\
static NOINLINE void pad{bits}_{lanes}(void *to, const void *from, {I} count) {{
  const u{size} *a = from, last = a[count - 1];
  {simd}for ({I} l = 0; l < {lanes}; ++l) ((u{size} *)to)[l] = l < count ? a[l] : last;
}}
"""
_COPY = """\
static NOINLINE void copy{bits}_{lanes}(void *to, const void *from, {I} count) {{
  {simd}for ({I} l = 0; l < {lanes}; ++l) if (l < count) ((u{size} *)to)[l] = ((u{size} *)from)[l];
}}
"""
_FILL = """\
static NOINLINE void fill_{T}_{lanes}({T} *a, i8 count, {T} value) {{
  for (i8 set = 0; set < count; set += {lanes}) {{
    {simd}for (i4 l = 0; l < {lanes}; ++l) a[set + l] = value;
  }}
}}
"""
_CARRY = """\
static NOINLINE void carry_{T}_{lanes}({T} *a, i8 turn, i8 width) {{
  for (i4 level = 1; level < {levels}; ++level, a += width, turn /= {turns}) {{
    for (i8 set = 0; set < width; set += {lanes}) {{
      {simd}for (i4 l = 0; l < {lanes}; ++l) {{
        a[set + l + width] += a[set + l];
        a[set + l] = -0.0;
      }}
    }}
    if (turn % {turns} != 0) return;
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


def pad(unit: Unit, dtype: str, lanes: int) -> str:
    """The function that copies the end of an operand to the stack, its last element repeated."""
    return _end(unit, "pad", _PAD, dtype, lanes)


def copy(unit: Unit, dtype: str, lanes: int) -> str:
    """The function that copies results of less than a block back from the stack."""
    return _end(unit, "copy", _COPY, dtype, lanes)


def _end(unit: Unit, name: str, template: str, dtype: str, lanes: int) -> str:
    size = np.dtype(dtype).itemsize
    own = {"bits": 8 * size, "size": size, "I": lane_type(lanes)}
    unit.define(template.format(lanes=lanes, simd=simd(lanes), **own))
    return f"{name}{8 * size}_{lanes}"


def fill(unit: Unit, write: Write, lanes: int) -> str:
    """The function that sets partial results to the identity."""
    code = C_TYPES[write.dtype]
    unit.define(_FILL.format(T=code, lanes=lanes, simd=simd(lanes)))
    return f"fill_{code}_{lanes}"


def carry(unit: Unit, write: Write, lanes: int) -> str:
    """The function that adds partial sums to those of the next level."""
    assert has_levels(write)
    code = C_TYPES[write.dtype]
    unit.define(_CARRY.format(T=code, lanes=lanes, simd=simd(lanes), levels=LEVELS, turns=TURNS))
    return f"carry_{code}_{lanes}"


def fold(unit: Unit, write: Write, lanes: int) -> str:
    """The function that folds partial results to one."""
    code = C_TYPES[write.dtype]
    arithmetic = write.reduce in ("add", "mul")
    text, half = "", lanes // 2
    # In vectors as long as that is quick. What compares stays there to the end: the last lane of
    # two is worth not having a branch that nobody can foresee.
    while half > (4 if arithmetic else 0):
        count = max(half, 2)
        folded = unit.fold(write, "a[l]", f"a[l + {half}]")
        text += _HALF.format(simd=simd(count), half=count, folded=folded)
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
    return f"fold_{write.reduce}_{code}_{lanes}"
