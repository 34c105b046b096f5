"""Recomputation: elementwise results that each loop computes again, so that they are not stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from frazil._core import Constant, FrozenApply, Variable
from frazil.link.fusion.kinds import Kind
from frazil.link.fusion.spaces import Spaces
from frazil.link.fusion.views import Views
from frazil.link.kernel.cost import FUNCTION, KEEPING

MAX_READS = 2
"""Reading this many operands costs as much as writing a result of that size and reading it."""

_MOST = max(KEEPING, FUNCTION - 1)


class Recompute:
    """The elementwise results that loops compute again from the operands.

    Such a result costs at most :data:`~frazil.link.kernel.cost.KEEPING` an element, and reads at
    most :data:`MAX_READS` operands as large as itself. A result of a single element may cost more,
    but holds no function.

    Attributes
    ----------
    again : dict of Variable to frozenset of Variable
        What each of these results is computed from.
    """

    def __init__(
        self,
        order: Sequence[FrozenApply],
        shapes: Spaces,
        views: Views,
        kinds: Mapping[FrozenApply, Kind],
        written: Collection[Variable] = (),
    ) -> None:
        self.again: dict[Variable, frozenset[Variable]] = {}
        costs: dict[Variable, int] = {}
        for node in order:
            whole = kinds[node].cost
            if whole is None or whole > _MOST:
                continue
            reading = views.readings[node]
            output = reading.output
            space = shapes.space(output)
            most = KEEPING if space else FUNCTION - 1
            if whole > most:
                continue
            read: set[Variable] = set()
            for base, _, _ in reading.operands:
                leaves = self.again.get(base)
                if leaves is None:
                    read.add(base)
                    continue
                read |= leaves
                # Operands of a single element are computed once a row.
                if not space or shapes.space(base):
                    whole += costs[base]
                    if whole > most:
                        break
            # An operand that is written over is gone when the result is computed again.
            if whole > most or not read.isdisjoint(written):
                continue
            if space and len(read) > MAX_READS:
                as_large = [x for x in read if len(shapes.space(x)) >= len(space)]
                if len(as_large) > MAX_READS:
                    continue
            costs[output] = whole
            self.again[output] = frozenset([x for x in read if not isinstance(x, Constant)])

    def __contains__(self, x: Variable) -> bool:
        return x in self.again

    def reads(self, x: Variable) -> Collection[Variable]:
        """The variables that a loop reads for ``x``: itself, or those it is computed from again."""
        return self.again.get(x, (x,))
