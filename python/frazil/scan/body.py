"""A loop taken apart: its body over variables of the current container, to be built anew."""

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
    """What a step leaves to the next: ``inner`` stands for it, and becomes ``next``."""

    inner: Variable
    start: Variable
    next: Variable


@dataclass
class Results:
    """What a loop gives: last states, stacks, and the number of steps if it may end early."""

    lasts: list[Variable]
    stacks: list[Variable]
    steps: Variable | None


@dataclass
class Body:
    """A loop: what its inner variables stand for, and what a step computes of them.

    ``sequences`` and ``others`` go from inner variables to outer ones.
    """

    n_steps: Variable
    sequences: dict[Variable, Variable]
    states: list[State]
    others: dict[Variable, Variable]
    stacked: list[Variable]
    conditions: list[Variable] = field(default_factory=list)
    backwards: bool = False
    least: int = 0
    name: str | None = None

    @staticmethod
    def of(op: Scan, inputs: Sequence[Variable]) -> Body:
        """The loop of a node of ``op`` with these inputs."""
        inner = [nominal.type(None) for nominal in op.fgraph.inputs]
        outputs = op.fgraph.bind(inner)
        n_steps, outer = inputs[0], inputs[1:]
        n_seq, n_rest = op.n_sequences, op.n_sequences + op.n_states
        n_stacked = op.n_states + len(op.stacked)
        states = zip(inner[n_seq:n_rest], outer[n_seq:n_rest], outputs, strict=False)
        return Body(
            n_steps,
            dict(zip(inner[:n_seq], outer, strict=False)),
            [State(*each) for each in states],
            dict(zip(inner[n_rest:], outer[n_rest:], strict=True)),
            outputs[op.n_states : n_stacked],
            outputs[n_stacked:],
            op.backwards,
            op.least,
            op.name,
        )

    @property
    def inputs(self) -> list[Variable]:
        """The inner variables, in the order of the inputs of a loop's graph."""
        return [*self.moving(), *self.others]

    @property
    def nexts(self) -> list[Variable]:
        """What the states become."""
        return [state.next for state in self.states]

    @property
    def results(self) -> list[Variable]:
        """All that a step computes."""
        return [*self.nexts, *self.stacked, *self.conditions]

    def moving(self) -> list[Variable]:
        """The inner variables that differ from step to step."""
        return [*self.sequences, *(state.inner for state in self.states)]

    def substitute(self, replacements: Mapping[Variable, Variable]) -> None:
        """Let inner variables become others in all that a step computes."""
        if not replacements:
            return
        replaced = iter(_core.graph_replace(self.results, list(replacements.items())))
        for state in self.states:
            state.next = next(replaced)
        self.stacked = [next(replaced) for _ in self.stacked]
        self.conditions = [next(replaced) for _ in self.conditions]

    def checked_sequences(self) -> dict[Variable, Variable]:
        """The sequences, for what goes along them outside of the loop.

        A run raises where one has not an element for each step, as the loop itself would.
        """
        checked: dict[Variable, Variable] = {}
        for inner, rows in self.sequences.items():
            if length(rows, 0) is self.n_steps:
                checked[inner] = rows
                continue
            wanted = (self.n_steps, *lengths(rows)[1:])
            # A length that is known to be 1 would be repeated.
            fit = reshape if rows.type.shape[0] == 1 else broadcast_to
            checked[inner] = with_lengths(fit(rows, wanted), rows.type)
        return checked

    def require_steps(self, least: int) -> None:
        """Let a run raise if there are fewer steps."""
        known = static_length(self.n_steps)
        if known is None or known < least or (self.conditions and least > 1):
            self.least = max(self.least, least)

    def build(self) -> Results:
        """The loop as a node, without inputs that no step needs."""
        needed = needs(self.results)
        sequences = {x: outer for x, outer in self.sequences.items() if x in needed}
        others = {x: outer for x, outer in self.others.items() if x in needed}
        # What is stacked once serves all.
        stacked = list(dict.fromkeys(self.stacked))
        inner = [*sequences, *(state.inner for state in self.states), *others]
        op = Scan(
            FrozenFunctionGraph(inner, [*self.nexts, *stacked, *self.conditions]),
            len(sequences),
            len(self.states),
            until=bool(self.conditions),
            backwards=self.backwards,
            least=self.least,
            name=self.name,
        )
        starts = [state.start for state in self.states]
        made = op.make_node(self.n_steps, *sequences.values(), *starts, *others.values()).outputs
        n_states = len(self.states)
        place = {y: n_states + at for at, y in enumerate(stacked)}
        return Results(
            list(made[:n_states]),
            [made[place[y]] for y in self.stacked],
            made[-1] if self.conditions else None,
        )


def needs(outputs: Iterable[Variable]) -> set[Variable]:
    """Return all variables that ``outputs`` are made of."""
    found: set[Variable] = set()
    pending = list(outputs)
    while pending:
        x = pending.pop()
        if x not in found:
            found.add(x)
            if x.owner is not None:
                pending += x.owner.inputs
    return found


def depends(outputs: Sequence[Variable], on: Iterable[Variable]) -> set[Variable]:
    """Return the variables that ``outputs`` are made of and that follow from some of ``on``."""
    found = set(on)
    for node in _core.toposort(list(outputs), list(found)):
        if any(x in found for x in node.inputs):
            found.update(node.outputs)
    return found


def frontier(outputs: Sequence[Variable], inside: set[Variable]) -> list[Variable]:
    """Return the variables of ``inside`` that ``outputs``, or nodes outside of it, read.

    Constants are nowhere.
    """
    met: dict[Variable, None] = {}
    for node in _core.toposort(list(outputs)):
        if node.outputs[0] not in inside:
            met.update(dict.fromkeys(node.inputs))
    met.update(dict.fromkeys(outputs))
    return [x for x in met if x in inside and not isinstance(x, Constant)]
