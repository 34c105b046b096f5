"""Reductions of rows that may be short, in loops that no operand moves along wholly.

An example is distances between points: an array of points by points by coordinates, which is
summed over the coordinates.
"""

from __future__ import annotations

from frazil._core import FrozenApply, Variable
from frazil.link.fusion.recompute import Recompute
from frazil.link.fusion.spaces import Spaces
from frazil.link.fusion.views import Views

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


def sums_short_rows(node: FrozenApply, shapes: Spaces, views: Views, recompute: Recompute) -> bool:
    """Whether a node sums rows that may be short, and computes their elements of smaller arrays.

    Its loop needs no other dimension innermost, then, unless it has more to do with the rows. So it
    gets a loop without that: elements that cost little are computed again for it.
    """
    (over,) = node.inputs
    moving = [n for n in over.type.shape if n != 1]
    if node.op.fold != "add" or len(moving) < 3 or not is_short(moving[-1]):
        return False
    base: Variable = views.look_through(over)[0]
    space = len(shapes.space(over))
    return base in recompute and all(len(shapes.space(x)) < space for x in recompute.reads(base))
