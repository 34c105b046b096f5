"""From a frozen graph to a program of native loops, views and calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from frazil import _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Program, Variable
from frazil.elemwise import Elemwise
from frazil.link import blas
from frazil.link.fusion import Loop, from_memory, fuse
from frazil.link.kernel import KernelCompiler, NativeKernel
from frazil.link.loops import KernelCall, kernel_call
from frazil.link.origin import Origin
from frazil.link.perform import call_perform
from frazil.link.shapes import Shapes, is_size_arithmetic
from frazil.link.views import REPEATED, Views
from frazil.op import Op
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.buffers import Distinct
from frazil.tensor.creation import Full
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.indexing import DYNAMIC, IncSubtensor, Subtensor, Template, part_lengths
from frazil.tensor.lengths import Shape_i
from frazil.tensor.products import Dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

Index = list[int | tuple[int | None, int | None, int]]


def lower(graph: FrozenFunctionGraph, compiler: KernelCompiler) -> Program:
    """The program that computes ``graph`` with the kernels of ``compiler``."""
    lowering = Lowering(graph)

    views = Views()
    known: dict[tuple[object, ...], bool] = {}

    def fusible(node: FrozenApply) -> bool:
        if not isinstance(node.op, Elemwise):
            return isinstance(node.op, Reduce)
        dtypes = tuple(x.dtype for x in node.inputs)
        question = (node.op, dtypes)
        if question not in known:
            result = node.output_types[0].dtype
            known[question] = compiler.lowers(node.op.scalar_op, dtypes, result)
        return known[question]

    steps = fuse(
        lowering.order,
        graph.outputs,
        lowering.shapes,
        views,
        fusible,
        compiler.statement_limit,
    )
    stored = from_memory(steps, lowering.shapes, views).union(graph.outputs)
    calls = {step: kernel_call(step, stored, views) for step in steps if isinstance(step, Loop)}
    # Equal kernels are compiled once.
    kernels = list(dict.fromkeys(call.kernel for call in calls.values()))
    native = dict(zip(kernels, compiler.compile(kernels), strict=True))
    for step in steps:
        if isinstance(step, Loop):
            lowering.run_loop(calls[step], native[calls[step].kernel])
        else:
            lowering.builder.origin(Origin((step,)))
            lower_node(step.op, step, lowering)
    return lowering.builder.finish([lowering.slot(output) for output in graph.outputs])


class Lowering:
    """The state of lowering one graph: its program so far, and where each variable is in it."""

    def __init__(self, graph: FrozenFunctionGraph) -> None:
        self.order = graph.toposort()
        self.shapes = Shapes(self.order)
        self.builder = _core.ProgramBuilder()
        self._slots: dict[Variable, int] = {}
        self._sizes: dict[Variable, int] = {}
        for nominal in graph.inputs:
            self._slots[nominal] = self.builder.input(nominal.type)

    def slot(self, x: Variable) -> int:
        """The slot that holds ``x``, which is a constant or has been placed."""
        if x not in self._slots and isinstance(x, Constant):
            self._slots[x] = self.builder.constant(x.data)
        return self._slots[x]

    def place(self, x: Variable, slot: int) -> None:
        """Says that ``slot`` holds ``x``."""
        self._slots[x] = slot

    def sizes(self, lengths: Sequence[Variable]) -> list[int]:
        """The sizes with the values of ``lengths``."""
        return [self.size(length) for length in lengths]

    def size(self, length: Variable) -> int:
        """The size with the value of ``length``."""
        length = self.shapes.canonical(length)
        pending = [length]
        while pending:
            current = pending[-1]
            if current in self._sizes:
                pending.pop()
                continue
            node = current.owner
            missing = (
                [x for x in node.inputs if x not in self._sizes]
                if node is not None and is_size_arithmetic(current)
                else []
            )
            if missing:
                pending += missing
            else:
                self._sizes[current] = self._make_size(current)
        return self._sizes[length]

    def _make_size(self, length: Variable) -> int:
        node = length.owner
        if isinstance(length, Constant):
            return self.builder.size_literal(int(length.data))
        if node is not None and isinstance(node.op, Shape_i):
            return self.builder.size_of(self.slot(node.inputs[0]), node.op.axis)
        if node is None or not is_size_arithmetic(length):
            return self.builder.size_value(self.slot(length))
        operands = [self._sizes[x] for x in node.inputs]
        if node.op.scalar_op.name == "where":
            condition, then, otherwise = operands
            return self.builder.size_where(condition, then, otherwise)
        a, b = operands
        return self.builder.size_binary(node.op.scalar_op.name, a, b)

    def run_loop(self, call: KernelCall, native: NativeKernel) -> None:
        """Adds a kernel and the dimensions of length 1 that it left out."""
        over = call.loop.pattern
        self.builder.origin(Origin(call.loop.nodes))
        dims = [
            self.size(length)
            for length, static in zip(self.shapes.lengths(over), over.type.shape, strict=True)
            if static != 1
        ]
        for node in call.loop.nodes:
            if isinstance(node.op, Reduce) and node.op.needs_elements:
                self._require_elements(node)
        slots = self.builder.loop(
            native.address,
            native.keepalive,
            dims,
            [(self.slot(x), axes) for x, axes in call.reads],
            [
                (output.variable.dtype, _numbered(output.axes), output.identity)
                for output in call.outputs
            ],
        )
        for output, slot in zip(call.outputs, slots, strict=True):
            ones = [axis for axis, n in enumerate(output.variable.type.shape) if n == 1]
            self.place(output.variable, self.builder.expand_dims(slot, ones) if ones else slot)

    def require_broadcast(self, x: Variable, target: Sequence[Variable]) -> None:
        """Adds checks that ``x`` has the target's lengths wherever its type does not say 1."""
        own = self.shapes.lengths(x)
        for axis in range(-x.ndim, 0):
            if x.broadcastable[axis]:
                continue
            given, wanted = self.shapes.canonical(own[axis]), self.shapes.canonical(target[axis])
            if given is not wanted:
                self.builder.require_equal(
                    self.size(given),
                    self.size(wanted),
                    f"{x} does not broadcast along dimension {axis}: its length differs, and a "
                    "length 1 broadcasts only where the type declares it, as in "
                    "ft.tensor(shape=(None, 1))",
                )

    def _require_elements(self, node: FrozenApply) -> None:
        one = self.builder.size_literal(1)
        lengths = self.shapes.lengths(node.inputs[0])
        for axis in node.op.axes:
            some = self.builder.size_binary("le", one, self.size(lengths[axis]))
            self.builder.require_equal(
                some,
                one,
                f"{node.op}: no elements along axis {axis}, and no identity to start from",
            )


