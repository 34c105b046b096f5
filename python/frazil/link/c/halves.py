"""Conversions between floats of 16 bits and wider floats in C, by their bits."""

from __future__ import annotations

from collections.abc import Mapping

from frazil.link.c.static_function import StaticFunction

# Where the processor has instructions, they give the same bits. A type _Float16 would be no help:
# compilers make one step of two, by calls of functions that kernels are not linked with.
_HAS_INSTRUCTIONS = "defined(__F16C__)"

HALVES: Mapping[tuple[str, str], StaticFunction] = {
    ("from_half", "half"): StaticFunction(
        f"""\
#if {_HAS_INSTRUCTIONS}
INLINE f4 $self(half x) {{
  return __builtin_ia32_vcvtph2ps((short __attribute__((vector_size(16)))){{ (short)x }})[0];
}}
#else
INLINE f4 $self(half x) {{
  const u4 magnitude = (u4)(x & 0x7fff) << 13, sign = (u4)(x & 0x8000) << 16;
  const union {{ u4 bits; f4 value; }} shifted = {{ magnitude + (113u << 23) }};
  const union {{ f4 value; u4 bits; }} small = {{ shifted.value - 0x1p-14f }};
  const u4 normal = magnitude + (112u << 23), special = magnitude | 0x7f800000u;
  const union {{ u4 bits; f4 value; }} made = {{
    sign | (magnitude < 1u << 23 ? small.bits : magnitude < 31u << 23 ? normal : special)
  }};
  return made.value;
}}
#endif
"""
    ),
    ("to_half", "f4"): StaticFunction(
        f"""\
#if {_HAS_INSTRUCTIONS}
INLINE half $self(f4 x) {{
  return (half)__builtin_ia32_vcvtps2ph((f4 __attribute__((vector_size(16)))){{ x }}, 0)[0];
}}
#else
INLINE half $self(f4 x) {{
  const union {{ f4 value; u4 bits; }} given = {{ x }};
  const u4 magnitude = given.bits & 0x7fffffffu;
  const union {{ u4 bits; f4 value; }} whole = {{ magnitude }};
  const union {{ f4 value; u4 bits; }} small = {{ whole.value + 0.5f }};
  const u4 normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const u4 quiet = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const u4 finite = magnitude < 113u << 23 ? small.bits - (126u << 23) : normal;
  const u4 made = magnitude < 143u << 23 ? finite : magnitude > 0x7f800000u ? quiet : 0x7c00;
  return (half)(given.bits >> 16 & 0x8000 | made);
}}
#endif
"""
    ),
    # By way of a float32 that rounds to the same: what is cut off sets its last digit.
    ("to_half", "f8"): StaticFunction(
        """\
INLINE half $self(f8 x) {
  const union { f4 value; u4 bits; } near = { (f4)x };
  const f8 back = (f8)near.value;
  const u4 above = __builtin_fabs(back) > __builtin_fabs(x);
  const union { u4 bits; f4 value; } odd = {
    back == x ? near.bits : (near.bits - above) | 1
  };
  return $to_half@f4(odd.value);
}
"""
    ),
}
"""The functions, by name and by the C type of the operand."""
