"""Vector-Jacobian products of elementwise ops: of scalar ops, with a graph or without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable
from frazil.gradient.answers import check_partial, elementwise_gradients
from frazil.gradient.registry import Pullback, pullback_rule
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import constant
from frazil.scalar.elementary import Elementary
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.op import GradientFunction, ScalarOp
from frazil.tensor.broadcasting import broadcast_length, unbroadcast

Seeds: TypeAlias = Sequence[Variable | None]
"""The gradients of outputs; None where an output has none."""

Wanted: TypeAlias = Sequence[bool]
"""For each input whether its gradient is needed."""

GraphRule: TypeAlias = Callable[[Variables, Variables, Seeds, Wanted], Gradients]
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
    inputs: Variables,
    outputs: Variables,
    output_gradients: Seeds,
    wanted: Wanted,
    folded: dict[Variable, Constant] | None = None,
) -> Gradients:
    """Return the gradients of the wanted inputs, given those of the outputs; None: there is none.

    A gradient that is constant along a dimension may have length 1 there, or lack a dimension in
    front. Constants that follow from a constant gradient are folded; ``folded`` keeps them for the
    other nodes of one walk, in which the same few come all the time.
    """
    scalar_op = op.scalar_op
    gradient = scalar_op.gradient
    rule = graph_rule(scalar_op) if gradient is None else None
    if rule is not None:
        pulled = rule(inputs, outputs, output_gradients, wanted)
    elif isinstance(scalar_op, Elementary):
        pulled = _pull_by_row(op, gradient, inputs, outputs, output_gradients, wanted)
    else:  # a user wrote the gradient
        pulled = _core.at_lines_of_others(
            _pull_by_row, op, gradient, inputs, outputs, output_gradients, wanted
        )
    if len(outputs) > 1 or not isinstance(output_gradients[0], Constant):
        return pulled
    leaves, known = (*inputs, *outputs), {} if folded is None else folded
    return [x if x is None or x.owner is None else _fold(x, leaves, known) for x in pulled]


def _pull_by_row(
    op: Elemwise,
    gradient: GradientFunction | None,
    inputs: Variables,
    outputs: Variables,
    output_gradients: Seeds,
    wanted: Wanted,
) -> Gradients:
    """Return the gradients that the row of a scalar op gives."""
    if gradient is None or len(outputs) > 1:
        own = type(op.scalar_op)
        advice = "" if len(outputs) > 1 else f": define gradient in {own.__qualname__}"
        raise NotImplementedError(f"the gradient of {op} is not known{advice}")
    (output,), (g,) = outputs, output_gradients
    if g is None:
        return [None] * len(inputs)
    ones, shape = output.broadcastable, output.type.shape
    results: list[Variable | None] = []
    given = gradient(inputs, output, g)
    if type(given) is not list or len(given) != len(inputs):
        given = elementwise_gradients(op, given, inputs)
    for value, x, want in zip(given, inputs, wanted, strict=True):
        if value is None or not want:
            results.append(None)
            continue
        # A scalar op may return a function, which is called only if the gradient is wanted.
        partial = value if isinstance(value, Variable) or not callable(value) else value()
        if not isinstance(partial, Variable) or partial.type.shape != shape:
            check_partial(op, len(results), partial, output)
        if x.broadcastable != ones:
            partial = unbroadcast(partial, x, ones, _lengths_of(inputs, output.ndim))
        results.append(partial)
    return results


def _lengths_of(inputs: Variables, ndim: int) -> Callable[[int], Variable]:
    """The lengths of a result of ``ndim`` dimensions, by axis."""
    return lambda axis: broadcast_length(inputs, axis - ndim)


def _fold(x: Variable, leaves: Sequence[Variable], known: dict[Variable, Constant]) -> Variable:
    """Return ``x`` with arithmetic on constants, which a constant gradient leads to, folded."""
    result = known.get(x)
    if result is None:
        found = _folded(x, leaves)
        if not isinstance(found, Constant):
            return found
        result = known[x] = found
    return result


def _folded(x: Variable, leaves: Sequence[Variable]) -> Variable:
    node = x.owner
    if node is None:
        return x
    inputs = list(node.inputs)
    if isinstance(node.op, Elemwise) and all(y.owner is None or y in leaves for y in inputs):
        return _fold_elementwise(node, inputs)
    folded: dict[Variable, Variable] = {}
    for node in _core.toposort([x], leaves):
        inputs = [folded.get(variable, variable) for variable in node.inputs]
        if isinstance(node.op, Elemwise):
            folded[node.outputs[0]] = _fold_elementwise(node, inputs)
        elif inputs != list(node.inputs):
            new = node.clone_with_new_inputs(inputs)
            folded.update(zip(node.outputs, new.outputs, strict=True))
    return folded.get(x, x)


def _fold_elementwise(node: FrozenApply, inputs: list[Variable]) -> Variable:
    op, output = node.op.scalar_op, node.outputs[0]
    numbers = [x for x in inputs if isinstance(x, Constant) and x.ndim == 0]
    if len(numbers) == len(inputs):
        values = [x.data for x in numbers]
        if not isinstance(op, Elementary):
            return constant(op.compute(output.dtype, *values))
        held = tuple((value.dtype.char, value.tobytes()) for value in values)
        return constant(_computed(op, output.dtype, held))
    if not numbers and inputs == list(node.inputs):
        return output
    if op is scalar.mul:
        for factor, other in (inputs, inputs[::-1]):
            if isinstance(factor, Constant) and other.dtype == output.dtype:
                number = factor.number
                if number == 1:
                    return other
                if number == -1:
                    return _core.elemwise(scalar.neg, other)
    if inputs == list(node.inputs):
        return output
    return node.clone_with_new_inputs(inputs).outputs[0]


@lru_cache(1024)
def _computed(op: Elementary, result: str, operands: tuple[tuple[str, bytes], ...]) -> Array:
    """Return an op's result for numbers, told by their bytes: the same few come all the time."""
    return op.compute(result, *(np.frombuffer(held, kind)[0] for kind, held in operands))
