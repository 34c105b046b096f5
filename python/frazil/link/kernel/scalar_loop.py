"""Scalar loops in a kernel: their bodies, and the statements that are their results.

A :class:`ScalarLoopBody` is the graph of a ScalarLoop as statements in single assignment form.
Every linker that makes native code lowers the same body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from frazil._core import Constant, Variable
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.kernel.loop_kernel import (
    Cumulate,
    Literal,
    LoweringError,
    RowFold,
    Statement,
    Take,
)
from frazil.scalar.float16 import STORED
from frazil.scalar.loop import ScalarLoop, loop_result

PATIENCE = 4096
"""Steps after which a scalar loop asks whether to stop, as by Ctrl-C: a power of two."""


@dataclass(frozen=True)
class ScalarLoopBody:
    """One step of a scalar loop, for one element.

    Its values are numbered: states, constants, literals, statements. ``nexts`` are the next values
    of the states. The step in which the value ``condition`` holds is the last.
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
        """For every value, whether it is the same in all steps, so that it is computed once."""
        known = [False] * len(self.states) + [True] * (self.first_statement - len(self.states))
        for statement in self.statements:
            # A loop without steps must not fail, so what may fail stays in the steps.
            faults = statement.op.table_name == "pow" and not statement.dtype.startswith("float")
            known.append(not faults and all(known[argument] for argument in statement.args))
        return known

    @property
    def results(self) -> tuple[str, ...]:
        """The dtypes of the results: the states, and whether the condition ended the loop."""
        return self.states if self.condition is None else (*self.states, "bool")


def body_of(loop: ScalarLoop) -> ScalarLoopBody:
    """The body of a scalar loop, built once.

    Raises
    ------
    LoweringError
        If its graph has an op with several results: a scalar loop with an op that has no native
        form.
    """
    body = _bodies.get(loop)
    return _bodies.setdefault(loop, _body(loop)) if body is None else body


# For as long as the op lives.
_bodies: WeakKeyDictionary[ScalarLoop, ScalarLoopBody] = WeakKeyDictionary()


def _body(loop: ScalarLoop) -> ScalarLoopBody:
    graph = loop.fgraph
    numbers: dict[Variable, int] = {x: at for at, x in enumerate(graph.inputs)}
    order = graph.toposort()
    literals: list[Literal] = []
    for x in (*(x for node in order for x in node.inputs), *graph.outputs):
        if isinstance(x, Constant) and x not in numbers:
            numbers[x] = len(numbers)
            literals.append(Literal(x.dtype, x.data.item()))
    statements: list[Statement] = []
    if STORED in (*(x.dtype for x in numbers), *(node.outputs[0].dtype for node in order)):
        raise LoweringError(f"loops alone convert {STORED}")
    for node in order:
        if len(node.output_types) > 1:
            raise LoweringError(f"{node.op} has several results")
        (output,) = node.outputs
        args = tuple(numbers[x] for x in node.inputs)
        statements.append(Statement(node.op.scalar_op, args, output.dtype))
        numbers[output] = len(numbers)
    return ScalarLoopBody(
        tuple(x.dtype for x in loop.states),
        tuple(x.dtype for x in loop.constants),
        tuple(literals),
        tuple(statements),
        tuple(numbers[x] for x in loop.updates),
        None if loop.condition is None else numbers[loop.condition],
    )


@dataclass(frozen=True)
class ScalarLoopCall:
    """A scalar loop that a kernel runs for each element.

    ``args`` are its operands, ``results`` the positions of the results that the kernel uses, and
    ``numbers`` their numbers among the kernel's values.
    """

    loop: ScalarLoop
    args: tuple[int, ...]
    results: tuple[int, ...]
    numbers: tuple[int, ...]

    @property
    def operands(self) -> tuple[str, ...]:
        """The dtypes of the operands: the number of steps, states and constants."""
        body = body_of(self.loop)
        return ("int64", *body.states, *body.constants)


def scalar_loop_calls(
    statements: Mapping[int, Statement | Take | Cumulate | RowFold],
) -> Mapping[int, ScalarLoopCall]:
    """The call of a scalar loop for each statement that is a result of one, by its number."""
    groups: dict[tuple[ScalarLoop, tuple[int, ...]], list[tuple[int, int]]] = {}
    for k, statement in statements.items():
        if isinstance(statement, Statement) and (part := loop_result(statement.op)) is not None:
            groups.setdefault((part[0], statement.args), []).append((part[1], k))
    return {
        k: ScalarLoopCall(loop, args, tuple(at for at, _ in parts), tuple(k for _, k in parts))
        for (loop, args), parts in groups.items()
        for _, k in parts
    }
