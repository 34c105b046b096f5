"""Logic, of bits and of truth values."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

bitwise_and = binary(scalar.and_, "``x1 & x2``, bit by bit", "[5, 6], [3, 3] -> [1, 2]")
bitwise_or = binary(scalar.or_, "``x1 | x2``, bit by bit", "[5, 6], [3, 3] -> [7, 7]")
bitwise_xor = binary(scalar.xor, "``x1 ^ x2``, bit by bit", "[5, 6], [3, 3] -> [6, 5]")
bitwise_invert = unary(
    scalar.invert,
    "``~x``, bit by bit; the negation of a bool",
    "[0, 5] -> [-1, -6]",
    name="bitwise_invert",
)
bitwise_left_shift = binary(
    scalar.left_shift,
    "``x1`` shifted left by ``x2`` bits; 0 where ``x2`` is negative or beyond the width",
    "[1, 3], [2, 4] -> [ 4, 48]",
    name="bitwise_left_shift",
)
bitwise_right_shift = binary(
    scalar.right_shift,
    "``x1`` shifted right by ``x2`` bits; 0, or -1 if ``x1`` is negative, where ``x2`` is negative "
    "or beyond the width",
    "[8, -8], [2, 2] -> [ 2, -2]",
    name="bitwise_right_shift",
)
left_shift = bitwise_left_shift
right_shift = bitwise_right_shift
and_ = bitwise_and
or_ = bitwise_or
xor = bitwise_xor
bitwise_not = bitwise_invert
invert = bitwise_invert

logical_and = binary(
    scalar.and_,
    "whether both elements are true (not zero)",
    "[0.0, 1.0], [1.0, 2.0] -> [False,  True]",
    name="logical_and",
    logical=True,
)
logical_or = binary(
    scalar.or_,
    "whether either element is true (not zero)",
    "[0.0, 0.0], [0.0, 2.0] -> [False,  True]",
    name="logical_or",
    logical=True,
)
logical_xor = binary(
    scalar.xor,
    "whether just one element is true (not zero)",
    "[1.0, 0.0], [1.0, 2.0] -> [False,  True]",
    name="logical_xor",
    logical=True,
)
logical_not = unary(
    scalar.invert,
    "whether the element is false (zero)",
    "[0.0, 2.0] -> [ True, False]",
    name="logical_not",
    logical=True,
)
