"""The ``py`` linker: every node runs its op's ``perform``. The reference for all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frazil import _core
from frazil._core import (
    Constant,
    FrozenApply,
    FrozenFunctionGraph,
    Program,
    ProgramBuilder,
    Variable,
)
from frazil.link.origin import Origin


class PyLinker:
    """Makes programs that call ``perform``, node by node, unfused."""

    name = "py"

    def compile(self, graph: FrozenFunctionGraph) -> Program:
        """The program that computes ``graph``."""
        builder = _core.ProgramBuilder()
        slots: dict[Variable, int] = {
            nominal: builder.input(nominal.type) for nominal in graph.inputs
        }

        def slot(x: Variable) -> int:
            if x not in slots and isinstance(x, Constant):
                slots[x] = builder.constant(x.data)
            return slots[x]

        for node in graph.toposort():
            builder.origin(Origin((node,)))
            outputs = call_perform(builder, node, [slot(x) for x in node.inputs])
            slots.update(zip(node.outputs, outputs, strict=True))
        return builder.finish([slot(output) for output in graph.outputs])


def call_perform(builder: ProgramBuilder, node: FrozenApply, inputs: Sequence[int]) -> list[int]:
    """Adds a call of the op's ``perform``; the slots of its outputs."""

    def perform(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        outputs: tuple[np.ndarray, ...] = node.op.perform(node, arrays)
        return outputs

    perform.__qualname__ = str(node.op)  # how a program's text names the call
    return builder.call(perform, inputs, node.output_types)
