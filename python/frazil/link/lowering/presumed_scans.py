"""Scans whose types do not state all lengths, though their steps fail with any others.

A state keeps its shape. So a state that starts with five numbers tells the lengths of matrices in
products with it, and of vectors in sums with it. With these lengths the scan may become a kernel. A
call runs the kernel if its operands have these lengths. Otherwise it runs the scan as written,
which raises the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op
from frazil.inner.inner_graph import with_inner_graph
from frazil.inner.successors import Successors
from frazil.link.kernel.compiler import KernelCompiler
from frazil.link.lowering.inner import Inner
from frazil.link.lowering.scan_kernels import scan_call
from frazil.scalar.elemwise import Elemwise
from frazil.scan.op import Scan
from frazil.tensor.basic_indexing import IncSubtensor
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import Shape_i, static_length
from frazil.tensor.products import Dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.shapes import Shapes
from frazil.tensor.transposition import Transpose

MAX_STATEMENTS = 200
"""The highest number of statements of a kernel that takes the place of a scan's program."""

Axis: TypeAlias = tuple[Variable, int]


@dataclass(frozen=True)
class PresumedScan:
    """A scan as graphs of its own, of the same operands."""

    operands: Sequence[Variable]
    """The operands of the scan that the graphs take."""
    known: FrozenFunctionGraph
    """The scan, with all lengths in the types of its inputs."""
    written: FrozenFunctionGraph
    """The scan as it is written, for any lengths."""

    @property
    def inner(self) -> Sequence[Inner]:
        """The graphs that need programs."""
        return [(self.known, ()), (self.written, ())]


def presumed_scan(
    node: FrozenApply, shapes: Shapes, compiler: KernelCompiler
) -> PresumedScan | None:
    """The graphs of a scan that becomes a kernel if lengths are as its states need them."""
    op: Scan = node.op
    if op.until:
        # Its stacks get memory as they grow; those of a kernel have all of it from the start.
        return None
    presumed = _presumed(op, [_static_lengths(x, shapes) for x in node.inputs[1:]])
    if presumed is None:
        return None
    states = presumed[op.n_sequences : op.n_sequences + op.n_states]
    if sum(math.prod(shape) for shape in states) > MAX_STATEMENTS:
        # Each of their elements would take a statement.
        return None
    operands = list(dict.fromkeys(x for x in node.inputs[1:] if not isinstance(x, Constant)))
    known = _with_types(op, presumed)
    if known is None:
        return None
    # The limit is doubled, as dead code is still in; scan_call gives up early on long vectors.
    call = scan_call(known, compiler, min(2 * MAX_STATEMENTS, compiler.step_limit))
    if call is None or len(call.kernel.statements) > MAX_STATEMENTS:
        return None
    types = {
        x: TensorType(x.dtype, (*x.type.shape[: x.ndim - len(lengths)], *lengths))
        for x, lengths in zip(node.inputs[1:], presumed, strict=True)
    }
    graphs = [
        _alone(each, node, operands, shapes, types_of)
        for each, types_of in ((known, types), (op, {x: x.type for x in operands}))
    ]
    if any(graph is None for graph in graphs):
        return None
    return PresumedScan(operands, *(graph for graph in graphs if graph is not None))


def _alone(
    op: Scan,
    node: FrozenApply,
    operands: Sequence[Variable],
    shapes: Shapes,
    types: dict[Variable, TensorType],
) -> FrozenFunctionGraph | None:
    """The graph of a scan of operands of these types; None if they do not tell how many steps."""
    own = {x: types[x](None) for x in operands}
    taken = [own.get(x, x) for x in node.inputs[1:]]
    steps = node.inputs[0]
    if not isinstance(steps, Constant):
        length = shapes.canonical(steps)
        rows = zip(node.inputs[1 : 1 + op.n_sequences], taken, strict=False)
        found = [
            y
            for x, y in rows
            if shapes.canonical(shapes.lengths(x)[0]) is length and not isinstance(x, Constant)
        ]
        if not found:
            return None
        steps = Shape_i(0)(found[0])
    return FrozenFunctionGraph(list(own.values()), op.make_node(steps, *taken).outputs)


def _with_types(op: Scan, presumed: Sequence[tuple[int, ...]]) -> Scan | None:
    """The scan with these lengths of the inputs of its step."""
    old = op.fgraph.inputs
    new = [TensorType(x.dtype, lengths)(None) for x, lengths in zip(old, presumed, strict=True)]
    made = Successors(dict(zip(old, new, strict=True)))
    try:
        for node in op.fgraph.toposort():
            made.apply(node)
        return with_inner_graph(op, FrozenFunctionGraph(new, made.of(op.fgraph.outputs)))
    except (TypeError, ValueError):
        # The lengths do not go together: a run says so.
        return None


def _static_lengths(x: Variable, shapes: Shapes) -> list[int | None]:
    """The lengths of an operand that are known before a call."""
    return [static_length(shapes.canonical(length)) for length in shapes.lengths(x)]


