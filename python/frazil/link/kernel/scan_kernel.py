"""The scan kernel: a whole scan whose steps work on a few numbers.

A :class:`ScanKernel` describes a step on single elements; the states stay in registers from step to
step. Every linker that makes native code lowers the same kernel.

The native form is ``int32_t kernel(char *const *pointers, int64_t steps, int64_t one, const int64_t
*strides)``. Pointers and strides (in bytes, from step to step) list the reads and then the writes.
The rows of both have no gaps. The initial value of a state may lie where its last value goes, so a
long scan is several calls. The function returns a
:class:`~frazil.link.kernel.loop_kernel.Status`: ``ENDED`` if the condition held in its last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Statement


class ScanRead(NamedTuple):
    """An operand of ``size`` elements; if it ``walks``, a row of that size for each step."""

    dtype: str
    size: int
    walks: bool


class StateElement(NamedTuple):
    """One element of a state: its initial value, and the value that the next step gets."""

    dtype: str
    start: int
    next: int


class ScanWrite(NamedTuple):
    """An output: if it ``walks``, a row of ``values`` for each step, else those after the last.

    Values after the last step are values of states.
    """

    dtype: str
    values: tuple[int, ...]
    walks: bool


@dataclass(frozen=True)
class ScanKernel:
    """The step of a scan, in single assignment form.

    Its values are numbered: loads (each of an element of a read), literals, states, statements.
    The step in which the value ``condition`` holds is the last; a kernel with a condition also
    writes the number of steps done, one int64, behind the other writes.
    """

    reads: tuple[ScanRead, ...]
    loads: tuple[tuple[int, int], ...]
    literals: tuple[Literal, ...]
    states: tuple[StateElement, ...]
    statements: tuple[Statement, ...]
    writes: tuple[ScanWrite, ...]
    condition: int | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """The hash, kept: kernels are looked up often, and have many statements."""
        first = self.reads, self.loads, self.literals, self.states
        return hash((*first, self.statements, self.writes, self.condition))

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
            known.append(all(map(known.__getitem__, statement.args)))
        return known

    @property
    def walks(self) -> Sequence[bool]:
        """For every read and write, whether each step has a row of its own."""
        return (*(read.walks for read in self.reads), *(write.walks for write in self.writes))

    def counts_steps(self) -> bool:
        """Whether there is a write for the number of steps."""
        return self.condition is not None


AnyKernel: TypeAlias = LoopKernel | ScanKernel
"""A kernel that a kernel compiler takes."""