def _numbered(axes: Sequence[int]) -> list[int]:
    """``axes`` renumbered from 0 in order, those of a loop's output that it moves along."""
    kept = iter(range(len(axes)))
    return [REPEATED if axis == REPEATED else next(kept) for axis in axes]


@singledispatch
def lower_node(op: Op, node: FrozenApply, lowering: Lowering) -> None:
    """Adds what computes ``node`` to the program; without a native form, its op's ``perform``."""
    slots = call_perform(lowering.builder, node, [lowering.slot(x) for x in node.inputs])
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.place(output, slot)


@lower_node.register
def _(op: Shape_i, node: FrozenApply, lowering: Lowering) -> None:
    (length,) = node.outputs
    lowering.place(length, lowering.builder.size_scalar(lowering.size(length)))


@lower_node.register
def _(op: Transpose, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    lowering.place(y, lowering.builder.transpose(lowering.slot(x), op.axes))


@lower_node.register
def _(op: ExpandDims, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    lowering.place(y, lowering.builder.expand_dims(lowering.slot(x), op.axes))


@lower_node.register
def _(op: DropDims, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    lowering.place(y, lowering.builder.drop_dims(lowering.slot(x), op.axes))


@lower_node.register
def _(op: BroadcastTo, node: FrozenApply, lowering: Lowering) -> None:
    x, *lengths = node.inputs
    lowering.require_broadcast(x, lengths)
    slot = lowering.builder.broadcast_to(lowering.slot(x), lowering.sizes(lengths))
    lowering.place(node.outputs[0], slot)


@lower_node.register
def _(op: Reshape, node: FrozenApply, lowering: Lowering) -> None:
    x, *lengths = node.inputs
    slot = lowering.builder.reshape(lowering.slot(x), lowering.sizes(lengths))
    lowering.place(node.outputs[0], slot)


@lower_node.register
def _(op: Full, node: FrozenApply, lowering: Lowering) -> None:
    value, *lengths = node.inputs
    sizes = lowering.sizes(lengths)
    slot = lowering.builder.full(value.dtype, lowering.slot(value), sizes)
    lowering.place(node.outputs[0], slot)


@lower_node.register
def _(op: Distinct, node: FrozenApply, lowering: Lowering) -> None:
    (x,), (y,) = node.inputs, node.outputs
    lowering.place(y, lowering.builder.copy(lowering.slot(x)))


@lower_node.register
def _(op: Dot, node: FrozenApply, lowering: Lowering) -> None:
    a, b = node.inputs
    if np.dtype(a.dtype).kind != "f":
        lower_node.dispatch(Op)(op, node, lowering)  # no BLAS for integers
        return
    blas.install()
    slot = lowering.builder.dot(lowering.slot(a), lowering.slot(b))
    lowering.place(node.outputs[0], slot)


@lower_node.register
def _(op: Subtensor, node: FrozenApply, lowering: Lowering) -> None:
    x, *dynamic = node.inputs
    index = _index(op.template, x.ndim, dynamic, lowering)
    lowering.place(node.outputs[0], lowering.builder.slice(lowering.slot(x), index))


@lower_node.register
def _(op: IncSubtensor, node: FrozenApply, lowering: Lowering) -> None:
    x, y, *dynamic = node.inputs
    index = _index(op.template, x.ndim, dynamic, lowering)
    lowering.require_broadcast(y, part_lengths(op.template, lowering.shapes.lengths(x), dynamic))
    slot = lowering.builder.update(lowering.slot(x), index, lowering.slot(y), accumulate=not op.set)
    lowering.place(node.outputs[0], slot)


def _index(template: Template, ndim: int, dynamic: Sequence[Variable], lowering: Lowering) -> Index:
    """An entry for every dimension, in sizes."""
    operands = iter(lowering.sizes(dynamic))

    def size(bound: int | str) -> int:
        return next(operands) if bound == DYNAMIC else lowering.builder.size_literal(int(bound))

    index: Index = []
    for entry in template:
        if isinstance(entry, tuple):
            start, stop, step = entry
            index.append(
                (
                    None if start is None else size(start),
                    None if stop is None else size(stop),
                    size(1 if step is None else step),
                )
            )
        else:
            index.append(size(entry))
    whole = (None, None, lowering.builder.size_literal(1))
    return index + [whole] * (ndim - len(index))
