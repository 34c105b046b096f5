"""The state of lowering one graph: its program so far, and the slot of each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Program, Variable
from frazil.link.fusion.segments import Segmentation
from frazil.link.fusion.short import SHORT_ROW
from frazil.link.fusion.views import REPEATED
from frazil.link.kernel.compiler import NativeKernel
from frazil.link.kernel.passes import plan
from frazil.link.lowering.inner import Inner
from frazil.link.lowering.loop_kernels import IndexedOperand, KernelCall
from frazil.link.lowering.origin import Origin
from frazil.tensor.advanced_indexing import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    index_lengths,
)
from frazil.tensor.lengths import Lengths, Shape_i
from frazil.tensor.reductions import Reduce
from frazil.tensor.shapes import find_after_operands


class Lowering:
    """The state of lowering one graph: its program so far, and the slot of each variable."""

    def __init__(
        self,
        graph: FrozenFunctionGraph,
        cut: Segmentation,
        donated: Sequence[Variable] = (),
        *,
        checked: bool = False,
    ) -> None:
        self.checked = checked
        self.programs: Mapping[Inner, Program] = {}
        self.schedule = cut.schedule
        self._outputs = frozenset(graph.outputs)
        self.shapes = cut.shapes
        self.builder = _core.ProgramBuilder()
        if checked:
            self.builder.watch()
        self._slots: dict[Variable, int] = {}
        self._sizes: dict[Variable, int] = {}
        for nominal in graph.inputs:
            self._slots[nominal] = self.builder.input(nominal.type)
        for x in donated:
            self.builder.donate(self._slots[x])

    def inner_program(self, graph: FrozenFunctionGraph, donated: Sequence[int] = ()) -> Program:
        """The program of one of :func:`~frazil.link.lowering.inner.inner_graphs`."""
        return self.programs[graph, tuple(donated)]

    def needs_buffer(self, x: Variable) -> bool:
        """Whether ``x`` needs memory of its own: it is written over, or an output of the graph."""
        return x in self.schedule.written or x in self._outputs

    def slot(self, x: Variable) -> int:
        """The slot of ``x``, which is a constant, a length or has a slot already."""
        if x not in self._slots:
            if isinstance(x, Constant):
                self._slots[x] = self.builder.constant(x.data)
            elif x.owner is not None and isinstance(x.owner.op, Shape_i):
                self._slots[x] = self.builder.size_scalar(self.size(x))
        return self._slots[x]

    def set_slot(self, x: Variable, slot: int) -> None:
        """Note that ``slot`` holds ``x``."""
        self._slots[x] = slot

    def sizes(self, lengths: Sequence[Variable]) -> list[int]:
        """The sizes with the values of ``lengths``."""
        return [self.size(length) for length in lengths]

    def size(self, length: Variable) -> int:
        """The size with the value of ``length``."""
        return find_after_operands(self.shapes.canonical(length), self._sizes, self._make_size)

    def _make_size(self, length: Variable, operands: Lengths) -> int:
        if isinstance(length, Constant):
            return self.builder.size_literal(int(length.data))
        node = length.owner
        if node is not None and isinstance(node.op, Shape_i):
            return self.builder.size_of(self.slot(node.inputs[0]), node.op.axis)
        if node is None or not operands:
            return self.builder.size_value(self.slot(length))
        sizes = [self._sizes[x] for x in operands]
        if node.op.scalar_op.table_name == "where":
            condition, then, otherwise = sizes
            return self.builder.size_where(condition, then, otherwise)
        a, b = sizes
        return self.builder.size_binary(node.op.scalar_op.table_name, a, b)

    def run_loop(
        self, call: KernelCall, native: NativeKernel, short: NativeKernel | None = None
    ) -> None:
        """Add the call of a loop kernel, and the dimensions of length 1 that it leaves out.

        ``short`` is the kernel for a short last dimension.
        """
        over = call.loop.domain
        self.builder.origin(Origin(call.loop.nodes))
        dims = [
            self.size(length)
            for length, static in zip(self.shapes.lengths(over), over.type.shape, strict=True)
            if static != 1
        ]
        if call.row is not None:
            dims.append(dims.pop(call.row))
        if call.kernel.reduces or call.sources or call.targets:
            self._require_sound_operands(call.loop.nodes)
        if self.shapes.required:
            self._require_equal_lengths((*call.again, *call.loop.nodes))
            self.builder.origin(Origin(call.loop.nodes))
        slots = self.builder.loop(
            native.address,
            native.keepalive,
            dims,
            [(self.slot(x), axes) for x, axes in call.reads],
            [
                (output.variable.dtype, _numbered(output.axes), output.reduction)
                for output in call.outputs
            ],
            [call.kernel.dtypes[k] for k in plan(call.kernel).buffers]
            if call.kernel.takes_rows
            else None,
            [self._indexed(source) for source in call.sources],
            [
                (*self._indexed(target), put.reduce is not None)
                for (_, target), put in zip(call.targets, call.kernel.puts, strict=True)
            ],
            None if short is None else (short.address, short.keepalive, SHORT_ROW),
        )
        for (variable, _), slot in zip(call.targets, slots[len(call.outputs) :], strict=True):
            self.set_slot(variable, slot)
        for output, slot in zip(call.outputs, slots, strict=False):
            ones = [axis for axis, n in enumerate(output.variable.type.shape) if n == 1]
            self.set_slot(output.variable, self.builder.expand_dims(slot, ones) if ones else slot)

    def _require_sound_operands(self, nodes: Sequence[FrozenApply]) -> None:
        """Add checks of reductions that need elements, and of indices that broadcast."""
        for node in nodes:
            op = node.op
            if isinstance(op, Reduce) and op.needs_elements:
                self.require_elements(node, op.axes)
            if isinstance(op, (AdvancedSubtensor, AdvancedIncSubtensor)):
                self._require_joint_indices(node)

    def _indexed(self, of: IndexedOperand) -> tuple[int, Sequence[int], Sequence[int]]:
        return self.slot(of.variable), of.axes, of.indexed

    def _require_equal_lengths(self, nodes: Sequence[FrozenApply]) -> None:
        """Add checks of lengths that the arrays which a loop reads do not tell."""
        for node in nodes:
            for one in self.shapes.required.get(node, ()):
                self.builder.origin(Origin((node,)))
                self.builder.require_equal(
                    self.size(one.length),
                    self.size(one.expected),
                    f"operand {one.operand} has length {{a}} along axis {one.axis} where {{b}} is "
                    "expected; a dimension broadcasts only where its type says 1",
                )

    def _require_joint_indices(self, node: FrozenApply) -> None:
        """Add checks that the index arrays of ``node`` have the lengths that they broadcast to."""
        indices = node.inputs[1 if isinstance(node.op, AdvancedSubtensor) else 2 :]
        own = [self.shapes.lengths(index) for index in indices]
        joint = index_lengths(indices, own)
        for index, shape in zip(indices, own, strict=True):
            for axis in range(-index.ndim, 0):
                length, expected = map(self.shapes.canonical, (shape[axis], joint[axis]))
                if index.broadcastable[axis] or length is expected:
                    continue
                self.builder.require_indices(
                    self.size(length),
                    self.size(expected),
                    f"index arrays do not broadcast together: along dimension {axis}, {index} has "
                    "length {a} where another has {b}, and a length 1 broadcasts only where the "
                    "type declares it",
                )

    def require_broadcast(self, x: Variable, target: Sequence[Variable]) -> None:
        """Add checks that ``x`` has the lengths of ``target``, except where its type says 1."""
        own = self.shapes.lengths(x)
        for axis in range(-x.ndim, 0):
            if x.broadcastable[axis]:
                continue
            length, expected = (self.shapes.canonical(each[axis]) for each in (own, target))
            if length is not expected:
                self.builder.require_equal(
                    self.size(length),
                    self.size(expected),
                    f"{x} does not broadcast along dimension {axis}: its length is {{a}} where "
                    "{b} is expected, and a length 1 broadcasts only where the type declares it, "
                    "as in ft.tensor(shape=(None, 1))",
                )

    def require_elements(self, node: FrozenApply, axes: Sequence[int]) -> None:
        """Add checks that the operand of ``node`` has elements along ``axes``."""
        lengths = self.shapes.lengths(node.inputs[0])
        for axis in axes:
            size = self.size(lengths[axis])
            at_least_one = self.builder.size_binary("maximum", size, self.builder.size_literal(1))
            self.builder.require_equal(
                size,
                at_least_one,
                f"{node.op}: {{a}} elements along axis {axis}, and no identity to start from",
            )


def _numbered(axes: Sequence[int]) -> list[int]:
    """``axes`` renumbered from 0 without gaps; repeated ones stay."""
    kept = sorted(axis for axis in axes if axis != REPEATED)
    return [REPEATED if axis == REPEATED else kept.index(axis) for axis in axes]
