"""Scan: the op that applies a graph step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.inner.failures import tell_step
from frazil.inner.inner_graph import HasInnerGraph, KnownShape, Values, compute
from frazil.inner.outer_lengths import outer_lengths, presumed_lengths
from frazil.tensor.lengths import LENGTH, Lengths, literal, static_length


@dataclass(frozen=True, eq=False)
class Scan(HasInnerGraph):
    """Applies a graph in each of its steps; :func:`frazil.scan` builds it.

    Its inputs are the number of steps, the sequences, the initial states and the non-sequences. In
    each step the graph takes one element of each sequence along the first axis, the states, and the
    non-sequences; it computes the next states, rows to stack, and the condition. The outputs are
    the last states, the stacks with a row for each step, and, if the scan may end early, the number
    of steps done.

    Parameters
    ----------
    fgraph : FrozenFunctionGraph
        What a step computes.
    n_sequences, n_states : int
        How many sequences and states there are.
    until : bool
        The last inner output is a condition; the first step in which it holds is the last step.
    backwards : bool
        Steps go from the last row of sequences and stacks to the first.
    truncate_gradient : int
        A gradient goes back through at most so many of the last steps; -1: through all.
    min_steps : int
        The least number of steps; with fewer, a row that somebody reads would not exist.
    name : str, optional
        A name for messages.

    Raises
    ------
    TypeError, ValueError
        If the inputs and outputs of the graph do not fit these numbers.
    """

    fgraph: FrozenFunctionGraph
    n_sequences: int
    n_states: int
    until: bool = False
    backwards: bool = False
    truncate_gradient: int = -1
    min_steps: int = 0
    name: str | None = None

    def __post_init__(self) -> None:
        graph = self.fgraph
        if not isinstance(graph, FrozenFunctionGraph):
            raise TypeError(f"a Scan holds a FrozenFunctionGraph, given {type(graph).__name__}")
        if len(graph.inputs) < self.n_sequences + self.n_states:
            raise ValueError(
                f"a Scan over {self.n_sequences} sequences with {self.n_states} states needs a "
                f"graph of as many inputs or more, given {len(graph.inputs)}"
            )
        if len(graph.outputs) < self.n_states + self.until:
            raise ValueError(
                f"a Scan with {self.n_states} states needs a graph that gives the next of each"
                f"{' and a condition' if self.until else ''}, given {len(graph.outputs)} outputs"
            )
        for at, (state, new) in enumerate(zip(self.states, self.next_states, strict=True)):
            if not state.type.accepts(new.type):
                raise TypeError(
                    f"state {at} of a Scan has type {state.type}, and after a step {new.type}; "
                    "both must be the same"
                )
        if self.until and (self.condition.dtype, self.condition.ndim) != ("bool", 0):
            raise TypeError(
                f"the condition of a Scan is a bool without dimensions, given {self.condition.type}"
            )
        if self.until and self.backwards:
            raise ValueError("a Scan that goes backwards does not end early")

    def __str__(self) -> str:
        return f"Scan{{{self.name or self.fgraph.digest[:8]}}}"

    # ------------------------------------------------------------ parts of the inner graph

    @property
    def elements(self) -> tuple[Variable, ...]:
        """The inner inputs that are elements of sequences."""
        return self.fgraph.inputs[: self.n_sequences]

    @property
    def states(self) -> tuple[Variable, ...]:
        """The inner inputs that are states."""
        return self.fgraph.inputs[self.n_sequences : self.n_sequences + self.n_states]

    @property
    def non_sequences(self) -> tuple[Variable, ...]:
        """The inner inputs that are the same in each step (loop-invariant)."""
        return self.fgraph.inputs[self.n_sequences + self.n_states :]

    @property
    def next_states(self) -> tuple[Variable, ...]:
        """The inner outputs that are the states of the next step."""
        return self.fgraph.outputs[: self.n_states]

    @property
    def stacked(self) -> tuple[Variable, ...]:
        """The inner outputs that are stacked."""
        return self.fgraph.outputs[self.n_states : len(self.fgraph.outputs) - self.until]

    @property
    def condition(self) -> Variable:
        """The inner output that ends the scan."""
        return self.fgraph.outputs[-1]

    # ------------------------------------------------------------ op

    def make_node(self, n_steps: Variable, *operands: Variable) -> FrozenApply:
        wanted = len(self.fgraph.inputs)
        if len(operands) != wanted:
            raise TypeError(
                f"this Scan takes the number of steps and {wanted} operands, given {len(operands)}"
            )
        if n_steps.type != LENGTH:
            raise TypeError(f"the number of steps has type {LENGTH}, given {n_steps.type}")
        steps = static_length(n_steps)
        if steps is not None and steps < 0:
            raise ValueError(f"the number of steps cannot be negative, given {steps}")
        sequences = operands[: self.n_sequences]
        for at, (sequence, element) in enumerate(zip(sequences, self.elements, strict=True)):
            shape = sequence.type.shape
            if not shape or not element.type.accepts(TensorType(sequence.dtype, shape[1:])):
                raise TypeError(
                    f"sequence {at} of a Scan must hold elements of type {element.type} along its "
                    f"first axis, given {sequence} of type {sequence.type}"
                )
            if steps is not None and shape[0] is not None and shape[0] != steps:
                raise ValueError(
                    f"sequence {at} of a Scan has {shape[0]} elements, for {steps} steps"
                )
            if steps is None and shape[0] is not None:
                steps = shape[0]
        rest = zip(operands[self.n_sequences :], (*self.states, *self.non_sequences), strict=True)
        for at, (given, inner) in enumerate(rest):
            if not inner.type.accepts(given.type):
                what = f"state {at}" if at < self.n_states else f"operand {at - self.n_states}"
                raise TypeError(
                    f"{what} of a Scan has type {inner.type}, given {given} of type {given.type}"
                )
        rows = None if self.until else steps
        types = [state.type for state in self.states]
        types += [TensorType(y.dtype, (rows, *y.type.shape)) for y in self.stacked]
        if self.until:
            types.append(LENGTH)
        return FrozenApply(self, [n_steps, *operands], types)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        count, operands = int(inputs[0]), inputs[1:]
        sequences = operands[: self.n_sequences]
        states = list(operands[self.n_sequences : self.n_sequences + self.n_states])
        non_sequences = operands[self.n_sequences + self.n_states :]
        self._check_run(count, sequences)
        rows: list[list[Array]] = [[] for _ in self.stacked]
        done = 0
        while done < count:
            at = count - 1 - done if self.backwards else done
            elements = [np.asarray(sequence[at]) for sequence in sequences]
            try:
                results = compute(self.fgraph, [*elements, *states, *non_sequences])
            except Exception as error:
                tell_step(error, done)
                raise
            for number, (old, new) in enumerate(zip(states, results, strict=False)):
                if old.shape != new.shape:
                    raise ValueError(
                        f"step {done}: state {number} has shape {new.shape} after the step, but "
                        f"it started with shape {old.shape}: a state keeps its shape"
                    )
            states = results[: self.n_states]
            for row, result in zip(rows, results[self.n_states :], strict=False):
                row.append(result)
            done += 1
            if self.until and results[-1]:
                break
        if self.backwards:
            rows = [row[::-1] for row in rows]
        stacks = [
            np.stack(row) if row else np.zeros((0, *shape), y.dtype)
            for row, y, shape in zip(rows, self.stacked, self._row_shapes(operands), strict=True)
        ]
        self._check_min_steps(done)
        lasts = [np.array(state, copy=True) for state in states]
        return (*lasts, *stacks, *([np.array(done)] if self.until else []))

    def _check_run(self, count: int, sequences: Sequence[Array]) -> None:
        if count < 0:
            raise ValueError(f"{self} is to run {count} steps; their number cannot be negative")
        self._check_min_steps(count)
        for number, sequence in enumerate(sequences):
            if len(sequence) != count:
                raise ValueError(
                    f"sequence {number} of {self} has {len(sequence)} elements, for {count} steps"
                )

    def _check_min_steps(self, count: int) -> None:
        if count < self.min_steps:
            raise IndexError(
                f"index {-self.min_steps} is out of bounds for axis 0 with size {count}: {self} "
                "has too few steps"
            )

    def _row_shapes(self, operands: Sequence[Array]) -> list[tuple[int, ...]]:
        """The presumed shape of a row of each stack."""
        shapes = [
            tuple(map(literal, np.shape(array)[at < self.n_sequences :]))
            for at, array in enumerate(operands)
        ]
        values = [
            _core.constant(array) if x.ndim == 0 and x.type.numpy_dtype.kind in "biu" else None
            for x, array in zip(self.fgraph.inputs, operands, strict=True)
        ]
        rows = self._presumed_rows(shapes, values)
        return [tuple(map(int, compute(FrozenFunctionGraph([], lengths), []))) for lengths in rows]

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths | None, ...]:
        rows = self.row_lengths(node.inputs, input_shapes)
        states = input_shapes[1 + self.n_sequences : 1 + self.n_sequences + self.n_states]
        if self.until:
            return (*states, *(None for _ in rows), ())
        return (*states, *(None if row is None else (node.inputs[0], *row) for row in rows))

    def presume_lengths(
        self, node: FrozenApply, values: Values, input_shapes: Sequence[KnownShape]
    ) -> list[KnownShape]:
        elements = slice(1, 1 + self.n_sequences)
        shapes = list(input_shapes[1:])
        shapes[: self.n_sequences] = [shape[1:] for shape in input_shapes[elements]]
        rows = self._presumed_rows(shapes, values[1:])
        states = shapes[self.n_sequences : self.n_sequences + self.n_states]
        steps = None if self.until else values[0]
        return [*states, *((steps, *row) for row in rows), *([()] if self.until else [])]

    def row_lengths(
        self, inputs: Sequence[Variable], input_shapes: Sequence[Lengths]
    ) -> list[Lengths | None]:
        """Return the lengths of a row of each stack; None if they depend on inner values."""
        shapes: dict[Variable, Lengths] = {
            x: shape[at < self.n_sequences :]
            for at, (x, shape) in enumerate(zip(self.fgraph.inputs, input_shapes[1:], strict=True))
        }
        kept = dict(zip(self.next_states, self.states, strict=True))
        found: dict[Variable, Lengths | None] = {}
        for y in self.stacked:
            static = [n for n in y.type.shape if n is not None]
            if y in kept:
                found[y] = shapes[kept[y]]
            elif len(static) == y.ndim:
                found[y] = tuple(map(literal, static))
        asked = [y for y in self.stacked if y not in found]
        if asked:  # else nothing must be found out about a step
            told = outer_lengths(self.fgraph, asked, shapes, self._fixed(inputs[1:]))
            found.update(zip(asked, told, strict=True))
        return [found[y] for y in self.stacked]

    def presumed_row_lengths(
        self, inputs: Sequence[Variable], input_shapes: Sequence[Lengths]
    ) -> list[Lengths]:
        """Return the lengths of a row of each stack if there are no steps.

        They are those that shapes tell; 0 stands for a length that depends on inner values.
        """
        shapes = [shape[at < self.n_sequences :] for at, shape in enumerate(input_shapes[1:])]
        return self._presumed_rows(shapes, inputs[1:])

    def _presumed_rows(self, shapes: Sequence[KnownShape], values: Values) -> list[Lengths]:
        """The presumed lengths of rows, given the lengths of inner inputs, and their values."""
        of_inputs: dict[Variable, KnownShape] = dict(zip(self.fgraph.inputs, shapes, strict=True))
        kept = {y: of_inputs[state] for y, state in zip(self.next_states, self.states, strict=True)}
        told = presumed_lengths(self.fgraph, self.stacked, of_inputs, self._fixed(values))
        return [
            tuple(literal(0) if length is None else length for length in kept.get(y, own))
            for y, own in zip(self.stacked, told, strict=True)
        ]

    def _fixed(self, values: Values) -> dict[Variable, Variable]:
        """The outer variables of non-sequences, which have the same value in every step."""
        first = self.n_sequences + self.n_states
        pairs = zip(self.non_sequences, values[first:], strict=True)
        return {x: outer for x, outer in pairs if outer is not None}
