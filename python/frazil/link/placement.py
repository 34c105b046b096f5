"""Where updates are done: in which order a graph runs so that they need no copy.

An update, such as :class:`~frazil.tensor.indexing.IncSubtensor`, gives a new tensor, and so does a
factor or what is added to a product; but where nobody needs the old one any more its buffer can be
written over. The core's planner says which updates can have that and what must run before them; the
runtime does in place what then follows the last reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from frazil import inplace
from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.op import Op
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.indexing import IncSubtensor
from frazil.tensor.linalg import Cholesky, CholeskyGradient, SolveTriangular


@singledispatch
def updated_operand(op: Op) -> int | None:
    """The position of the operand that the op's first output is a new state of, if there is one."""
    return None


@updated_operand.register(IncSubtensor)
@updated_operand.register(AdvancedIncSubtensor)
@updated_operand.register(Gemm)
@updated_operand.register(Gemv)
@updated_operand.register(Ger)
@updated_operand.register(Cholesky)
def _(op: Op) -> int:
    return 0


@updated_operand.register(CholeskyGradient)
@updated_operand.register(SolveTriangular)
def _(op: Op) -> int:
    return 1


@dataclass(frozen=True)
class Placement:
    """An order to run a graph in, and what is written over in it.

    Attributes
    ----------
    order : sequence of FrozenApply
        The nodes.
    before : mapping of FrozenApply to sequence of FrozenApply
        For each node that writes over an operand, the other readers of that memory.
    written : collection of Variable
        The variables whose memory is written over, views of it included.
    """

    order: Sequence[FrozenApply]
    before: Mapping[FrozenApply, Sequence[FrozenApply]] = field(default_factory=dict)
    written: Collection[Variable] = ()


def place(graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Placement:
    """The placement in which as many updates as can be are done in place.

    Parameters
    ----------
    graph : FrozenFunctionGraph
        What is to run.
    donated : sequence of Variable
        The inputs whose memory may be used up.
    """
    order = graph.toposort()
    candidates = [
        (node, 0, position) for node in order if (position := updated_operand(node.op)) is not None
    ]
    if not candidates:
        return Placement(order)
    schedule = inplace.plan(graph, candidates, donated=donated)
    return Placement(schedule.order, schedule.orderings, frozenset(schedule.destroyed))
