"""Elements that are narrow beside the others of a block, in C: bools beside floats, above all.

A compiler vectorises a loop over the lanes of a block only if a vector of its narrowest elements
holds at most as many of them as there are lanes. So no element in such a loop is narrow: narrow
elements in memory are widened before it, to integers as wide as a lane, and results are narrowed
after it.
Statements that compute with narrow integers are no part of such a loop.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from frazil.link.c import syntax as c
from frazil.link.c.definitions import Definitions, lane_type
from frazil.link.c.functions import C_TYPES
from frazil.link.kernel.loop_kernel import LoopKernel, Statement

_LEAST = 16
"""Narrow elements of a block fill at most as many bytes, a quarter of a vector."""

# Compilers convert eight bytes one by one; to shift them all at once is quicker.
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
_WIDEN = """\
INLINE {wide} {name}(const void *at) {{
  return __builtin_convertvector(*(const {narrow}_at *)at, {wide});
}}
"""


class Narrow:
    """The narrow dtypes in a kernel, and the widening and narrowing of their elements."""

    def __init__(self, definitions: Definitions, kernel: LoopKernel) -> None:
        self._definitions = definitions
        self._kernel = kernel
        self._lanes = kernel.lanes
        # The blocks of a light kernel are as long as those of its narrowest elements.
        self._narrow = _narrow_dtypes(1 if kernel.is_light else kernel.lanes)
        self.wide = lane_type(kernel.lanes)
        """The C type of widened elements."""

    def has(self, dtype: str) -> bool:
        """Whether elements of a dtype are narrow."""
        return dtype in self._narrow

    def computes_with(self, own: Statement) -> bool:
        """Whether a statement computes with narrow integers, not only with bools."""
        if self._is_integer(own.dtype):
            return True
        if own.op.converts_to is not None:
            return False
        dtypes = tuple([self._kernel.dtypes[a] for a in own.args])
        return any(map(self._is_integer, own.op.operand_dtypes(dtypes, own.dtype)))

    def widen(self, name: str, dtype: str, pointer: str) -> c.Const:
        """Let ``name`` be a vector of the narrow elements at a pointer."""
        narrow, wide = self.vectors(dtype)
        function = f"widen_{narrow}"
        text = _WIDEN_BYTES if narrow == "u1x8" else _WIDEN
        self._definitions.define(text.format(wide=wide, narrow=narrow, name=function))
        return c.Const(wide, name, f"{function}({pointer})")

    def value(self, dtype: str, text: str) -> tuple[str, str]:
        """The type and expression by which a wide element ``text`` is used as one of ``dtype``.

        An integer stays wide: nothing but conversions are made of it.
        """
        return ("b1", f"({text} != 0)") if dtype == "bool" else (self.wide, text)

    def element(self, dtype: str, text: str) -> str:
        """The expression of a wide element as one of ``dtype``, where loops are no vectors."""
        return f"({text} != 0)" if dtype == "bool" else f"(({C_TYPES[dtype]}){text})"

    def narrowed(self, dtype: str, array: str) -> str:
        """The expression of the block of narrow elements that wide ones in an array become."""
        narrow, wide = self.vectors(dtype)
        return f"__builtin_convertvector(*(const {wide} *){array}, {narrow})"

    def vectors(self, dtype: str) -> tuple[str, str]:
        """The types of a block of narrow elements in memory, and of one of wide elements."""
        wide = f"int{512 // self._lanes}"
        lanes = self._lanes
        return self._definitions.vector(dtype, lanes), self._definitions.vector(wide, lanes)

    def _is_integer(self, dtype: str) -> bool:
        return dtype != "bool" and self.has(dtype)


@cache
def _narrow_dtypes(lanes: int) -> frozenset[str]:
    """The dtypes of narrow elements of blocks of so many lanes: none if there is one lane."""
    exact = [np.dtype(name) for name in C_TYPES if not name.startswith("float")]
    return frozenset(x.name for x in exact if lanes > 1 and x.itemsize * lanes <= _LEAST)
