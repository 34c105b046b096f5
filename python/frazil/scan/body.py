"""A scan taken apart: one step over new variables, from which another scan can be built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import frazil._core as _core
from frazil._core import Constant, FrozenFunctionGraph, Variable
from frazil.scan.op import Scan
from frazil.tensor.broadcasting import broadcast_to, with_lengths
from frazil.tensor.lengths import length, lengths, static_length
from frazil.tensor.reshaping import reshape


@dataclass
class State:
    """A state of a scan.

    A step reads it as ``inner`` and computes ``next``; the first step reads ``initial``.
    """

    inner: Variable
    initial: Variable
    next: Variable


@dataclass
class ScanResults:
    """The outputs of a scan's node; ``steps`` is the number done, if it may end early."""

    last_states: list[Variable]
    stacks: list[Variable]
    steps: Variable | None


@dataclass
class ScanBody:
    """The variables that a step reads and computes.

    ``sequences`` and ``non_sequences`` map the inner variables of a step to outer variables.
    """

    n_steps: Variable
    sequences: dict[Variable, Variable]
    states: list[State]
    non_sequences: dict[Variable, Variable]
    stacked: list[Variable]
    conditions: list[Variable] = field(default_factory=list)
    backwards: bool = False
    min_steps: int = 0
    name: str | None = None

    @staticmethod
    def of(op: Scan, inputs: Sequence[Variable]) -> ScanBody:
        """The body of a node of ``op`` with these inputs."""
        inner = [nominal.type(None) for nominal in op.fgraph.inputs]
        outputs = op.fgraph.bind(inner)
        n_steps, outer = inputs[0], inputs[1:]
        n_seq, n_rest = op.n_sequences, op.n_sequences + op.n_states
        n_stacked = op.n_states + len(op.stacked)
        states = zip(inner[n_seq:n_rest], outer[n_seq:n_rest], outputs, strict=False)
        return ScanBody(
            n_steps,
            dict(zip(inner[:n_seq], outer, strict=False)),
            [State(*each) for each in states],
            dict(zip(inner[n_rest:], outer[n_rest:], strict=True)),
            outputs[op.n_states : n_stacked],
            outputs[n_stacked:],
            op.backwards,
            op.min_steps,
            op.name,
        )

    @property
    def inputs(self) -> list[Variable]:
        """The inner variables, in the order of the inputs of the op's graph."""
        return [*self.varying, *self.non_sequences]

    @property
    def varying(self) -> list[Variable]:
        """The inner variables that differ from step to step."""
        return [*self.sequences, *(state.inner for state in self.states)]

    @property
    def next_states(self) -> list[Variable]:
        """The states that a step leaves to the next one."""
        return [state.next for state in self.states]

    @property
    def outputs(self) -> list[Variable]:
        """All that a step computes, in the order of the outputs of the op's graph."""
        return [*self.next_states, *self.stacked, *self.conditions]

    def substitute(self, replacements: Mapping[Variable, Variable]) -> None:
        """Replace inner variables in all that a step computes."""
        if not replacements:
            return
        replaced = iter(_core.graph_replace(self.outputs, list(replacements.items())))
        for state in self.states:
            state.next = next(replaced)
        self.stacked = [next(replaced) for _ in self.stacked]
        self.conditions = [next(replaced) for _ in self.conditions]

    def checked_sequence(self, inner: Variable) -> Variable:
        """The sequence of which a step reads ``inner``, for nodes that move out of the scan.

        A run raises where it has not an element for each step, as the scan itself would.
        """
        rows = self.sequences[inner]
        if length(rows, 0) is self.n_steps:
            return rows
        wanted = (self.n_steps, *lengths(rows)[1:])
        # broadcast_to would repeat an axis whose type says 1.
        fit = reshape if rows.type.shape[0] == 1 else broadcast_to
        return with_lengths(fit(rows, wanted), rows.type)

    def require_steps(self, count: int) -> None:
        """Let a run raise if there are fewer than ``count`` steps."""
        known = static_length(self.n_steps)
        if known is None or known < count or (self.conditions and count > 1):
            self.min_steps = max(self.min_steps, count)

    def build(self) -> ScanResults:
        """The outputs of a new node, without inputs that no step needs."""
        needed = ancestors(self.outputs)
        sequences = {x: outer for x, outer in self.sequences.items() if x in needed}
        non_sequences = {x: outer for x, outer in self.non_sequences.items() if x in needed}
        # Equal rows are stacked once.
        stacked = list(dict.fromkeys(self.stacked))
        inner = [*sequences, *(state.inner for state in self.states), *non_sequences]
        op = Scan(
            FrozenFunctionGraph(inner, [*self.next_states, *stacked, *self.conditions]),
            len(sequences),
            len(self.states),
            until=bool(self.conditions),
            backwards=self.backwards,
            min_steps=self.min_steps,
            name=self.name,
        )
        initial = [state.initial for state in self.states]
        operands = [*sequences.values(), *initial, *non_sequences.values()]
        made = op.make_node(self.n_steps, *operands).outputs
        n_states = len(self.states)
        position = {y: n_states + at for at, y in enumerate(stacked)}
        return ScanResults(
            list(made[:n_states]),
            [made[position[y]] for y in self.stacked],
            made[-1] if self.conditions else None,
        )


def ancestors(outputs: Iterable[Variable]) -> set[Variable]:
    """Return ``outputs`` and all variables that they are computed from."""
    roots = list(outputs)
    return set(roots).union(*[node.inputs for node in _core.toposort(roots)])


def dependents(outputs: Sequence[Variable], on: Iterable[Variable]) -> set[Variable]:
    """Return the variables between ``on`` and ``outputs``: those that depend on any of ``on``.

    Those of ``on`` are among them.
    """
    found = set(on)
    for node in _core.toposort(list(outputs), list(found)):
        if not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found


def frontier(outputs: Sequence[Variable], inside: set[Variable]) -> list[Variable]:
    """Return the variables of ``inside`` that are ``outputs`` or that a node outside reads.

    Constants are left out.
    """
    met: dict[Variable, None] = {}
    for node in _core.toposort(list(outputs)):
        if node.outputs[0] not in inside:
            met.update(dict.fromkeys(node.inputs))
    met.update(dict.fromkeys(outputs))
    return [x for x in met if x in inside and not isinstance(x, Constant)]
