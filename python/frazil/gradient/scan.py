"""The gradient of a loop: a loop that goes back.

The loop back starts from the gradients of the last states. Each of its steps computes the step of
the loop anew from the states before it, which the loop gives out for that, and pulls gradients
through it. What is dear to compute, such as a product of matrices, is given out too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, Variable
from frazil.gradient.inner_graphs import pull
from frazil.gradient.kinds import is_continuous, is_zero
from frazil.gradient.registry import Pullback, pullback_rule
from frazil.inner.inner_graph import HasInnerGraph
from frazil.scalar.elemwise import Elemwise
from frazil.scan.body import Body
from frazil.scan.op import Scan
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from frazil.tensor.broadcasting import BroadcastTo, broadcast_like, broadcast_to, typed_as
from frazil.tensor.cumulation import CumOp
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.elementwise.arithmetic import minimum
from frazil.tensor.elementwise.choice import where
from frazil.tensor.indexing import IncSubtensor, Subtensor
from frazil.tensor.items import set_subtensor
from frazil.tensor.joining import Join
from frazil.tensor.lengths import Shape_i, lengths
from frazil.tensor.reductions import Reduce
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

CHEAP = (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    BroadcastTo,
    CumOp,
    DropDims,
    Elemwise,
    ExpandDims,
    HasInnerGraph,
    IncSubtensor,
    Join,
    Reduce,
    Reshape,
    Shape_i,
    Subtensor,
    Transpose,
)
"""Ops whose results are computed again rather than kept for the way back.

A loop within a step is among them: what it would keep is what a checkpoint saves.
"""


@pullback_rule.register
def _(op: Scan) -> Pullback:
    return partial(pull_back, op)


def pull_back(
    op: Scan,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable],
) -> list[Variable | None]:
    """Return the gradients of a loop's inputs, given those of its outputs."""
    n_steps, operands = inputs[0], inputs[1:]
    n_seq, n_st = op.n_sequences, op.n_states
    given_states = output_gradients[:n_st]
    given_rows = output_gradients[n_st : n_st + len(op.stacked)]
    step = Body.of(op, inputs)
    rows = [
        None if not is_continuous(y) or is_zero(g) else y.type(None)
        for y, g in zip(step.stacked, given_rows, strict=True)
    ]
    ending = {k for k, g in enumerate(given_states) if not is_zero(g)}
    pulled, adjoints = _pulled(step, rows, ending)
    if not any(g is not None for g in pulled):
        return [None] * len(inputs)
    elements, others = list(step.sequences), list(step.others)
    states = [state.inner for state in step.states]
    by_element, by_state, by_other = (
        pulled[:n_seq],
        pulled[n_seq : n_seq + n_st],
        pulled[n_seq + n_st :],
    )
    sums = {k: other.type(None) for k, other in enumerate(others) if by_other[k] is not None}
    new_states = [typed_as(_or_zeros(by_state[k], states[k]), states[k]) for k in adjoints]
    new_states += [typed_as(total + _known(by_other[k]), total) for k, total in sums.items()]
    stacked = [g for g in by_element if g is not None]

    # The loop again, with what its steps need on the way back.
    back = [*new_states, *stacked]
    kept = _kept(back, step)
    needed = set(_leaves(back, kept))
    before = [x for x in states if x in needed]
    saved = [*before, *kept]
    steps = n_steps
    if saved or op.until:
        wider = FrozenFunctionGraph(
            step.inputs, [*step.nexts, *step.stacked, *saved, *step.conditions]
        )
        loop = replace(op, fgraph=wider)
        made = loop.make_node(n_steps, *operands).outputs
        first = n_st + len(step.stacked)
        told = list(made[first : first + len(saved)])
        if op.until:
            steps = made[-1]
    else:
        told = []
    cut = _Cut.of(op, n_steps, steps)

    sequences: list[tuple[Variable, Variable]] = [
        (inner, cut.given(outer))
        for inner, outer in zip(elements, operands, strict=False)
        if inner in needed
    ]
    sequences += [(inner, cut.stacked(outer)) for inner, outer in zip(saved, told, strict=True)]
    sequences += [
        (inner, cut.stacked(outer))
        for inner, outer in zip(rows, given_rows, strict=True)
        if inner is not None and inner in needed
    ]
    carried = [(inner, typed_as(given_states[k], inner)) for k, inner in adjoints.items()]
    carried += [(total, zeros_of(operands[n_seq + n_st + k])) for k, total in sums.items()]
    constant = [
        (inner, outer)
        for inner, outer in zip(others, operands[n_seq + n_st :], strict=True)
        if inner in needed
    ]
    entries = [*sequences, *carried, *constant]
    loop_back = Scan(
        FrozenFunctionGraph([inner for inner, _ in entries], back),
        len(sequences),
        len(carried),
        backwards=not op.backwards,
        name=None if op.name is None else f"gradient of {op.name}",
    )
    results = loop_back.make_node(cut.steps, *(outer for _, outer in entries)).outputs

    gradients: list[Variable | None] = [None] * len(inputs)
    at = iter(results)
    for k in adjoints:
        gradients[1 + n_seq + k] = cut.reached(next(at))
    for k in sums:
        gradients[1 + n_seq + n_st + k] = next(at)
    for k, g in enumerate(by_element):
        if g is not None:
            gradients[1 + k] = _of_length(cut.padded(next(at), operands[k]), operands[k])
    return gradients


