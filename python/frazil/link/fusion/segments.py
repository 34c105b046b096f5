"""Segments: the parts of a graph that run one after the other, each as one loop or one call.

A segment is a graph that shares the container and the nodes of the whole. Its inputs are the
variables that it reads from memory, mostly intermediate ones, and the length operands of its nodes.
Its kernel follows from the segment alone, so equal segments, which freeze to one graph, have equal
kernels wherever they occur.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from frazil.link.fusion.fusion import FusedLoop, Task, fuse, lengths_read, task_nodes, values_read
from frazil.link.fusion.in_place import schedule_in_place
from frazil.link.fusion.kinds import kinds_of
from frazil.link.fusion.operands import length_operands
from frazil.link.fusion.reading import read_all
from frazil.link.fusion.recompute import Recompute
from frazil.link.fusion.registry import Fusion, find_fusion
from frazil.link.fusion.spaces import Spaces
from frazil.link.fusion.views import Views
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Shape_i


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a graph that runs as one.

    Attributes
    ----------
    task : FusedLoop or FrozenApply
        A loop, its nodes in the order of :attr:`graph`; or a node by itself.
    inputs : tuple of Variable
        The variables that it reads, in the order in which a walk from the outputs meets them.
    outputs : tuple of Variable
        The variables that it leaves in memory.
    """

    task: Task
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

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
    stored : set of Variable
        The variables that are in memory between segments.
    """

    def __init__(
        self,
        graph: FrozenFunctionGraph | FunctionGraph,
        fusion: Fusion,
        donated: Sequence[Variable] = (),
    ) -> None:
        self.schedule = schedule_in_place(graph, donated)
        order, written = self.schedule.order, self.schedule.written
        self.views = Views(written, graph.inputs)
        with in_container_of((*graph.inputs, *graph.outputs)):
            kinds = kinds_of(order, fusion)
            read_all(order, kinds, self.views)
            self.shapes = Spaces(order, kinds, self.views)
            again = order if fusion.statement_limit > 1 else ()
            self.recompute = Recompute(again, self.shapes, self.views, kinds, written)
            tasks = fuse(
                order,
                graph.outputs,
                self.shapes,
                self.views,
                kinds,
                self.recompute,
                fusion.statement_limit,
                self.schedule.before,
            )
            self.stored = set(graph.outputs)
            # From the last to the first, so that dead code is left out.
            found = [part for task in reversed(tasks) if (part := self._segment(task)) is not None]
            self.segments = tuple(reversed(found))

    def _segment(self, task: Task) -> Segment | None:
        """The segment of a task, None if it is dead; its operands go to ``stored``."""
        outputs = tuple(
            output for node in task_nodes(task) for output in node.outputs if output in self.stored
        )
        if not outputs:
            return None
        if not isinstance(task, FusedLoop) and isinstance(task.op, Shape_i):
            # A length: the instructions that need it evaluate it.
            self.stored.update(lengths_read(task, self.shapes))
            return None
        read = values_read(task, self.views, self.recompute)
        if isinstance(task, FusedLoop):
            found = Segment(task, _frontier(outputs, read), outputs)
            # The order of nodes must not depend on where the segment is in the graph.
            own = frozenset(task.nodes)
            nodes = [node for node in found.graph.toposort() if node in own]
            if len(nodes) < len(own):
                task = FusedLoop.of(nodes, task.row_nodes)
                read = values_read(task, self.views, self.recompute)
            else:
                task = task.in_order(nodes)
            found = Segment(task, found.inputs, outputs)
        else:
            found = _one_node_segment(task)
        self.stored.update(read)
        self.stored.update(lengths_read(task, self.shapes))
        return found


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


def _frontier(outputs: Sequence[Variable], read: set[Variable]) -> tuple[Variable, ...]:
    """The inputs of a segment, in the order of a walk: ``read``, roots and length operands."""
    found: dict[Variable, None] = {}
    seen: set[Variable] = set()
    ends = set(read)
    pending = list(reversed(outputs))
    while pending:
        x = pending.pop()
        if x in seen or isinstance(x, Constant):
            continue
        seen.add(x)
        node = x.owner
        if x in ends or node is None:
            found[x] = None
            continue
        inputs = node.inputs
        if not isinstance(node.op, Elemwise):
            ends.update(length_operands(node))
        pending += reversed(inputs)
    return tuple(found)
