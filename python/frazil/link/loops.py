"""From a loop of nodes to a kernel, and which variables its reads and writes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from frazil import scalar
from frazil._core import Constant, FrozenApply, Variable
from frazil.link.fusion import Loop, pattern
from frazil.link.kernel import Literal, LoopKernel, Read, Statement, Write
from frazil.link.views import REPEATED, Axes, Views
from frazil.scalar import ScalarOp
from frazil.tensor.reductions import Reduce

Value = tuple[OneOf["read", "literal", "statement"], int]


@dataclass(frozen=True)
class Output:
    """A variable that a loop writes; for each dimension of the loop its axis there, or REPEATED."""

    variable: Variable
    axes: Axes
    identity: bool | int | float | None


@dataclass(frozen=True)
class KernelCall:
    """A kernel and what it is applied to; dimensions known to have length 1 are not looped over."""

    loop: Loop
    kernel: LoopKernel
    reads: tuple[tuple[Variable, Axes], ...]
    outputs: tuple[Output, ...]


def kernel_call(loop: Loop, stored: set[Variable], views: Views) -> KernelCall:
    """The kernel that runs ``loop``, storing what is in ``stored`` and every reduction."""
    reads: dict[tuple[Variable, Axes], int] = {}
    literals: dict[Constant, int] = {}
    statements: dict[Variable, int] = {}
    operands: list[tuple[ScalarOp, list[Value], str]] = []
    outputs: list[Output] = []
    values: list[tuple[Value, str | None]] = []

    def operand(x: Variable, node: FrozenApply) -> Value:
        made = loop.makes(x, views)
        if made is not None:
            return "statement", statements[made]
        base, axes = views.look_through(x)
        if isinstance(base, Constant) and base.ndim == 0:
            return "literal", literals.setdefault(base, len(literals))
        over = pattern(node)
        aligned = (REPEATED,) * (over.ndim - x.ndim) + axes
        return "read", reads.setdefault((base, _moving(aligned, over)), len(reads))

    for node in loop.nodes:
        output = node.outputs[0]
        args = [operand(x, node) for x in node.inputs]
        if isinstance(node.op, Reduce):
            (over,) = node.inputs
            axes = [REPEATED if axis in node.op.axes else axis for axis in range(over.ndim)]
            outputs.append(
                Output(output, _moving(tuple(axes), over), node.op.identity(output.dtype))
            )
            values.append((args[0], node.op.fold))
            continue
        statements[output] = len(statements)
        operands.append((*cheaper(node.op.scalar_op, args, node.inputs), output.dtype))
        if output in stored:
            outputs.append(Output(output, _moving(tuple(range(output.ndim)), output), None))
            values.append((("statement", statements[output]), None))
    first = {"read": 0, "literal": len(reads), "statement": len(reads) + len(literals)}

    def number(value: Value) -> int:
        return first[value[0]] + value[1]

    kernel = LoopKernel(
        tuple(Read(base.dtype, _inner(axes)) for base, axes in reads),
        tuple(Literal(constant.dtype, constant.data.item()) for constant in literals),
        tuple(Statement(op, tuple(map(number, args)), dtype) for op, args, dtype in operands),
        tuple(
            Write(number(value), output.variable.dtype, _inner(output.axes), fold)
            for output, (value, fold) in zip(outputs, values, strict=True)
        ),
    )
    return KernelCall(loop, kernel, tuple(reads), tuple(outputs))


def cheaper(
    op: ScalarOp, args: list[Value], inputs: Sequence[Variable]
) -> tuple[ScalarOp, list[Value]]:
    """An op with the same value that costs less, where the operands tell of one.

    x ** 2 == x * x and x ** -1 == 1 / x, both within half a unit in the last place.
    """
    if op is scalar.pow and isinstance(inputs[1], Constant) and inputs[1].ndim == 0:
        exponent = inputs[1].data.item()
        if inputs[0].dtype == inputs[1].dtype:
            if exponent == 2:
                return scalar.sqr, args[:1]
            if exponent == -1 and inputs[0].dtype.startswith("float"):
                return scalar.reciprocal, args[:1]
    return op, args


def _moving(axes: Axes, over: Variable) -> Axes:
    """``axes`` without the dimensions that are known to have length 1."""
    return tuple(axis for axis, static in zip(axes, over.type.shape, strict=True) if static != 1)


def _inner(axes: Axes) -> bool:
    return bool(axes) and axes[-1] != REPEATED
