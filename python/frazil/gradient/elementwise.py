"""Vector-Jacobian products of elementwise ops: of scalar ops, with a graph or without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import TypeAlias

from frazil._core import Variable
from frazil.gradient.answers import check_partial, elementwise_gradients
from frazil.gradient.registry import Pullback, pullback_rule
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.op import ScalarOp
from frazil.tensor.broadcasting import broadcast_length, unbroadcast

Outputs: TypeAlias = Sequence[Variable]

GraphRule: TypeAlias = Callable[
    [Sequence[Variable], Outputs, Sequence[Variable | None], Sequence[bool]],
    list[Variable | None],
]
"""``(inputs, outputs, output_gradients, wanted)`` to the gradients of the wanted inputs."""


@singledispatch
def graph_rule(op: ScalarOp) -> GraphRule | None:
    """Return the rule for a scalar op that holds a graph; None if the op has ``gradient``."""
    return None


@pullback_rule.register
def _(op: Elemwise) -> Pullback:
    return lambda inputs, outputs, output_gradients: pull_elementwise(
        op, inputs, outputs, output_gradients, [True] * len(inputs)
    )


def pull_elementwise(
    op: Elemwise,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable | None],
    wanted: Sequence[bool],
) -> list[Variable | None]:
    """Return the gradients of the wanted inputs, given those of the outputs; None: there is none.

    A gradient that is constant along a dimension may have length 1 there, or lack a dimension in
    front.
    """
    rule = graph_rule(op.scalar_op)
    if rule is not None:
        return rule(inputs, outputs, output_gradients, wanted)
    gradient = op.scalar_op.gradient
    if gradient is None or len(outputs) > 1:
        raise NotImplementedError(f"the gradient of {op} is not known")
    (output,), (g,) = outputs, output_gradients
    if g is None:
        return [None] * len(inputs)
    ndim, ones = output.ndim, output.broadcastable
    results: list[Variable | None] = []
    given = elementwise_gradients(op, gradient(inputs, output, g), inputs)
    for at, (x, value, want) in enumerate(zip(inputs, given, wanted, strict=True)):
        if value is None or not want:
            results.append(None)
            continue
        # A scalar op may return a function, which is called only if the gradient is wanted.
        partial = value() if callable(value) else value
        check_partial(op, at, partial, output)
        results.append(
            unbroadcast(partial, x, ones, lambda axis: broadcast_length(inputs, axis - ndim))
        )
    return results
