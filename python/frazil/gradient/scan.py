"""The vector-Jacobian product of a scan: a scan that goes backwards.

The backward scan starts from the gradients of the last states. Each of its steps computes the same
step again, from the states before it, and pulls gradients back through it. The forward scan stacks
these states for that, and results that are expensive to compute, such as products of matrices and
sums of their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import frazil._core as _core
from frazil._core import FrozenFunctionGraph, Variable
from frazil.gradient.inner_graphs import pull
from frazil.gradient.kinds import is_continuous, is_zero
from frazil.gradient.last_rows import last_rows_apart
from frazil.gradient.registry import Pullback, pullback_rule
from frazil.gradient.sums import sum_of
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Gradients, Variables
from frazil.scan.body import ScanBody
from frazil.scan.costs import is_worth_a_stack
from frazil.scan.op import Scan
from frazil.scan.step_shapes import StepShapes
from frazil.tensor.broadcasting import broadcast_like, broadcast_to, typed_as
from frazil.tensor.elementwise.choice import where
from frazil.tensor.elementwise.table import minimum
from frazil.tensor.index_syntax import set_subtensor
from frazil.tensor.lengths import lengths, literal
from frazil.tensor.reshaping import reshape


@pullback_rule.register
def _(op: Scan) -> Pullback:
    return partial(pull_back, op)


def pull_back(
    op: Scan, inputs: Variables, outputs: Variables, output_gradients: Variables
) -> Gradients:
    """Return the gradients of a scan's inputs, given those of its outputs."""
    gradients, min_steps = last_rows_apart(op, inputs, output_gradients)
    # The elements of a sequence have the lengths that the step's types tell.
    gradients = [
        g if is_zero(g) else typed_as(g, y) for g, y in zip(gradients, outputs, strict=True)
    ]
    backward = _BackwardStep.of(op, inputs, gradients)
    if backward is None:
        return [None] * len(inputs)
    return backward.apply(inputs, gradients, min_steps)


