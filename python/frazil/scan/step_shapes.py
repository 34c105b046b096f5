"""The shapes of a step that are known without running it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.scan.body import ScanBody
from frazil.tensor.shapes import Shapes


@dataclass(frozen=True)
class StepShapes:
    """The shapes of what a step computes."""

    order: Sequence[FrozenApply]
    """The nodes of the step."""
    shapes: Shapes
    """Their lengths."""
    same: Collection[Variable]
    """What has the same value in each step."""

    @staticmethod
    def of(body: ScanBody) -> StepShapes:
        """The shapes in a step."""
        order = _core.toposort(body.outputs)
        return StepShapes(order, Shapes(order), frozenset(body.non_sequences))

    def are_told(self) -> bool:
        """Whether all of them are known without running a step."""
        return all(self.is_told(x) for node in self.order for x in node.outputs)

    def is_told(self, x: Variable) -> bool:
        """Whether the lengths of ``x`` are known, and so the same in every step.

        They read the shapes of variables with dimensions that a step is handed, and values that are
        the same.
        """
        return all(
            leaf in self.same or (leaf.ndim > 0 and leaf.owner is None)
            for leaf in self.shapes.leaves(x)
        )
