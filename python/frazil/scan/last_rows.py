"""Reads of the last rows of stacks: the scan carries these rows as states instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.scalar.constants import constant
from frazil.scan.body import ScanBody, State
from frazil.tensor.basic_indexing import DYNAMIC, Subtensor
from frazil.tensor.broadcasting import broadcast_to, with_lengths
from frazil.tensor.joining import stack
from frazil.tensor.lengths import Lengths, literal, minimum, static_length, subtract

MAX_CARRIED_ROWS = 8
"""The most rows that a scan carries as states."""


@dataclass(frozen=True)
class TailRead:
    """A read of the last rows of a stack: of one row, or of ``several``, from that row to the end.

    ``back`` counts the row from the end: 1 is the last one.
    """

    result: Variable
    back: int
    several: bool

    def of(self, latest: Sequence[Variable], steps: Variable, *, backwards: bool) -> Variable:
        """The rows that it reads, from the rows of the last steps, the latest first."""
        if not self.several:
            return latest[self.back - 1]
        rows = stack(list(latest[: self.back] if backwards else latest[self.back - 1 :: -1]))
        known = static_length(steps)
        if known is None or known < self.back:
            made = minimum(steps, literal(self.back))
            rows = rows[:made] if backwards else rows[subtract(literal(self.back), made) :]
        return rows


def tail_reads(users: Iterable[FrozenApply | None], *, backwards: bool) -> list[TailRead] | None:
    """Return how ``users`` read a stack, if all read only its last rows; else None."""
    found: list[TailRead] = []
    for user in users:
        if user is None or not isinstance(user.op, Subtensor) or len(user.op.template) != 1:
            return None
        read = _tail_read(user, backwards=backwards)
        if read is None or not 1 <= read.back <= MAX_CARRIED_ROWS:
            return None
        found.append(read)
    return found


def _tail_read(user: FrozenApply, *, backwards: bool) -> TailRead | None:
    (entry,) = user.op.template
    row, rows = user.outputs[0], user.inputs[0].type.shape[0]
    if not isinstance(entry, tuple):
        at = _known(entry, user.inputs[1:])
        if at is not None and rows is not None and (at < 0) == backwards:
            at += rows if backwards else -rows  # counted from the end where the last step's row is
        # Backwards, the last step makes the first row.
        return None if at is None else TailRead(row, at + 1 if backwards else -at, several=False)
    start, stop, step = entry
    bound, end = (stop, start) if backwards else (start, stop)
    at = _known(bound, user.inputs[1:])
    if at is None or end not in (None, 0) or (not backwards and end == 0) or step not in (None, 1):
        return None
    return TailRead(row, at if backwards else -at, several=True)


def _known(entry: object, dynamic: Sequence[Variable]) -> int | None:
    if entry == DYNAMIC and len(dynamic) == 1 and isinstance(dynamic[0], Constant):
        return int(dynamic[0].data)
    return entry if isinstance(entry, int) else None


def carry(
    body: ScanBody, stack: int, count: int, row: Callable[[], Lengths | None]
) -> list[int] | None:
    """Return the positions of states that end as the rows that the last ``count`` steps stacked.

    States that are missing are added; they start from zeros of the lengths that ``row`` returns.
    None if these lengths are unknown.
    """
    y = body.stacked[stack]
    found: list[int] = []
    for _ in range(count):
        at = next((k for k, state in enumerate(body.states) if state.next is y), None)
        if at is None:
            dims = row()
            if dims is None:
                return None
            own = TensorType(y.dtype, y.type.shape)
            zeros = with_lengths(broadcast_to(constant(0, y.dtype), dims), own)
            at = len(body.states)
            body.states.append(State(own(None), zeros, y))
        found.append(at)
        y = body.states[at].inner
    return found
