"""Loops of elements in a kernel: what each does in a step, and which statements are results of it.

A :class:`LoopBody` is a ScalarLoop's graph as a kernel tells it, statements in single assignment
form. Every linker that makes native code lowers the same body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from frazil._core import Constant, Variable
from frazil.graph.cached_property import cached_property
from frazil.link.kernel.loop_kernel import Fold, Literal, LoweringError, Scan, Statement, Take
from frazil.scalar.loop import ScalarLoop, loop_result

PATIENCE = 4096
"""Steps after which a loop asks whether to stop, as by Ctrl-C: a power of two."""


@dataclass(frozen=True)
class LoopBody:
    """What one element does in a step.

    Its values are numbered: states, constants, literals, statements. ``nexts`` are the values that
    states become; with a ``condition`` the step in which that value holds is the last.
    """

    states: tuple[str, ...]
    constants: tuple[str, ...]
    literals: tuple[Literal, ...]
    statements: tuple[Statement, ...]
    nexts: tuple[int, ...]
    condition: int | None

    @cached_property
    def dtypes(self) -> Sequence[str]:
        """The dtype of every value."""
        return (
            *self.states,
            *self.constants,
            *(literal.dtype for literal in self.literals),
            *(statement.dtype for statement in self.statements),
        )

    @property
    def first_literal(self) -> int:
        """The number of the first literal."""
        return len(self.states) + len(self.constants)

    @property
    def first_statement(self) -> int:
        """The number of the first statement."""
        return self.first_literal + len(self.literals)

    @cached_property
    def constant(self) -> Sequence[bool]:
        """For every value, whether it can be had before the first step, once for all."""
        known = [False] * len(self.states) + [True] * (self.first_statement - len(self.states))
        for statement in self.statements:
            # A loop without steps has no faults either.
            faults = statement.op.table_name == "pow" and not statement.dtype.startswith("float")
            known.append(not faults and all(known[argument] for argument in statement.args))
        return known

    @property
    def results(self) -> tuple[str, ...]:
        """The dtypes of the results: those of states, and whether the condition ended the loop."""
        return self.states if self.condition is None else (*self.states, "bool")


def body_of(loop: ScalarLoop) -> LoopBody:
    """What a loop does in a step, worked out once.

    Raises
    ------
    LoweringError
        If its graph has ops of several results: loops of which some op has no native form.
    """
    body = _bodies.get(loop)
    return _bodies.setdefault(loop, _body(loop)) if body is None else body


# By the op's life: what follows from it alone.
_bodies: WeakKeyDictionary[ScalarLoop, LoopBody] = WeakKeyDictionary()


def _body(loop: ScalarLoop) -> LoopBody:
    graph = loop.fgraph
    numbers: dict[Variable, int] = {x: at for at, x in enumerate(graph.inputs)}
    order = graph.toposort()
    literals: list[Literal] = []
    for x in (*(x for node in order for x in node.inputs), *graph.outputs):
        if isinstance(x, Constant) and x not in numbers:
            numbers[x] = len(numbers)
            literals.append(Literal(x.dtype, x.data.item()))
    statements: list[Statement] = []
    for node in order:
        if len(node.output_types) > 1:
            raise LoweringError(f"{node.op} has several results")
        (output,) = node.outputs
        args = tuple(numbers[x] for x in node.inputs)
        statements.append(Statement(node.op.scalar_op, args, output.dtype))
        numbers[output] = len(numbers)
    return LoopBody(
        tuple(x.dtype for x in loop.states),
        tuple(x.dtype for x in loop.constants),
        tuple(literals),
        tuple(statements),
        tuple(numbers[x] for x in loop.updates),
        None if loop.condition is None else numbers[loop.condition],
    )


@dataclass(frozen=True)
class LoopCall:
    """A loop that a kernel runs for each element: on which values, and for which results of it.

    ``numbers`` are those of the kernel's values that are these results, in order.
    """

    loop: ScalarLoop
    args: tuple[int, ...]
    results: tuple[int, ...]
    numbers: tuple[int, ...]

    @property
    def operands(self) -> tuple[str, ...]:
        """The dtypes of what the loop takes: the number of steps, states and constants."""
        body = body_of(self.loop)
        return ("int64", *body.states, *body.constants)


def loop_calls(made: Mapping[int, Statement | Take | Scan | Fold]) -> Mapping[int, LoopCall]:
    """For the statements, by their numbers, that are results of loops: the call that they share."""
    groups: dict[tuple[ScalarLoop, tuple[int, ...]], list[tuple[int, int]]] = {}
    for k, statement in made.items():
        if isinstance(statement, Statement) and (part := loop_result(statement.op)) is not None:
            groups.setdefault((part[0], statement.args), []).append((part[1], k))
    return {
        k: LoopCall(loop, args, tuple(at for at, _ in parts), tuple(k for _, k in parts))
        for (loop, args), parts in groups.items()
        for _, k in parts
    }
