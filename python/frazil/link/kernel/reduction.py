"""Reductions of the inner dimension: the same in every language, to the same bits.

Element ``k`` of a block is folded into partial result ``k``. Blocks take turns among a few sets of
partial results, so that no block waits for the one before. Partial float sums are added to a higher
level every :data:`TURNS` turns, which keeps their error near that of pairwise summation. At the end
the partial results are folded by halves.
"""

from __future__ import annotations

import math

import numpy as np

import frazil._core as _core
from frazil.link.kernel.loop_kernel import LoweringError, Write

SETS = _core.SETS
"""Sets of partial results that blocks take in turn."""

TURNS = _core.TURNS
"""Turns after which the partial sums are added to the next level, as are those of each level."""

LEVELS = _core.LEVELS
"""Levels of partial sums."""

COUNTING = frozenset({"add", "mul"})
"""Reductions whose result depends on how often a value is folded in."""


_KEEPS_FIRST = frozenset({"maximum", "minimum"})


def fold_operands(reduce: str, so_far: str, value: str) -> tuple[str, str]:
    """The operands of the op that folds a value into the result so far.

    Of two zeros, ``maximum`` and ``minimum`` give the second operand. A fold keeps the first zero.

    Examples
    --------
    >>> from frazil.link.kernel.reduction import fold_operands
    >>> fold_operands("add", "total", "x"), fold_operands("maximum", "largest", "x")
    (('total', 'x'), ('x', 'largest'))
    """
    return (value, so_far) if reduce in _KEEPS_FIRST else (so_far, value)


def leaves_out_padding(write: Write) -> bool:
    """Whether it matters if an element of a row is folded in again: to sums and products, and to
    the largest of floats, since partial results are not folded in the order of the row. The copy of
    a zero may come before another zero there, which has another sign.
    """
    keeps_first = write.reduce in _KEEPS_FIRST and write.dtype.startswith("float")
    return write.reduce in COUNTING or keeps_first


def folds_row(write: Write) -> bool:
    """Whether the write is the fold of a whole row."""
    return write.reduce is not None and not write.inner


def has_levels(write: Write) -> bool:
    """Whether partial results have levels: only float sums have."""
    return write.reduce == "add" and write.dtype.startswith("float")


def identity(reduce: str, dtype: str) -> bool | int | float:
    """The identity of a reduction; for float sums -0.0, which keeps the sign of zero.

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
