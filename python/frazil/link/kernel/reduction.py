"""How a kernel reduces its inner dimension: the same way in every language, to the same bits.

Element ``k`` of a block goes to partial result ``k``; blocks take turns among a few sets of partial
results, so that none waits for the one before; float sums are carried to a higher level every so
often, which keeps their error near that of pairwise summation. At the end the partial results are
folded by halves.
"""

from __future__ import annotations

import math

import numpy as np

from frazil.link.kernel.loop_kernel import LoweringError, Write

SETS = 4
"""Sets of partial results that blocks take in turn."""

TURNS = 16
"""Turns after which the partial sums are added to those of the next level, and that many of these
to the next again."""

LEVELS = 4

COUNTING = frozenset({"add", "mul"})
"""Reductions to which it matters how often a value is folded in."""


def is_fold(write: Write) -> bool:
    """Whether the write gathers a whole row."""
    return write.reduce is not None and not write.inner


def has_levels(write: Write) -> bool:
    """Whether partial results are carried from level to level: float sums."""
    return write.reduce == "add" and write.dtype.startswith("float")


def identity(reduce: str, dtype: str) -> bool | int | float:
    """The value that changes nothing when it is folded in; for float sums -0.0, which keeps signs.

    Examples
    --------
    >>> from frazil.link.kernel.reduction import identity
    >>> identity("maximum", "int8"), identity("mul", "float64"), identity("and_", "uint8")
    (-128, 1.0, 255)
    """
    kind = np.dtype(dtype).kind
    if kind == "b":
        return reduce in ("mul", "and_", "minimum")
    match reduce, kind:
        case "add", "f":
            return -0.0
        case "mul", "f":
            return 1.0
        case "maximum", "f":
            return -math.inf
        case "minimum", "f":
            return math.inf
        case ("add" | "or_", _):
            return 0
        case ("mul", _):
            return 1
        case ("and_", "i"):
            return -1
        case ("maximum", _):
            return int(np.iinfo(dtype).min)
        case ("minimum" | "and_", _):
            return int(np.iinfo(dtype).max)
    raise LoweringError(f"{reduce} is not a reduction that kernels know")
