"""How linkers run the ops of this package: SciPy drives, the graph is the linker's own program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from frazil._core import FrozenApply, FrozenFunctionGraph, Function
from frazil.compile.argument import convert
from frazil.compile.phases import PHASES
from frazil.compile.programs import find_program
from frazil.inner_graph import compute
from frazil.link.debug import DebugLinker
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.link.native import NativeLinker
from frazil.link.perform import PyLinker, call_perform
from frazil.optimize.solver import Evaluate, Solver
from frazil.tensor.constants import Array


@singledispatch
def evaluate_by(linker: object, fgraph: FrozenFunctionGraph) -> Evaluate:
    """Return how a linker evaluates the graph of an op, which was made better before."""
    raise NotImplementedError(
        f"the linker {type(linker).__name__} does not say how it evaluates the graph of an "
        "optimisation: register it with frazil.optimize.lowering.evaluate_by"
    )


@evaluate_by.register
def _(linker: NativeLinker, fgraph: FrozenFunctionGraph) -> Evaluate:
    program = find_program(fgraph, linker, frozenset(PHASES)).program
    inputs = [(None, one.type) for one in fgraph.inputs]
    function = Function(program, inputs, (), (), None, convert)
    return lambda arrays: function(*arrays)


@evaluate_by.register(PyLinker)
@evaluate_by.register(DebugLinker)
def _(linker: PyLinker | DebugLinker, fgraph: FrozenFunctionGraph) -> Evaluate:
    return lambda arrays: compute(fgraph, arrays)


class Solving:
    """A node of an optimisation, as a function of arrays."""

    __slots__ = ("evaluate", "node")

    def __init__(self, node: FrozenApply, evaluate: Evaluate) -> None:
        self.node = node
        self.evaluate = evaluate

    @property
    def __name__(self) -> str:
        return str(self.node.op)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        op: Solver = self.node.op
        return op.run(self.evaluate, arrays)


@lower_node.register
def _(op: Solver, node: FrozenApply, lowering: Lowering) -> None:
    inputs: Sequence[int] = [lowering.slot(x) for x in node.inputs]
    if lowering.checked:
        slots = call_perform(lowering.builder, node, inputs, checked=True)
    else:
        solving = Solving(node, evaluate_by(lowering.linker, op.fgraph))
        slots = lowering.builder.call(solving, inputs, node.output_types)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.place(output, slot)