def _presumed(op: Scan, given: Sequence[Sequence[int | None]]) -> list[tuple[int, ...]] | None:
    """The lengths of the inputs of a step; None if types tell all, or if some stay unknown."""
    inputs = op.fgraph.inputs
    same = _SameLengths()
    for at, (x, outer) in enumerate(zip(inputs, given, strict=True)):
        same.note(x, x.type.shape)
        is_sequence = at < op.n_sequences
        same.note(x, outer[1:] if is_sequence else outer)
    if all(same.shape(x) is not None and None not in x.type.shape for x in inputs):
        return None
    order = op.fgraph.toposort()
    for node in order:
        _note_equal(node.op, node, same)
    for y in dict.fromkeys(x for node in order for x in (*node.inputs, *node.outputs)):
        same.note(y, y.type.shape)
    for state, new in zip(op.states, op.next_states, strict=True):
        same.align(state, new)
    found = [same.shape(x) for x in inputs]
    return [shape for shape in found if shape is not None] if None not in found else None


class _SameLengths:
    """Axes that have the same length, unless a step fails."""

    def __init__(self) -> None:
        self._first: dict[Axis, Axis] = {}
        self._lengths: dict[Axis, int] = {}

    def _find(self, axis: Axis) -> Axis:
        while (next_ := self._first.get(axis)) is not None:
            axis = next_
        return axis

    def join(self, one: Axis, other: Axis) -> None:
        """Let two axes have one length."""
        a, b = self._find(one), self._find(other)
        if a == b:
            return
        self._first[a] = b
        if a in self._lengths:
            self._lengths.setdefault(b, self._lengths[a])

    def align(self, x: Variable, y: Variable) -> None:
        """Let variables of one rank have the same lengths."""
        for axis in range(min(x.ndim, y.ndim)):
            self.join((x, axis), (y, axis))

    def note(self, x: Variable, shape: Sequence[int | None]) -> None:
        """Note the lengths that a type tells."""
        for axis, length in enumerate(shape):
            if length is not None:
                self._lengths.setdefault(self._find((x, axis)), length)

    def shape(self, x: Variable) -> tuple[int, ...] | None:
        """The lengths of a variable, if all are told."""
        found = [self._lengths.get(self._find((x, axis))) for axis in range(x.ndim)]
        known = tuple(length for length in found if length is not None)
        return known if len(known) == x.ndim else None


@singledispatch
def _note_equal(op: Op, node: FrozenApply, same: _SameLengths) -> None:
    """Note the lengths that must be equal for a node to run; of ops without a rule, none."""


@_note_equal.register
def _(op: Elemwise, node: FrozenApply, same: _SameLengths) -> None:
    for y in node.outputs:
        for x in node.inputs:
            for axis, length in enumerate(x.type.shape):
                if length != 1:
                    same.join((x, axis), (y, axis + y.ndim - x.ndim))


def _product(a: Variable, b: Variable, y: Variable, same: _SameLengths) -> None:
    same.join((a, a.ndim - 1), (b, 0))
    rest = [*((a, axis) for axis in range(a.ndim - 1)), *((b, axis) for axis in range(1, b.ndim))]
    for at, axis in enumerate(rest):
        same.join(axis, (y, at))


@_note_equal.register
def _(op: Dot, node: FrozenApply, same: _SameLengths) -> None:
    a, b = node.inputs
    _product(a, b, node.outputs[0], same)


@_note_equal.register
def _(op: Gemm | Gemv, node: FrozenApply, same: _SameLengths) -> None:
    z, _, a, b, _ = node.inputs
    same.align(z, node.outputs[0])
    _product(a, b, node.outputs[0], same)


@_note_equal.register
def _(op: Ger, node: FrozenApply, same: _SameLengths) -> None:
    a, _, x, y = node.inputs
    same.align(a, node.outputs[0])
    same.join((a, 0), (x, 0))
    same.join((a, 1), (y, 0))


@_note_equal.register
def _(op: Transpose, node: FrozenApply, same: _SameLengths) -> None:
    for at, axis in enumerate(op.axes):
        same.join((node.inputs[0], axis), (node.outputs[0], at))


@_note_equal.register
def _(op: Reduce | ExpandDims | DropDims, node: FrozenApply, same: _SameLengths) -> None:
    # The operand has the axes of the op besides those of the result, or the other way round.
    x, y = node.inputs[0], node.outputs[0]
    more, fewer = (x, y) if x.ndim > y.ndim else (y, x)
    kept = [axis for axis in range(more.ndim) if axis not in op.axes]
    for at, axis in enumerate(kept):
        same.join((more, axis), (fewer, at))


@_note_equal.register
def _(op: IncSubtensor, node: FrozenApply, same: _SameLengths) -> None:
    same.align(node.inputs[0], node.outputs[0])
