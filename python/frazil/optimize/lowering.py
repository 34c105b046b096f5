"""Lowering of the ops of this package: SciPy drives, and calls a program of the native linker."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Function, Program
from frazil.compile.argument import convert
from frazil.compile.mode import Mode
from frazil.compile.phases import PHASES
from frazil.compile.programs import find_program
from frazil.graph.op import Array
from frazil.link.linkers.native import NativeLinker
from frazil.link.lowering.inner import Inner, inner_graphs
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.perform import NodeFunction, Perform, node_function
from frazil.link.lowering.state import Lowering
from frazil.optimize.solver import Solver


@inner_graphs.register
def _(op: Solver) -> Sequence[Inner]:
    # A search asks for many values with the same parameters.
    return [(op.fgraph, ())]


class Solving(NodeFunction):
    """A search that asks a program for values."""

    __slots__ = ("function",)

    def __init__(self, node: FrozenApply, program: Program) -> None:
        super().__init__(node)
        inputs = [(None, one.type) for one in node.op.fgraph.inputs]
        self.function = Function(program, inputs, (), (), None, convert)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        op: Solver = self.node.op
        return op.run(lambda operands: self.function(*operands), arrays)


@lower_node.register
def _(op: Solver, node: FrozenApply, lowering: Lowering) -> None:
    solving = Solving(node, lowering.inner_program(op.fgraph))
    inputs = [lowering.slot(x) for x in node.inputs]
    slots = lowering.builder.call(solving, inputs, node.output_types)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)


@node_function.register
def _(op: Solver, node: FrozenApply, linker: object) -> NodeFunction:
    if not isinstance(linker, NativeLinker):
        return Perform(node)
    # The phases have been through its graph before; its program has an entry of its own.
    return Solving(node, find_program(op.fgraph, linker, Mode(excluded=frozenset(PHASES))).program)