@dataclass(frozen=True)
class _BackwardStep:
    """One step of the backward scan, over the inner variables of the step that it differentiates.

    Its states are the adjoints of the scan's states, by their positions, and the sums of the
    gradients of non-sequences, by theirs; it stacks the gradients of sequences.
    """

    op: Scan
    body: ScanBody
    row_seeds: Sequence[Variable | None]
    adjoints: Mapping[int, Variable]
    sums: Mapping[int, Variable]
    sequence_gradients: Sequence[Variable | None]
    outputs: Sequence[Variable]

    @staticmethod
    def of(
        op: Scan, inputs: Sequence[Variable], output_gradients: Sequence[Variable]
    ) -> _BackwardStep | None:
        """The step that pulls these gradients back; None if no input has a gradient."""
        n_seq, n_st = op.n_sequences, op.n_states
        body = ScanBody.of(op, inputs)
        row_gradients = output_gradients[n_st : n_st + len(op.stacked)]
        row_seeds = [
            None if not is_continuous(y) or is_zero(g) else y.type(None)
            for y, g in zip(body.stacked, row_gradients, strict=True)
        ]
        ending = {k for k, g in enumerate(output_gradients[:n_st]) if not is_zero(g)}
        pulled, adjoints = _pulled(body, row_seeds, ending)
        if not any(g is not None for g in pulled):
            return None
        by_element, by_state = pulled[:n_seq], pulled[n_seq : n_seq + n_st]
        states = [state.inner for state in body.states]
        new_adjoints = [typed_as(_or_zeros(by_state[k], states[k]), states[k]) for k in adjoints]
        sums: dict[int, Variable] = {}
        new_sums: list[Variable] = []
        for k, (x, g) in enumerate(zip(body.non_sequences, pulled[n_seq + n_st :], strict=True)):
            if g is not None:
                sums[k] = x.type(None)
                new_sums.append(typed_as(sum_of(sums[k], g), x))
        stacked = [g for g in by_element if g is not None]
        outputs = [*new_adjoints, *new_sums, *stacked]
        return _BackwardStep(op, body, row_seeds, adjoints, sums, by_element, outputs)

    def apply(
        self, inputs: Sequence[Variable], output_gradients: Sequence[Variable], min_steps: int
    ) -> list[Variable | None]:
        """The gradients of the inputs: outputs of the backward scan."""
        op, body, operands = self.op, self.body, inputs[1:]
        n_seq, n_st = op.n_sequences, op.n_states
        shapes = StepShapes.of(body)
        kept = _kept(self.outputs, body, shapes)
        needed = set(_leaves(self.outputs, kept))
        saved = [*(state.inner for state in body.states if state.inner in needed), *kept]
        stacks, done = self._saved_stacks(inputs, saved)
        steps = _Truncation.of(op, inputs[0], done)

        sequences = [
            (inner, steps.rows_of_sequence(outer))
            for inner, outer in zip(body.sequences, operands, strict=False)
            if inner in needed
        ]
        row_gradients = output_gradients[n_st : n_st + len(op.stacked)]
        sequences += [
            (inner, steps.rows(outer))
            for inner, outer in (
                *zip(saved, stacks, strict=True),
                *zip(self.row_seeds, row_gradients, strict=True),
            )
            if inner is not None and inner in needed
        ]
        states = [(x, typed_as(output_gradients[k], x)) for k, x in self.adjoints.items()]
        states += [(total, zeros_of(operands[n_seq + n_st + k])) for k, total in self.sums.items()]
        fixed = [
            (inner, outer)
            for inner, outer in zip(body.non_sequences, operands[n_seq + n_st :], strict=True)
            if inner in needed
        ]
        entries = [*sequences, *states, *fixed]
        backward = Scan(
            FrozenFunctionGraph([inner for inner, _ in entries], self.outputs),
            len(sequences),
            len(states),
            backwards=not op.backwards,
            min_steps=min_steps,
            name=None if op.name is None else f"gradient of {op.name}",
        )
        made = backward.make_node(steps.count, *(outer for _, outer in entries)).outputs
        return self._input_gradients(iter(made), operands, steps, shapes)

    def _saved_stacks(
        self, inputs: Sequence[Variable], saved: Sequence[Variable]
    ) -> tuple[list[Variable], Variable]:
        """Stacks of ``saved`` from the scan run again with more outputs, and the steps done."""
        op, body = self.op, self.body
        if not saved and not op.until:
            return [], inputs[0]
        wider = [*body.next_states, *body.stacked, *saved, *body.conditions]
        again = replace(op, fgraph=FrozenFunctionGraph(body.inputs, wider))
        made = again.make_node(*inputs).outputs
        first = op.n_states + len(body.stacked)
        done = made[-1] if op.until else inputs[0]
        return list(made[first : first + len(saved)]), done

    def _input_gradients(
        self,
        results: Iterator[Variable],
        operands: Sequence[Variable],
        steps: _Truncation,
        shapes: StepShapes,
    ) -> list[Variable | None]:
        """The outputs of the backward scan, each at the input whose gradient it is."""
        n_seq, n_st = self.op.n_sequences, self.op.n_states
        gradients: list[Variable | None] = [None] * (1 + len(operands))
        for k in self.adjoints:
            gradients[1 + n_seq + k] = steps.initial_gradient(next(results))
        for k in self.sums:
            gradients[1 + n_seq + n_st + k] = next(results)
        told = shapes.are_told()
        for k, g in enumerate(self.sequence_gradients):
            if g is not None:
                rows = next(results)
                if not told:
                    rows = _like_rows(rows, operands[k], steps.count)
                padded = steps.sequence_gradient(rows, operands[k])
                gradients[1 + k] = _of_length(padded, operands[k])
        return gradients


def _like_rows(gradient: Variable, sequence: Variable, steps: Variable) -> Variable:
    """Return the gradients of rows of a sequence, in their lengths even if there are no steps.

    An axis whose type says 1 may stand for equal values along that axis.
    """
    if gradient.ndim != sequence.ndim:
        return gradient
    own = [
        literal(1) if one else length
        for one, length in zip(gradient.broadcastable, lengths(sequence), strict=True)
    ]
    return reshape(gradient, (steps, *own[1:]))


