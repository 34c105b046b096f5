"""The ``py`` linker: every node runs its op's ``perform``. The reference for all others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from frazil import _core
from frazil._core import (
    Constant,
    DebugModeError,
    FrozenApply,
    FrozenFunctionGraph,
    Program,
    ProgramBuilder,
    Variable,
)
from frazil.answers import listed_values
from frazil.inner_graph import HasInnerGraph
from frazil.link.fusible import register_fusion
from frazil.link.image import Image, Symbol
from frazil.link.in_place import ifelse_inputs, op_from_graph_inputs
from frazil.link.kernel_compiler import KernelCompileError, NativeKernel
from frazil.link.origin import Origin
from frazil.link.scan_contract import scan_in_place
from frazil.link.segment import apart
from frazil.loop.op import Scan


@register_fusion("py")
class Nothing:
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

    def prepare(self, graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        """``graph``: a composite performs what it holds."""
        return graph

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

        for segment in apart(graph):
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
        """Nothing: the programs have no kernels."""
        raise KernelCompileError("programs of the py linker have no kernels")


@op_from_graph_inputs.register
@ifelse_inputs.register
def _(linker: PyLinker, op: HasInnerGraph) -> tuple[int, ...]:
    return ()  # ``perform`` writes to none of its inputs


class NodeFunction:
    """What a node computes, as a function of arrays: a program that is kept names the node."""

    __slots__ = ("node",)

    def __init__(self, node: FrozenApply) -> None:
        self.node = node

    @property
    def __name__(self) -> str:
        return str(self.node.op)

    @abstractmethod
    def __call__(self, *arrays: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
        """The outputs."""


class Perform(NodeFunction):
    """The ``perform`` of a node's op."""

    __slots__ = ()

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
        return listed_values(self.node, self.node.op.perform(self.node, arrays))


@singledispatch
def node_function(op: Any, node: FrozenApply, linker: object) -> NodeFunction:
    """The function of a node in a program that ``linker`` made and another process kept."""
    return Perform(node)


def call_perform(
    builder: ProgramBuilder, node: FrozenApply, inputs: Sequence[int], *, checked: bool = False
) -> list[int]:
    """Adds a call of the op's ``perform``; the slots of its outputs."""
    perform = CheckedPerform(node) if checked else Perform(node)
    return builder.call(perform, inputs, node.output_types)


class CheckedPerform(Perform):
    """Calls an op's ``perform``, and checks that it keeps to what the op says of it."""

    __slots__ = ()

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The outputs.

        Raises
        ------
        DebugModeError
            If ``perform`` has written to an input, or returns memory of an input that the op's
            ``view_map`` does not name for this output.
        """
        node = self.node
        before = [array.copy() for array in arrays]
        outputs = listed_values(node, node.op.perform(node, arrays))
        for position, (array, copy) in enumerate(zip(arrays, before, strict=True)):
            if array.tobytes() != copy.tobytes():
                raise DebugModeError(
                    f"perform of {node.op} has written to its input {position}, {array!r}, which "
                    f"was {copy!r}; it must work on a copy"
                )
        views = {} if node.distinct is not None else node.op.view_map
        for number, output in enumerate(outputs):
            for position, array in enumerate(arrays):
                if position not in views.get(number, ()) and np.shares_memory(output, array):
                    raise DebugModeError(
                        f"perform of {node.op} returns memory of its input {position} as output "
                        f"{number}, which {_why(node, number)}, or return a copy"
                    )
        return outputs


def _why(node: FrozenApply, output: int) -> str:
    if node.distinct is not None:
        return "is distinct: drop distinct from the op"
    return f"its view_map ({dict(node.op.view_map)}) does not say; add {{{output}: [...]}} to it"


@scan_in_place.register
def _(linker: PyLinker, op: Scan) -> tuple[int, ...]:
    """None: ``perform`` hands every array on."""
    return ()
