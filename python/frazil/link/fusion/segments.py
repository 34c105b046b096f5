"""Segments: the parts of a graph that run one after the other, each as one loop or one call.

A segment is a graph that shares the container and the nodes of the whole. Its inputs are the
variables that it reads from memory, mostly intermediate ones, and the length operands of its nodes.
Its kernel follows from the segment alone, so equal segments, which freeze to one graph, have equal
kernels wherever they occur.
"""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
from frazil._core import (
    Constant,
    FrozenApply,
    FrozenFunctionGraph,
    FunctionGraph,
    Variable,
)
from frazil.graph.cached_property import cached_property
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.alignment import domain, puts_rows
from frazil.link.fusion.fused_loop import FusedLoop, Task, task_nodes
from frazil.link.fusion.in_place import schedule_in_place
from frazil.link.fusion.kinds import Kinds, kinds_of, without_views
from frazil.link.fusion.registry import Fusion, find_fusion
from frazil.link.fusion.spaces import Spaces
from frazil.link.kernel.cost import FUNCTION, KEEPING


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a graph that runs as one."""

    task: Task
    """A loop, its nodes in the order of :attr:`graph`; or a node by itself."""
    inputs: tuple[Variable, ...]
    """The variables that it reads, in the order in which a walk from the outputs meets them."""
    outputs: tuple[Variable, ...]
    """The variables that it leaves in memory."""

    @property
    def nodes(self) -> Sequence[FrozenApply]:
        """The nodes of the loop, without the views that it looks through; or the one node."""
        return task_nodes(self.task)

    @cached_property
    def graph(self) -> FunctionGraph:
        """The segment as a graph, which shares its nodes with the graph that it is a part of."""
        return FunctionGraph(self.inputs, self.outputs)


class Segmentation:
    """A graph cut into segments, and the analyses that lowering uses as well.

    Parameters
    ----------
    graph : FrozenFunctionGraph or FunctionGraph
        The graph to cut.
    fusion : Fusion
        The fusion, for a linker that has loops.
    donated : sequence of Variable
        The inputs whose memory may be used up.

    Attributes
    ----------
    segments : tuple of Segment
        In the order in which they run. Lengths and dead code are in none.
    kinds : sequence of Kind
        The kinds of nodes.
    domains : dict of FrozenApply to Variable
        What loops iterate over for nodes that put values at indices.
    """

    def __init__(
        self,
        graph: FrozenFunctionGraph | FunctionGraph,
        fusion: Fusion,
        donated: Sequence[Variable] = (),
    ) -> None:
        self.schedule = schedule_in_place(graph, donated)
        order, written = self.schedule.order, self.schedule.written
        with in_container_of((*graph.inputs, *graph.outputs)):
            kinds = kinds_of(order, fusion)
            self.shapes = Spaces(order, kinds)
            kinds = without_views(kinds, order, self.shapes.read)
            given = _given(order, kinds)
            found = _core.cut_graph(
                order,
                *kinds,
                graph.inputs,
                graph.outputs,
                given,
                written,
                [*self.schedule.before.items()],
                fusion.statement_limit,
                (KEEPING, FUNCTION),
                self.shapes.known,
                self.shapes,
            )
        self.kinds = kinds.kinds
        self.domains = {order[at]: over for at, over, _ in given}
        self.segments = tuple(
            [
                Segment(nodes[0] if rows is None else FusedLoop(nodes, *rows), inputs, outputs)
                for nodes, rows, inputs, outputs in found
            ]
        )


def _given(order: Sequence[FrozenApply], kinds: Kinds) -> list[tuple[int, Variable, bool]]:
    """The nodes that put values at indices: the domain of each, and whether it puts rows."""
    wanted = {at for at, kind in enumerate(kinds.kinds) if kind.fusible and kind.domain == "given"}
    if not wanted:
        return []
    puts = [at for at, kind in enumerate(kinds.of_nodes) if kind in wanted]
    domains = [domain(order[at]) for at in puts]
    return [(at, over, puts_rows(order[at], over)) for at, over in zip(puts, domains, strict=True)]


def one_node_segments(graph: FrozenFunctionGraph | FunctionGraph) -> tuple[Segment, ...]:
    """Each node as a segment of its own, in the graph's order."""
    return tuple(map(_one_node_segment, graph.toposort()))


def segment(self: FrozenFunctionGraph | FunctionGraph, linker: str) -> tuple[FunctionGraph, ...]:
    """The segments of a graph as the linker of that name would cut it, in the order they run.

    It is a method of graphs. The linker of a compiled function ``f`` cuts the graph
    ``f.optimized``.

    Parameters
    ----------
    linker : str
        ``"c"``, ``"numba"``, ``"py"``, ``"debug"``, or a name given to :func:`register_fusion`.

    Returns
    -------
    tuple of FunctionGraph
        Each is a loop or one node. They live in the graph's container and share its nodes. The
        inputs of a segment are the variables that it reads from memory, mostly intermediate ones,
        and the length operands of its nodes; its outputs are the variables that it leaves in
        memory. Equal segments freeze to one graph, and are compiled once.

    Raises
    ------
    ValueError
        If the linker has not registered what it fuses.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.matrix("x")
    >>> y = ft.tanh(x @ ft.exp(x)) * 2
    >>> for segment in fz.FunctionGraph([x], [y]).segment("c"):
    ...     print(segment)
    <frazil.FunctionGraph [x] -> [exp.out]>
    <frazil.FunctionGraph [x, exp.out] -> [Dot.out]>
    <frazil.FunctionGraph [Dot.out] -> [mul.out]>
    """
    fusion = find_fusion(linker)
    parts = (
        Segmentation(self, fusion).segments if fusion.statement_limit else one_node_segments(self)
    )
    return tuple(part.graph for part in parts)


def _install() -> None:
    for kind in (FrozenFunctionGraph, FunctionGraph):
        setattr(kind, segment.__name__, segment)


_install()


def _one_node_segment(node: FrozenApply) -> Segment:
    """The segment of a node that runs by itself."""
    reads = (x for x in node.inputs if not isinstance(x, Constant))
    return Segment(node, tuple(dict.fromkeys(reads)), node.outputs)
