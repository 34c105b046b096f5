"""The constants of a kernel that compilers make use of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from frazil.link.kernel.cost import cost
from frazil.link.kernel.loop_kernel import Cumulate, RowFold, Statement, Take
from frazil.scalar.op import ScalarOp

AnyStatement: TypeAlias = Statement | Take | Cumulate | RowFold

DIVISIONS = ("floordiv", "mod", "fmod")
"""Ops that take long, unless their divisor is known when they are compiled."""


def folded_values(statements: Iterable[AnyStatement]) -> set[int]:
    """The values, by their numbers, that compilers make other code for if they are constants.

    Examples
    --------
    >>> from frazil.link.kernel.folded import folded_values
    >>> from frazil.link.kernel.loop_kernel import Statement
    >>> from frazil.scalar import add, pow
    >>> folded_values([Statement(add, (0, 1), "float64"), Statement(pow, (3, 2), "float64")])
    {2, 3}
    """
    kept: set[int] = set()
    # For each op, the first operand whose constants they make use of; None if there is none.
    first: dict[ScalarOp, int | None] = {}
    for own in statements:
        if isinstance(own, Statement):
            op = own.op
            begin = first[op] if op in first else first.setdefault(op, _first_folded(op))
            if begin is not None:
                kept.update(own.args[begin:])
        elif isinstance(own, RowFold):
            kept.add(own.start)
        else:
            kept.update(own.args)
    return kept


def _first_folded(op: ScalarOp) -> int | None:
    """The first operand of an op whose constants compilers make use of; None if there is none."""
    if op.table_name in DIVISIONS:
        return 1
    # By a power of two it is a product already, and by another number nothing else.
    return None if op.table_name == "truediv" or cost(op) <= 1 else 0
