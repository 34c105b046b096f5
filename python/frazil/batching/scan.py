"""Batch rule of a scan: each step works on the batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frazil._core import FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.batching.registry import BatchRule, Operand, Operands, batch_rule, batch_size
from frazil.batching.walk import over_batch
from frazil.graph.dataclass import dataclass
from frazil.scalar.constants import constant
from frazil.scan.op import Scan
from frazil.tensor.broadcasting import broadcast_to, with_lengths
from frazil.tensor.elementwise.choice import where
from frazil.tensor.elementwise.table import greater_equal, less_equal, logical_not, logical_or
from frazil.tensor.lengths import static_length
from frazil.tensor.reductions import all, max
from frazil.tensor.transposition import moveaxis


@batch_rule.register
def _(op: Scan) -> BatchRule:
    def rule(node: FrozenApply, operands: Operands) -> list[Operand] | None:
        n_steps, *rest = operands
        size = batch_size(operands)
        if n_steps.batched:
            truncated = op.truncate_gradient >= 0
            if op.stacked or op.n_sequences or op.min_steps or op.backwards or truncated:
                return None
            wide = _Step.of(op, rest, static_length(size), all_states=True)
            return wide.apply_until_all_end(n_steps, rest, size)
        step = _Step.of(op, rest, static_length(size))
        if not op.until or not step.outputs[-1].batched:
            return step.apply(n_steps.value, rest, size)
        if op.truncate_gradient >= 0:
            return None  # an element's last steps are not the batch's
        if op.stacked:
            raise ValueError(
                f"the elements of a batch may end {op} after different numbers of steps, and what "
                "it stacks would differ in length: return its last states alone, or let all "
                "elements do as many steps"
            )
        wide = _Step.of(op, rest, static_length(size), all_states=True)
        return wide.apply_until_all_end(n_steps, rest, size)

    return rule


@dataclass(frozen=True)
class _Step:
    """A step over a batch: its inputs and outputs. Some are the same for all elements."""

    op: Scan
    inputs: Sequence[Operand]
    outputs: Sequence[Operand]

    @staticmethod
    def of(op: Scan, operands: Operands, size: int | None, all_states: bool = False) -> _Step:
        """The step in which a state is batched where it starts so, or becomes so in a step."""
        first, end = op.n_sequences, op.n_sequences + op.n_states
        wide = [x.batched or (all_states and first <= k < end) for k, x in enumerate(operands)]
        while True:
            inputs = [
                Operand(_type_of(x, one, size)(None), one)
                for x, one in zip(op.fgraph.inputs, wide, strict=True)
            ]
            outputs = over_batch(op.fgraph, inputs)
            widened = [k for k in range(op.n_states) if outputs[k].batched and not wide[first + k]]
            if not widened:
                return _Step(op, inputs, outputs)
            for k in widened:
                wide[first + k] = True

    @property
    def sequences(self) -> Sequence[Operand]:
        return self.inputs[: self.op.n_sequences]

    @property
    def states(self) -> Sequence[Operand]:
        return self.inputs[self.op.n_sequences : self.op.n_sequences + self.op.n_states]

    @property
    def non_sequences(self) -> Sequence[Operand]:
        return self.inputs[self.op.n_sequences + self.op.n_states :]

    def next_states(self) -> list[Variable]:
        """The states after a step, in the types of the states before it."""
        return [
            with_lengths(new.spread(batch_size(self.inputs)), state.value.type)
            if state.batched
            else new.value
            for state, new in zip(self.states, self.outputs, strict=False)
        ]

    def operands(self, given: Operands, size: Variable) -> tuple[list[Variable], ...]:
        """The scan's operands, in three groups: sequences, initial states, non-sequences.

        The steps of a sequence stand in front of the batch. One operand may tell the length of the
        batch where another does not.
        """
        first, end = self.op.n_sequences, self.op.n_sequences + self.op.n_states
        rows = [moveaxis(x.value, 0, 1) if x.batched else x.value for x in given[:first]]
        sequences = [
            with_lengths(x, TensorType(x.dtype, (x.type.shape[0], *row.value.type.shape)))
            for x, row in zip(rows, self.sequences, strict=True)
        ]
        states = [
            with_lengths(x.spread(size) if state.batched else x.value, state.value.type)
            for x, state in zip(given[first:end], self.states, strict=True)
        ]
        rest = [
            with_lengths(x.value, inner.value.type)
            for x, inner in zip(given[end:], self.non_sequences, strict=True)
        ]
        return sequences, states, rest

    def apply(self, n_steps: Variable, given: Operands, size: Variable) -> list[Operand]:
        """The outputs of a scan of this step; in stacks the batch stands in front of the steps."""
        op = self.op
        rows = self.outputs[op.n_states :]
        graph = FrozenFunctionGraph(
            [x.value for x in self.inputs], [*self.next_states(), *(y.value for y in rows)]
        )
        sequences, states, rest = self.operands(given, size)
        made = replace(op, fgraph=graph).make_node(n_steps, *sequences, *states, *rest).outputs
        lasts = zip(made, self.states, strict=False)
        stacks = zip(made[op.n_states :], rows[: len(op.stacked)], strict=False)
        return [
            *(Operand(y, state.batched) for y, state in lasts),
            *(Operand(moveaxis(y, 1, 0) if row.batched else y, row.batched) for y, row in stacks),
            *(Operand(y, False) for y in made[op.n_states + len(op.stacked) :]),
        ]

    def apply_until_all_end(
        self, n_steps: Operand, given: Operands, size: Variable
    ) -> list[Operand]:
        """The outputs of a scan whose elements end at different steps.

        An element that has ended keeps its states until all have ended.
        """
        batch = TensorType("bool", (static_length(size),))
        ended, counted = batch(None), TensorType("int64", batch.shape)(None)
        limits = n_steps.value.type(None)
        kept = [
            where(Operand(ended, True).of_rank(state.ndim), state.value, new)
            for state, new in zip(self.states, self.next_states(), strict=True)
        ]
        typed = [
            with_lengths(new, state.value.type)
            for state, new in zip(self.states, kept, strict=True)
        ]
        count = with_lengths(counted + logical_not(ended), counted.type)
        ends = logical_or(ended, greater_equal(count, limits)) if n_steps.batched else ended
        if self.op.until:
            ends = logical_or(ends, self.outputs[-1].value)
        now_ended = with_lengths(ends, ended.type)
        own = [[x.value for x in group] for group in (self.sequences, self.states)]
        graph = FrozenFunctionGraph(
            [*own[0], *own[1], ended, counted, limits, *(x.value for x in self.non_sequences)],
            [*typed, now_ended, count, all(now_ended)],
        )
        scan = replace(self.op, fgraph=graph, n_states=self.op.n_states + 2, until=True)
        sequences, states, rest = self.operands(given, size)
        begun = [broadcast_to(x, (size,)) for x in (less_equal(n_steps.value, 0), constant(0))]
        most = max(n_steps.value, initial=0) if n_steps.batched else n_steps.value
        made = scan.make_node(most, *sequences, *states, *begun, n_steps.value, *rest).outputs
        counts = made[-2:-1] if self.op.until else ()
        return [Operand(y, True) for y in (*made[: self.op.n_states], *counts)]


def _type_of(x: Variable, batched: bool, size: int | None) -> TensorType:
    """Return the type of an inner variable, with a batch in front if it is batched."""
    return TensorType(x.dtype, (size, *x.type.shape)) if batched else x.type