def _of_length(gradient: Variable, sequence: Variable) -> Variable:
    """Return the gradient of a sequence without a length 1 that the type of this does not tell.

    A gradient whose type says 1 stands for equal values along the axis.
    """
    if gradient.type.shape[0] == 1 and sequence.type.shape[0] is None:
        return broadcast_to(gradient, lengths(sequence))
    return gradient


def _pulled(
    step: Body, rows: Sequence[Variable | None], ending: set[int]
) -> tuple[list[Variable | None], dict[int, Variable]]:
    """The gradients of a step's inputs, and the gradients of its next states that they stand on.

    ``ending``: the states whose gradient at the end is not zero.
    """
    states = [state.inner for state in step.states]
    adjoints = {k: x.type(None) for k, x in enumerate(states) if is_continuous(x)}
    while True:
        seeds = [adjoints.get(k) for k in range(len(states))]
        pulled = pull(step.inputs, [*step.nexts, *step.stacked], [*seeds, *rows])
        # The gradient of a state that none of its uses has is zero from end to start.
        idle = [k for k in adjoints if k not in ending and pulled[len(step.sequences) + k] is None]
        if not idle:
            return pulled, adjoints
        for k in idle:
            del adjoints[k]


def _kept(back: Sequence[Variable], step: Body) -> list[Variable]:
    """The results of a step that ``back`` takes from it, in the order in which they are computed.

    These are those that are dear, and those that are stacked anyway.
    """
    order = _core.toposort(step.results)
    there = set(step.stacked)
    kept = [x for node in order for x in node.outputs if x in there or not _is_cheap(node)]
    needed = set(_leaves(back, kept))
    return [x for x in kept if x in needed]


def _is_cheap(node: FrozenApply) -> bool:
    return isinstance(node.op, CHEAP)


def _leaves(outputs: Iterable[Variable], stops: Iterable[Variable]) -> list[Variable]:
    """The roots that outputs need, and those of ``stops`` that they need by way of no other."""
    ends = frozenset(stops)
    found: dict[Variable, None] = {}
    pending = list(outputs)
    while pending:
        x = pending.pop()
        if x in found:
            continue
        found[x] = None
        if x not in ends and x.owner is not None:
            pending += x.owner.inputs
    return [x for x in found if x.owner is None or x in ends]


@dataclass(frozen=True)
class _Cut:
    """Which steps a gradient goes back through: the last ones of those that were done."""

    op: Scan
    asked: Variable
    done: Variable
    steps: Variable

    @staticmethod
    def of(op: Scan, asked: Variable, done: Variable) -> _Cut:
        steps = done if op.truncate_gradient < 0 else minimum(done, op.truncate_gradient)
        return _Cut(op, asked, done, steps)

    def given(self, sequence: Variable) -> Variable:
        """The rows of a sequence for these steps."""
        if self.op.until:
            sequence = sequence[: self.done]
        return self.stacked(sequence)

    def stacked(self, rows: Variable) -> Variable:
        """Of a row for each step that was done, those of these steps."""
        if self.op.truncate_gradient < 0:
            return rows
        return rows[: self.steps] if self.op.backwards else rows[self.done - self.steps :]

    def padded(self, gradient: Variable, sequence: Variable) -> Variable:
        """The gradient of a sequence, zero in all other steps."""
        if self.steps is self.asked:
            return gradient
        part = zeros_of(sequence)
        if self.op.backwards:
            return set_subtensor(part[: self.steps], gradient)
        return set_subtensor(part[self.done - self.steps : self.done], gradient)

    def reached(self, gradient: Variable) -> Variable:
        """The gradient of an initial state: zero unless these steps are all."""
        if self.op.truncate_gradient < 0:
            return gradient
        return where(self.done <= self.op.truncate_gradient, gradient, 0)


def zeros_of(x: Variable) -> Variable:
    """Return zeros in the shape of ``x``, which are only read."""
    return broadcast_like(_core.constant(x.type.numpy_dtype.type(0)), x)


def _or_zeros(gradient: Variable | None, of: Variable) -> Variable:
    return zeros_of(of) if gradient is None else gradient


def _known(gradient: Variable | None) -> Variable:
    if gradient is None:
        raise AssertionError("a sum is over a gradient that there is")
    return gradient
