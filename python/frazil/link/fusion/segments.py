"""Segments: the parts of a graph that run one after the other, each as one loop or one call.

A segment is a graph in the container of the whole, over the very nodes of the whole: its inputs are
what it reads from memory, intermediate variables as a rule, and the lengths that its nodes are
given. What follows for a kernel follows from the segment alone, so equal segments, which freeze to
one graph, have equal kernels wherever they occur.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from frazil._core import (
    Constant,
    FrozenApply,
    FrozenFunctionGraph,
    FunctionGraph,
    Variable,
)
from frazil.graph.cached_property import cached_property
from frazil.graph.containers import in_container_of
from frazil.link.fusion.alignment import can_loop
from frazil.link.fusion.fusion import Loop, Step, fuse, nodes_of, read_lengths, read_values
from frazil.link.fusion.in_place import place
from frazil.link.fusion.operands import length_operands
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
    step : Loop or FrozenApply
        What it runs as: a loop, its nodes in the order of :attr:`graph`, or a node by itself.
    inputs, outputs : tuple of Variable
        What it reads, in the order in which a walk from the outputs meets it, and what it leaves in
        memory.
    """

    step: Step
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

    @property
    def nodes(self) -> Sequence[FrozenApply]:
        """The nodes of the loop, or the one node; not those of views that a loop looks through."""
        return nodes_of(self.step)

    @cached_property
    def graph(self) -> FunctionGraph:
        """The segment as a graph, which shares its nodes with the graph that it is a part of."""
        return FunctionGraph(self.inputs, self.outputs)


class Segmentation:
    """A graph cut into segments, and what was found out about it on the way.

    Parameters
    ----------
    graph : FrozenFunctionGraph or FunctionGraph
        What to cut.
    fusion : Fusion
        What shares a loop, for a linker that has loops.
    donated : sequence of Variable
        The inputs whose memory may be used up.

    Attributes
    ----------
    segments : tuple of Segment
        In the order in which they run. Lengths, and nodes whose values nothing needs, are in none.
    stored : set of Variable
        What is in memory between segments.
    """

    def __init__(
        self,
        graph: FrozenFunctionGraph | FunctionGraph,
        fusion: Fusion,
        donated: Sequence[Variable] = (),
    ) -> None:
        self.placement = place(graph, donated)
        order, written = self.placement.order, self.placement.written
        self.views = Views(written, graph.inputs)
        with in_container_of((*graph.inputs, *graph.outputs)):
            self.shapes = Spaces(order)
            fusible = _fusible(fusion)
            again = order if fusion.statement_limit > 1 else ()
            self.recompute = Recompute(again, self.shapes, self.views, fusible, written)
            steps = fuse(
                order,
                graph.outputs,
                self.shapes,
                self.views,
                fusible,
                self.recompute,
                fusion.statement_limit,
                self.placement.before,
            )
            self.stored = set(graph.outputs)
            # From the last to the first: what nothing reads any more is left out.
            found = [part for step in reversed(steps) if (part := self._segment(step)) is not None]
            self.segments = tuple(reversed(found))

    def _segment(self, step: Step) -> Segment | None:
        """The segment of a step, and what it reads stored; None if nothing needs it."""
        outputs = tuple(
            output for node in nodes_of(step) for output in node.outputs if output in self.stored
        )
        if not outputs:
            return None
        if not isinstance(step, Loop) and isinstance(step.op, Shape_i):
            # A size, which whoever needs it evaluates.
            self.stored.update(read_lengths(step, self.shapes))
            return None
        read = read_values(step, self.views, self.recompute)
        if isinstance(step, Loop):
            found = Segment(step, _frontier(outputs, read), outputs)
            # The order of nodes must not depend on where the segment is.
            own = frozenset(step.nodes)
            nodes = [node for node in found.graph.toposort() if node in own]
            step = Loop.of(nodes, step.of_rows)
            found = replace(found, step=step)
            if len(nodes) < len(own):
                read = read_values(step, self.views, self.recompute)
        else:
            found = _alone(step)
        self.stored.update(read)
        self.stored.update(read_lengths(step, self.shapes))
        return found


def apart(graph: FrozenFunctionGraph | FunctionGraph) -> tuple[Segment, ...]:
    """Each node as a segment of its own, in the graph's order."""
    return tuple(map(_alone, graph.toposort()))


def segment(self: FrozenFunctionGraph | FunctionGraph, linker: str) -> tuple[FunctionGraph, ...]:
    """The segments of a graph as the linker of that name would cut it, in the order they run.

    It is a method of graphs. What :func:`frazil.function` compiles is ``f.optimized``, which is
    what its linker cuts.

    Parameters
    ----------
    linker : str
        ``"c"``, ``"numba"``, ``"py"``, ``"debug"``, or a name given to :func:`register_fusion`.

    Returns
    -------
    tuple of FunctionGraph
        Each is a loop or one node. They live in the graph's container and share its nodes: inputs
        are what the segment reads from memory, intermediate variables as a rule, and lengths that
        its nodes are given; outputs are what it leaves in memory. Equal segments freeze to one
        graph, and are compiled once.

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
    parts = Segmentation(self, fusion).segments if fusion.statement_limit else apart(self)
    return tuple(part.graph for part in parts)


def _install() -> None:
    for kind in (FrozenFunctionGraph, FunctionGraph):
        setattr(kind, segment.__name__, segment)


_install()


def _alone(node: FrozenApply) -> Segment:
    """The segment of a node that runs by itself."""
    given = (x for x in node.inputs if not isinstance(x, Constant))
    return Segment(node, tuple(dict.fromkeys(given)), node.outputs)


def _fusible(fusion: Fusion) -> Callable[[FrozenApply], bool]:
    """Whether a loop may hold a node, asked once for each."""
    known: dict[FrozenApply, bool] = {}

    def fusible(node: FrozenApply) -> bool:
        found = known.get(node)
        if found is None:
            found = can_loop(node) and len(node.output_types) == 1 and fusion.fuses(node)
            known[node] = found
        return found

    return fusible


def _frontier(outputs: Sequence[Variable], read: set[Variable]) -> tuple[Variable, ...]:
    """What a walk from ``outputs`` meets: ``read``, roots, and lengths that nodes are given."""
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
