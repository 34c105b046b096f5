"""From a loop of nodes to a kernel, and which variables its reads and writes are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as OneOf

from frazil._core import Constant, FrozenApply, Variable
from frazil.link.fusion import Loop, pattern
from frazil.link.kernel import Fold, Literal, LoopKernel, Read, Statement, Write
from frazil.link.recompute import Recompute
from frazil.link.views import REPEATED, Axes, Views
from frazil.scalar import ScalarOp
from frazil.tensor.reductions import Reduce

SHORT = 16
"""Terms up to which a sum is not worth a loop of its own."""

Value = tuple[OneOf["read", "literal", "statement"], int]


@dataclass(frozen=True)
class Output:
    """A variable that a loop writes; for each dimension of the loop its axis there, or REPEATED.

    ``reduction``: of one, what it starts from and the name of its scalar op.
    """

    variable: Variable
    axes: Axes
    reduction: tuple[bool | int | float, str] | None


@dataclass(frozen=True)
class KernelCall:
    """A kernel and what it is applied to; dimensions known to have length 1 are not looped over.

    ``order`` lists the others as the kernel goes through them, outermost first.
    """

    loop: Loop
    kernel: LoopKernel
    reads: tuple[tuple[Variable, Axes], ...]
    outputs: tuple[Output, ...]
    order: tuple[int, ...]


def kernel_call(
    loop: Loop, stored: set[Variable], views: Views, recompute: Recompute
) -> KernelCall:
    """The kernel that runs ``loop``, storing what is in ``stored`` and every other reduction."""
    return _Assembly(loop, stored, views, recompute).call()


class _Assembly:
    """A kernel that grows node by node."""

    def __init__(
        self, loop: Loop, stored: set[Variable], views: Views, recompute: Recompute
    ) -> None:
        self.loop = loop
        self.stored = stored
        self.views = views
        self.recompute = recompute
        self.reads: dict[tuple[Variable, Axes], int] = {}
        self.literals: dict[Literal, int] = {}
        self.statements: dict[Variable, int] = {}
        self.again: dict[tuple[Variable, Axes], Value] = {}
        self.made: list[tuple[ScalarOp | str, list[Value], str]] = []
        self.outputs: list[Output] = []
        self.values: list[tuple[Value, str | None]] = []
        used = (loop.makes(x, node, views) for node in loop.nodes for x in node.inputs)
        self.needed = frozenset(made for made in used if made is not None)

    def call(self) -> KernelCall:
        """The kernel and its operands."""
        for node in self.loop.nodes:
            if isinstance(node.op, Reduce):
                self._reduce(node)
            else:
                args = [self._operand(x, node) for x in node.inputs]
                self._state(node.outputs[0], node.op.scalar_op, args)
                self._store(node.outputs[0])
        first = {
            "read": 0,
            "literal": len(self.reads),
            "statement": len(self.reads) + len(self.literals),
        }

        def number(value: Value) -> int:
            return first[value[0]] + value[1]

        def statement(what: ScalarOp | str, args: list[Value], dtype: str) -> Statement | Fold:
            if isinstance(what, str):
                start, arg = map(number, args)
                return Fold(what, start, arg, dtype)
            return Statement(what, tuple(map(number, args)), dtype)

        order = self._order()
        reads = tuple((base, _in_order(axes, order)) for base, axes in self.reads)
        outputs = tuple(
            replace(output, axes=_in_order(output.axes, order)) for output in self.outputs
        )
        kernel = LoopKernel(
            tuple(Read(base.dtype, _inner(axes)) for base, axes in reads),
            tuple(self.literals),
            tuple(statement(*made) for made in self.made),
            tuple(
                Write(number(value), output.variable.dtype, _inner(output.axes), fold)
                for output, (value, fold) in zip(outputs, self.values, strict=True)
            ),
        )
        return KernelCall(self.loop, kernel, reads, outputs, order)

    def _order(self) -> tuple[int, ...]:
        """The order of the dimensions: their own, but a few terms are not summed innermost.

        Reducing over a short last dimension costs more for each result than for its terms. Where no
        operand moves along all dimensions, as in distances between points, results lie side by side
        in another dimension as well; the terms are added to a whole row of them in turn.
        """
        lengths = [n for n in self.loop.pattern.type.shape if n != 1]
        order = tuple(range(len(lengths)))
        short = len(order) > 2 and (n := lengths[-1]) is not None and n <= SHORT
        if not short or self.loop.of_rows:
            return order
        summed = all(
            output.reduction is not None and output.axes[-1] == REPEATED != output.axes[-2]
            for output in self.outputs
        )
        spread = all(REPEATED in axes[:-1] for _, axes in self.reads)
        return (*order[:-2], order[-1], order[-2]) if summed and spread else order

    def _operand(self, x: Variable, node: FrozenApply) -> Value:
        made = self.loop.makes(x, node, self.views)
        if made is not None:
            return "statement", self.statements[made]
        base, axes = self.views.look_through(x)
        over = pattern(node)
        axes = _moving((REPEATED,) * (over.ndim - x.ndim) + axes, over)
        if node in self.loop.of_rows:
            axes = (*axes, REPEATED)
        return self._from_outside(base, axes)

    def _from_outside(self, base: Variable, axes: Axes) -> Value:
        """A variable that the loop does not make, or computes again."""
        pending = [(base, axes)]
        while pending:
            now, over = pending[-1]
            if now not in self.recompute or (now, over) in self.again:
                pending.pop()
                continue
            node = now.owner
            assert node is not None
            operands = [self._beneath(x, now, over) for x in node.inputs]
            missing = [
                (x, own)
                for x, own in operands
                if x in self.recompute and (x, own) not in self.again
            ]
            if missing:
                pending += missing
                continue
            args = [self._plain(x, own) for x, own in operands]
            self.again[now, over] = "statement", len(self.made)
            self.made.append((node.op.scalar_op, args, now.dtype))
        return self._plain(base, axes)

    def _beneath(self, x: Variable, base: Variable, axes: Axes) -> tuple[Variable, Axes]:
        """What an operand of the node of ``base`` is a view of, and how it moves where ``base``
        moves like ``axes``.
        """
        own, inner = self.views.look_through(x)
        offset = base.ndim - x.ndim
        return own, tuple(
            inner[axis - offset] if axis != REPEATED and axis >= offset else REPEATED
            for axis in axes
        )

    def _plain(self, base: Variable, axes: Axes) -> Value:
        """A value computed again already, a literal or a read."""
        again = self.again.get((base, axes))
        if again is not None:
            return again
        if isinstance(base, Constant) and base.ndim == 0:
            return self._literal(Literal(base.dtype, base.data.item()))
        return "read", self.reads.setdefault((base, axes), len(self.reads))

    def _literal(self, literal: Literal) -> Value:
        return "literal", self.literals.setdefault(literal, len(self.literals))

    def _state(self, output: Variable, what: ScalarOp | str, args: list[Value]) -> None:
        """Add a statement."""
        self.statements[output] = len(self.made)
        self.made.append((what, args, output.dtype))

    def _store(self, output: Variable) -> None:
        """Add a write of a value of the loop if it is stored."""
        if output in self.stored:
            axes = _moving(tuple(range(output.ndim)), output)
            if output in self.loop.row_values:
                axes = (*axes, REPEATED)
            self.outputs.append(Output(output, axes, None))
            self.values.append((("statement", self.statements[output]), None))

    def _reduce(self, node: FrozenApply) -> None:
        """Add a reduction: as a value of the loop if that needs it, else as a write."""
        (over,), (output,) = node.inputs, node.outputs
        value = self._operand(over, node)
        identity = node.op.identity(output.dtype)
        if output in self.needed:
            start = self._literal(Literal(output.dtype, identity))
            self._state(output, node.op.fold, [start, value])
            self._store(output)
            return
        axes = [REPEATED if axis in node.op.axes else axis for axis in range(over.ndim)]
        reduction = identity, node.op.fold
        self.outputs.append(Output(output, _moving(tuple(axes), over), reduction))
        self.values.append((value, node.op.fold))


def _moving(axes: Axes, over: Variable) -> Axes:
    """``axes`` without the dimensions that are known to have length 1."""
    return tuple(axis for axis, static in zip(axes, over.type.shape, strict=True) if static != 1)


def _in_order(axes: Axes, order: tuple[int, ...]) -> Axes:
    # The axes of whole rows have one entry more than dimensions are looped over.
    return tuple(axes[dim] for dim in order) + axes[len(order) :]


def _inner(axes: Axes) -> bool:
    return bool(axes) and axes[-1] != REPEATED
