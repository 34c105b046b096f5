"""The recurrence kernel: what a whole loop becomes whose steps work on a few numbers.

A :class:`RecurrenceKernel` says what a step does to single elements; what it keeps for the next
step stays in registers. Every linker that makes native code lowers the same kernel.

The native form is ``int32_t kernel(char *const *pointers, int64_t steps, int64_t one, const int64_t
*strides)``; pointers and strides, in bytes from step to step, list the reads and then the writes.
The rows of both have no gaps; what a state starts as may lie where its last value goes, so a long
loop is several calls. It returns a
:class:`~frazil.link.kernel.loop_kernel.Status`: ``ENDED`` if its condition held in the last step
that it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from frazil.graph.cached_property import cached_property
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Statement


@dataclass(frozen=True, slots=True)
class Row:
    """An operand: so many elements, of which each step reads new ones if it ``walks``."""

    dtype: str
    size: int
    walks: bool


@dataclass(frozen=True, slots=True)
class State:
    """A number that a step leaves to the next: the values that it starts as and that it becomes."""

    dtype: str
    start: int
    next: int


@dataclass(frozen=True, slots=True)
class RowWrite:
    """A result: the values of its elements, of each step if it ``walks``, else after the last.

    Those after the last step are values of states.
    """

    dtype: str
    values: tuple[int, ...]
    walks: bool


@dataclass(frozen=True)
class RecurrenceKernel:
    """A loop over steps, in single assignment form.

    Its values are numbered: loads (of an element of a read), literals, states, statements. With a
    ``condition`` the step in which that value holds is the last, and a last write of one int64
    takes the number of steps done.
    """

    reads: tuple[Row, ...]
    loads: tuple[tuple[int, int], ...]
    literals: tuple[Literal, ...]
    states: tuple[State, ...]
    statements: tuple[Statement, ...]
    writes: tuple[RowWrite, ...]
    condition: int | None = None

    @cached_property
    def dtypes(self) -> Sequence[str]:
        """The dtype of every value."""
        return (
            *(self.reads[read].dtype for read, _ in self.loads),
            *(literal.dtype for literal in self.literals),
            *(state.dtype for state in self.states),
            *(statement.dtype for statement in self.statements),
        )

    @property
    def first_literal(self) -> int:
        """The number of the first literal."""
        return len(self.loads)

    @property
    def first_state(self) -> int:
        """The number of the first state."""
        return self.first_literal + len(self.literals)

    @property
    def first_statement(self) -> int:
        """The number of the first statement."""
        return self.first_state + len(self.states)

    @cached_property
    def constant(self) -> Sequence[bool]:
        """For every value, whether it is the same in all steps."""
        known = [not self.reads[read].walks for read, _ in self.loads]
        known += [True] * len(self.literals) + [False] * len(self.states)
        for statement in self.statements:
            known.append(all(known[argument] for argument in statement.args))
        return known

    @property
    def walks(self) -> Sequence[bool]:
        """For every read and write, whether each step has a row of its own."""
        return (*(row.walks for row in self.reads), *(row.walks for row in self.writes))

    def counts_steps(self) -> bool:
        """Whether there is a write for the number of steps."""
        return self.condition is not None


AnyKernel: TypeAlias = LoopKernel | RecurrenceKernel
"""What a kernel compiler takes."""
