"""Whether a law says the same of variables of every rank.

Most parameters have no dimensions while a law is written, though they match variables of any rank.
An op that has nothing to do for a single element vanishes then: the sum of ``x`` is ``x`` itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import frazil._core as _core
from frazil._core import TensorType, Variable
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.formulas import pp

Sides = tuple[tuple[Variable, ...], ...]
"""Variables that a law is about: those of its left side, of its right side and of its guards."""

LENGTHS = (1, None)
"""A rank at which all ops show that do nothing without dimensions."""


REFUSALS = (TypeError, ValueError, IndexError)
"""The errors by which ops refuse the types of operands."""


class OtherMeaning(Exception):
    """The meanings of a law for scalars and for tensors, which differ, and the ops that differ."""

    def __init__(self, flat: str, deep: str, ops: Sequence[str]) -> None:
        super().__init__(flat, deep, ops)
        self.flat, self.deep, self.ops = flat, deep, ops


def without_dimensions(
    unknowns: Sequence[Variable], free: Sequence[int], over: Callable[[Sequence[Variable]], Sides]
) -> list[int]:
    """Return which unknowns can have no dimensions, as an op of the law takes none.

    Parameters
    ----------
    unknowns : sequence of Variable
        The variables that the law is written over.
    free : sequence of int
        The positions of those that match variables of any rank.
    over : callable
        The law over other variables.

    Raises
    ------
    OtherMeaning
        If the law over variables with dimensions applies other ops.
    """
    flat = over(unknowns)
    if free and _holds_beside(unknowns, free, flat, over):
        return []
    alone = [at for at in free if not _holds_beside(unknowns, [at], flat, over)]
    return alone or list(free)


def _holds_beside(
    unknowns: Sequence[Variable],
    ranked: Sequence[int],
    flat: Sides,
    over: Callable[[Sequence[Variable]], Sides],
) -> bool:
    """Whether the law can be written with dimensions for some unknowns; it must say the same."""
    given = [
        TensorType(x.dtype, LENGTHS)(x.name) if at in ranked else x for at, x in enumerate(unknowns)
    ]
    try:
        deep = over(given)
    except REFUSALS:
        return False
    if not _are_alike(flat, deep, dict(zip(unknowns, given, strict=True))):
        raise _difference(flat, deep)
    return True


def _are_alike(flat: Sides, deep: Sides, known: dict[Variable, Variable]) -> bool:
    """Whether the same ops are applied in the same places; ``known`` pairs the unknowns."""
    first, second = (_core.toposort([x for side in of for x in side]) for of in (flat, deep))
    if len(first) != len(second):
        return False
    for node, other in zip(first, second, strict=True):
        if node.op != other.op or [known.get(x, x) for x in node.inputs] != [*other.inputs]:
            return False
        known.update(zip(node.outputs, other.outputs, strict=True))
    return [[known.get(x, x) for x in side] for side in flat] == [[*side] for side in deep]


def _difference(flat: Sides, deep: Sides) -> OtherMeaning:
    """The forms of a law for scalars and for tensors, at the first side that differs."""
    for side, other in zip(flat, deep, strict=True):
        before, after = _classes(side), _classes(other)
        if before != after:
            ops = [*(after - before), *(before - after)]
            return OtherMeaning(_written(side), _written(other), ops)
    return OtherMeaning(_written(flat[0]), _written(deep[0]), [])


def _classes(side: Sequence[Variable]) -> Counter[str]:
    """The names of ops' classes, of elementwise ops those of their functions."""
    ops = [node.op for node in _core.toposort([*side])]
    return Counter(str(op) if isinstance(op, Elemwise) else type(op).__name__ for op in ops)


def _written(side: Sequence[Variable]) -> str:
    return "; ".join(pp(x).replace("\n", "; ") for x in side)
