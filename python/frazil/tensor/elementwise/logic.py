"""Logic, of bits and of truth values."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

bitwise_and = binary(
    "bitwise_and", scalar.and_, "``x1 & x2``, bit by bit", "[5, 6], [3, 3] -> [1, 2]"
)
bitwise_or = binary("bitwise_or", scalar.or_, "``x1 | x2``, bit by bit", "[5, 6], [3, 3] -> [7, 7]")
bitwise_xor = binary(
    "bitwise_xor", scalar.xor, "``x1 ^ x2``, bit by bit", "[5, 6], [3, 3] -> [6, 5]"
)
bitwise_invert = unary(
    "bitwise_invert",
    scalar.invert,
    "``~x``, bit by bit; the negation of a bool",
    "[0, 5] -> [-1, -6]",
)
and_ = bitwise_and
or_ = bitwise_or
xor = bitwise_xor
bitwise_not = bitwise_invert
invert = bitwise_invert

logical_and = binary(
    "logical_and",
    scalar.and_,
    "whether both elements are true (not zero)",
    "[0.0, 1.0], [1.0, 2.0] -> [False,  True]",
    logical=True,
)
logical_or = binary(
    "logical_or",
    scalar.or_,
    "whether either element is true (not zero)",
    "[0.0, 0.0], [0.0, 2.0] -> [False,  True]",
    logical=True,
)
logical_xor = binary(
    "logical_xor",
    scalar.xor,
    "whether just one element is true (not zero)",
    "[1.0, 0.0], [1.0, 2.0] -> [False,  True]",
    logical=True,
)
logical_not = unary(
    "logical_not",
    scalar.invert,
    "whether the element is false (zero)",
    "[0.0, 2.0] -> [ True, False]",
    logical=True,
)
