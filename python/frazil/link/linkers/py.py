"""The ``py`` linker: it calls ``perform`` of each node; the reference for other linkers."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
from frazil._core import (
    Constant,
    FrozenApply,
    FrozenFunctionGraph,
    Program,
    Variable,
)
from frazil.inner.rebuild import Improve, rewrite_inner_graphs
from frazil.link.fusion.registry import register_fusion
from frazil.link.fusion.segments import one_node_segments
from frazil.link.kernel.compiler import KernelCompileError, NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.lowering.origin import Origin
from frazil.link.lowering.perform import call_perform


@register_fusion("py")
class NoFusion:
    """Fuses nothing."""

    statement_limit = 0

    def fuses(self, node: FrozenApply) -> bool:
        """False."""
        return False


class PyLinker:
    """Makes programs that call ``perform``, node by node, unfused."""

    name = "py"
    identity = "py"

    def __init__(self, *, checked: bool = False) -> None:
        self._checked = checked

    def prepare(self, graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        """``graph`` with ``inner`` of its inner graphs; composites have a ``perform``."""
        return rewrite_inner_graphs(graph, inner)

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph``; it writes to no argument, donated or not."""
        builder = _core.ProgramBuilder()
        if self._checked:
            builder.watch()
        slots: dict[Variable, int] = {
            nominal: builder.input(nominal.type) for nominal in graph.inputs
        }

        def slot(x: Variable) -> int:
            if x not in slots and isinstance(x, Constant):
                slots[x] = builder.constant(x.data)
            return slots[x]

        for segment in one_node_segments(graph):
            (node,) = segment.nodes
            builder.origin(Origin((node,)))
            outputs = call_perform(
                builder, node, [slot(x) for x in node.inputs], checked=self._checked
            )
            slots.update(zip(node.outputs, outputs, strict=True))
        return builder.finish([slot(output) for output in graph.outputs])

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: the programs have no kernels."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Raises: the programs have no kernels."""
        raise KernelCompileError("programs of the py linker have no kernels")
