"""The cost of computing an element, and of keeping one.

The unit is an addition in a vectorised loop. The numbers are rough; they influence nothing but
speed.
"""

from __future__ import annotations

from frazil.scalar.op import ScalarOp

DIVISION = 4
SEQUENTIAL = 6
"""A statement that no vector instruction does: a take at an index, a cumulative sum."""
FUNCTION = 20

KEEPING = 3
"""Writing an element to a buffer in cache and reading it again."""

_DIVISIONS = frozenset(("truediv", "reciprocal", "sqrt"))
_FUNCTIONS = frozenset(("pow", "floordiv", "mod", "fmod"))


def cost(op: object) -> int:
    """The cost of one application of a scalar op; of any other statement :data:`SEQUENTIAL`.

    Examples
    --------
    >>> from frazil.link.kernel.cost import cost
    >>> from frazil.scalar import add, exp, truediv
    >>> cost(add), cost(truediv), cost(exp)
    (1, 4, 20)
    """
    if not isinstance(op, ScalarOp):
        return SEQUENTIAL
    name = op.table_name
    if name in _DIVISIONS:
        return DIVISION
    known = name is not None and op.rule != "float" and name not in _FUNCTIONS
    return 1 if known else FUNCTION
