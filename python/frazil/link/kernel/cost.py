"""What it costs to compute an element, against what it costs to keep one.

The unit is an addition in a vector loop. The numbers are rough: being wrong by half changes nothing
but speed.
"""

from __future__ import annotations

from frazil.scalar.op import ScalarOp

DIVISION = 4
SEQUENTIAL = 6
"""What goes element by element: taking at an index, adding to what came before."""
FUNCTION = 20

KEEPING = 3
"""Writing an element to a buffer in cache and reading it again; what costs more is done once."""

_DIVISIONS = frozenset(("truediv", "reciprocal", "sqrt"))
_FUNCTIONS = frozenset(("pow", "floordiv", "mod"))


def cost(op: object) -> int:
    """The cost of one application of a scalar op, or of what goes element by element.

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
