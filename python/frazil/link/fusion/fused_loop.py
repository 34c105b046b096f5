"""Fused loops: nodes that become one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from frazil._core import FrozenApply, LoopBody, Variable
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.alignment import domain


@dataclass(frozen=True)
class FusedLoop:
    """Nodes that become one loop kernel: all over one space, operands before users.

    ``row_nodes`` are the nodes that run once for each row, and ``row_values`` the variables that
    the loop computes an element of for each row. ``body`` has the steps, and what they read.
    """

    nodes: tuple[FrozenApply, ...]
    row_nodes: frozenset[FrozenApply]
    row_values: frozenset[Variable]
    body: LoopBody

    @cached_property
    def domain(self) -> Variable:
        """The variable over whose elements the loop iterates."""
        return domain(next(node for node in self.nodes if node not in self.row_nodes))


Task: TypeAlias = FusedLoop | FrozenApply
"""A loop, or a node that runs by itself."""


def task_nodes(task: Task) -> Sequence[FrozenApply]:
    """The nodes of a task."""
    return task.nodes if isinstance(task, FusedLoop) else (task,)
