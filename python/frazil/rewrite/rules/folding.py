"""Constant folding: nodes that depend on constants only are computed once, by the op itself.

A distinct buffer is not folded, since it may be written over. But a node that only reads it may
read its values from a constant instead. So the rule is about the reading node: a node that updates
the buffer keeps it, and so does a view, whose readers decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import frazil.tensor as ft
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.answers import values_of
from frazil.inner.inner_graph import HasInnerGraph
from frazil.random.draw import Drawing
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import reads_buffer
from frazil.rewrite.sort import Known, Tensor
from frazil.rewrite.wildcard import anything
from frazil.scalar import ScalarLoop
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.updates import updated_operand

MAX_ELEMENTS = 1024
"""The largest result for any constants: a larger array is cheaper to compute than to keep."""

MAX_DATA = 1 << 20
"""The largest result that is not larger than its operands, such as a function of data."""

MAX_VIEWS = 16
"""The highest number of views that hide a buffer; the core's guard stops there, too."""

MAX_STEPS = 1000
"""Scalar loops that may take more steps are left to native code."""


def _elements(kind: TensorType) -> float:
    """The number of elements; infinite if it depends on values."""
    return math.prod(math.inf if n is None else n for n in kind.shape)


def _is_worth_keeping(node: FrozenApply, operands: Sequence[Constant]) -> bool:
    made = max(_elements(kind) for kind in node.output_types)
    read = max((x.data.size for x in operands), default=0)
    if max(made, read) <= MAX_ELEMENTS:
        return True
    if node.op.view_map or isinstance(node.op, HasInnerGraph) or _is_loop(node):
        return False  # a view costs nothing, and loops may take long
    return made <= read <= MAX_DATA


def is_folded(c: Constant) -> bool:
    """Whether an elementwise op applied to ``c`` alone is folded."""
    return c.data.size <= MAX_DATA


def _is_loop(node: FrozenApply) -> bool:
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ScalarLoop)


def _values(node: FrozenApply) -> list[Constant] | None:
    """The values of the node's outputs, if its inputs are constants and they are worth keeping."""
    operands = [x for x in node.inputs if isinstance(x, Constant)]
    if len(operands) < len(node.inputs) or isinstance(node.op, Drawing):
        return None
    if not _is_worth_keeping(node, operands):
        return None
    if _is_loop(node) and operands[0].data.max(initial=0) > MAX_STEPS:
        return None
    try:
        values = values_of(node, [x.data for x in operands])
    except Exception:
        # An op that fails is left to fail when the graph runs, if it runs.
        return None
    results = []
    for kind, value in zip(node.output_types, values, strict=True):
        constant = ft.constant(value)
        if not kind.accepts(constant.type):
            return None
        results.append(constant)
    return results


def _value(
    node: FrozenApply, first: Constant, rest: Sequence[Constant]
) -> Sequence[Variable] | None:
    return _values(node)


@rule
def fold(x: Known, *rest: Known) -> Law:
    """f(c, ...) is a constant if f's outputs follow from its inputs."""
    return anything(x, *rest), _value


def _unshared(x: Variable) -> Variable:
    """The values of ``x``, a buffer or a view of one, without the buffer; else ``x`` itself."""
    views: list[FrozenApply] = []
    node = x.owner
    while node is not None and node.distinct is None:
        if len(node.outputs) > 1 or node.op.view_map != {0: [0]} or len(views) == MAX_VIEWS:
            return x
        views.append(node)
        node = node.inputs[0].owner
    if node is None or not node.op.pure:
        return x
    if isinstance(node.op, Full):
        source = FrozenApply(BroadcastTo(), node.inputs, node.output_types).outputs[0]
    elif len(node.outputs) == 1 and (constants := _values(node)) is not None:
        source = constants[0]
    else:
        return x
    for view in reversed(views):
        source = view.clone_with_new_inputs([source, *view.inputs[1:]]).outputs[0]
    return source


def _read_elsewhere(
    node: FrozenApply, first: Variable, rest: Sequence[Variable]
) -> Sequence[Variable] | None:
    updated = updated_operand(node.op)
    inputs = [x if at == updated else _unshared(x) for at, x in enumerate(node.inputs)]
    return None if inputs == list(node.inputs) else node.clone_with_new_inputs(inputs).outputs


@rule
def read_buffer(x: Tensor, *rest: Tensor) -> Law:
    """f(b, ...) == f(c, ...) if f only reads buffer b, whose values c are known or all one."""
    return anything(x, *rest), _read_elsewhere, reads_buffer()


RULES = (fold, read_buffer)