def _of_length(gradient: Variable, sequence: Variable) -> Variable:
    """Return the gradient of a sequence, broadcast if only its own type says one row.

    An axis whose type says 1 stands for equal values along that axis.
    """
    if gradient.type.shape[0] == 1 and sequence.type.shape[0] is None:
        return broadcast_to(gradient, lengths(sequence))
    return gradient


def _pulled(
    body: ScanBody, row_seeds: Sequence[Variable | None], ending: set[int]
) -> tuple[list[Variable | None], dict[int, Variable]]:
    """The gradients of a step's inputs, and the adjoints of its next states by their positions.

    ``ending``: the states whose adjoint is not zero after the last step.
    """
    states = [state.inner for state in body.states]
    adjoints = {k: x.type(None) for k, x in enumerate(states) if is_continuous(x)}
    while True:
        seeds = [adjoints.get(k) for k in range(len(states))]
        pulled = pull(body.inputs, [*body.next_states, *body.stacked], [*seeds, *row_seeds])
        # An adjoint that is zero at the end and that no step adds to stays zero.
        first = len(body.sequences)
        zero = [k for k in adjoints if k not in ending and pulled[first + k] is None]
        if not zero:
            return pulled, adjoints
        for k in zero:
            del adjoints[k]


def _kept(outputs: Sequence[Variable], body: ScanBody, shapes: StepShapes) -> list[Variable]:
    """The results of a step that ``outputs`` take from stacks, in the order of their computation.

    These are worth a stack, or have one anyway. Variables whose shapes may differ from step to step
    have none.
    """
    stacked = set(body.stacked)
    kept = [
        x
        for node in shapes.order
        for x in node.outputs
        if x in stacked or (is_worth_a_stack(node) and shapes.is_told(x))
    ]
    needed = set(_leaves(outputs, kept))
    return [x for x in kept if x in needed]


def _leaves(outputs: Iterable[Variable], stops: Iterable[Variable]) -> list[Variable]:
    """The roots and the ``stops`` that outputs need, but for those behind a stop."""
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
class _Truncation:
    """The steps that a gradient goes back through: the last ``count`` of those that were done."""

    op: Scan
    asked: Variable
    done: Variable
    count: Variable

    @staticmethod
    def of(op: Scan, asked: Variable, done: Variable) -> _Truncation:
        count = done if op.truncate_gradient < 0 else minimum(done, op.truncate_gradient)
        return _Truncation(op, asked, done, count)

    def rows_of_sequence(self, sequence: Variable) -> Variable:
        """The rows of a sequence for these steps."""
        if self.op.until:
            sequence = sequence[: self.done]
        return self.rows(sequence)

    def rows(self, rows: Variable) -> Variable:
        """The rows for these steps, of a row for each step that was done."""
        if self.op.truncate_gradient < 0:
            return rows
        return rows[: self.count] if self.op.backwards else rows[self.done - self.count :]

    def sequence_gradient(self, gradient: Variable, sequence: Variable) -> Variable:
        """The gradient of a whole sequence: zero in all other steps."""
        if self.count is self.asked:
            return gradient
        part = zeros_of(sequence)
        if self.op.backwards:
            return set_subtensor(part[: self.count], gradient)
        return set_subtensor(part[self.done - self.count : self.done], gradient)

    def initial_gradient(self, gradient: Variable) -> Variable:
        """The gradient of an initial state: zero unless these are all steps."""
        if self.op.truncate_gradient < 0:
            return gradient
        return where(self.done <= self.op.truncate_gradient, gradient, 0)


def zeros_of(x: Variable) -> Variable:
    """Return zeros in the shape of ``x``; nothing may write to them."""
    return broadcast_like(_core.constant(x.type.numpy_dtype.type(0)), x)


def _or_zeros(gradient: Variable | None, of: Variable) -> Variable:
    return zeros_of(of) if gradient is None else gradient
