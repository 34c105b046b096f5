"""Reductions of rows that may be short, in loops that no operand moves along wholly.

An example is distances between points: an array of points by points by coordinates, which is
summed over the coordinates.
"""

from __future__ import annotations

from frazil._core import Variable

SHORT_ROW = 31
"""The highest number of elements of a short row, for which a walk along the row is slow.

At 32, rows fill whole registers, and a walk along them is quicker again: twice with 5,000 rows.
"""


def is_short(length: int | None) -> bool:
    """Whether rows of this static length are short, or may be.

    Examples
    --------
    >>> from frazil.link.fusion.short import is_short
    >>> [is_short(length) for length in (3, 100, None)]
    [True, False, True]
    """
    return length is None or length <= SHORT_ROW


def has_short_rows(over: Variable) -> bool:
    """Whether ``over`` has rows that may be short, of three dimensions or more."""
    moving = [n for n in over.type.shape if n != 1]
    return len(moving) > 2 and is_short(moving[-1])
