"""The ``py`` linker: every node runs its op's ``perform``. The reference for all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from frazil.link.image import Image, Symbol
from frazil.link.kernel import KernelCompileError, NativeKernel
from frazil.link.origin import Origin


class PyLinker:
    """Makes programs that call ``perform``, node by node, unfused."""

    name = "py"
    identity = "py"

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

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: the programs have no kernels."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Nothing: the programs have no kernels."""
        raise KernelCompileError("programs of the py linker have no kernels")


class Perform:
    """The ``perform`` of a node's op, as a function of arrays."""

    __slots__ = ("node",)

    def __init__(self, node: FrozenApply) -> None:
        self.node = node

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
        outputs: tuple[np.ndarray[Any, Any], ...] = self.node.op.perform(self.node, arrays)
        return outputs


def call_perform(builder: ProgramBuilder, node: FrozenApply, inputs: Sequence[int]) -> list[int]:
    """Adds a call of the op's ``perform``; the slots of its outputs."""
    return builder.call(Perform(node), inputs, node.output_types)
