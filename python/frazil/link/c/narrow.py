"""Elements that are narrow beside the others of a block, as C: bools beside floats, above all.

A compiler vectorises a loop over the lanes of a block only if a vector of its narrowest elements
has no more of them than there are lanes. So in such a loop no element is narrow: those in memory
are widened before it, to integers as wide as a lane, and its results are narrowed behind it. What
is computed with narrow integers is no part of such a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frazil.link.c.functions import C_TYPES
from frazil.link.c.partials import lane_type
from frazil.link.c.unit import Unit, memory_type
from frazil.link.kernel import LoopKernel, Statement

_LEAST = 16
"""Narrow elements of a block fill at most as many bytes, a quarter of a vector."""

_WIDEN_BYTES = """\
typedef u8 u8_at __attribute__((aligned(1), may_alias));
INLINE {wide} {name}(const void *at) {{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const {wide} all = (i8)*(const u8_at *)at - ({wide}){{}};
  return (all >> ({wide}){{0, 8, 16, 24, 32, 40, 48, 56}}) & 255;
#else
  return __builtin_convertvector(*(const {narrow}_at *)at, {wide});
#endif
}}
"""
# What compilers make of a conversion of eight bytes goes byte by byte.
_WIDEN = """\
INLINE {wide} {name}(const void *at) {{
  return __builtin_convertvector(*(const {narrow}_at *)at, {wide});
}}
"""


@dataclass(frozen=True, slots=True)
class NarrowResult:
    """A result of a vectorised loop, wide in the array ``name``.

    It goes to memory at ``pointer``, or each of its elements into the statement of ``fold``.
    """

    name: str
    dtype: str
    pointer: str | None = None
    fold: Callable[[str], str] | None = None


class Narrow:
    """Which dtypes are narrow in a kernel, and how their elements become wide and narrow again."""

    def __init__(self, unit: Unit, kernel: LoopKernel) -> None:
        self._unit = unit
        self._kernel = kernel
        self._lanes = kernel.lanes
        self.wide = lane_type(kernel.lanes)
        """The C type of what is widened."""

    def has(self, dtype: str) -> bool:
        """Whether elements of a dtype are narrow."""
        # The blocks of a light kernel are as long as those of its narrowest elements.
        if self._kernel.is_light or self._lanes == 1 or dtype.startswith("float"):
            return False
        return np.dtype(dtype).itemsize * self._lanes <= _LEAST

    def computes_with(self, own: Statement) -> bool:
        """Whether a statement computes with narrow integers, not only with bools."""
        if self._is_integer(own.dtype):
            return True
        dtypes = tuple(self._kernel.dtypes[a] for a in own.args)
        wanted = own.op.operand_dtypes(dtypes, own.dtype)
        return own.op.converts_to is None and any(self._is_integer(dtype) for dtype in wanted)

    def _is_integer(self, dtype: str) -> bool:
        return dtype != "bool" and self.has(dtype)

    def widen(self, name: str, dtype: str, place: str) -> str:
        """The statement that lets ``name`` be a vector of the narrow elements at ``place``."""
        narrow, wide = self._vectors(dtype)
        function = f"widen_{narrow}"
        text = _WIDEN_BYTES if narrow == "u1x8" else _WIDEN
        self._unit.define(text.format(wide=wide, narrow=narrow, name=function))
        return f"const {wide} {name} = {function}({place});"

    def value(self, dtype: str, text: str) -> tuple[str, str]:
        """The type and expression by which a wide element ``text`` is used as one of ``dtype``.

        An integer stays wide: nothing but conversions are made of it.
        """
        return ("b1", f"({text} != 0)") if dtype == "bool" else (self.wide, text)

    def element(self, dtype: str, text: str) -> str:
        """The expression of a wide element as one of ``dtype``, where loops are no vectors."""
        return f"({text} != 0)" if dtype == "bool" else f"(({C_TYPES[dtype]}){text})"

    def leave(self, result: NarrowResult) -> list[str]:
        """The lines behind a loop that take its result to where it belongs."""
        narrow, wide = self._vectors(result.dtype)
        name = result.name
        made = f"__builtin_convertvector(*(const {wide} *){name}, {narrow})"
        if result.fold is None:
            return [f"*({narrow}_at *){result.pointer} = {made};"]
        element = f"n{name}[l]"
        if result.dtype == "bool":
            element = f"({element} != 0)"
        return [
            f"ALIGNED {memory_type(result.dtype)} n{name}[{self._lanes}];",
            f"*({narrow} *)n{name} = {made};",
            "#pragma omp simd",
            f"for ({self.wide} l = 0; l < {self._lanes}; ++l) {result.fold(element)}",
        ]

    def _vectors(self, dtype: str) -> tuple[str, str]:
        """The types of a block of narrow elements in memory, and of one of wide elements."""
        wide = f"int{512 // self._lanes}"
        return self._unit.vector(dtype, self._lanes), self._unit.vector(wide, self._lanes)
