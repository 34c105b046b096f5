"""Stacks of which only the last rows are used: loops carry these instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.scalar.constants import constant
from frazil.scan.body import Body, State
from frazil.tensor.broadcasting import broadcast_to, with_lengths
from frazil.tensor.indexing import DYNAMIC, Subtensor
from frazil.tensor.joining import stack
from frazil.tensor.lengths import Lengths, literal, minimum, static_length, subtract

MOST = 8
"""So many of the last rows a loop carries."""


@dataclass(frozen=True)
class Part:
    """What is taken of a stack: the row that a step made, or all as from that one.

    ``back`` is how many steps are after it, and itself.
    """

    result: Variable
    back: int
    several: bool

    def of(self, lasts: Sequence[Variable], steps: Variable, *, backwards: bool) -> Variable:
        """The part, of what the last steps made, the latest first."""
        if not self.several:
            return lasts[self.back - 1]
        rows = stack(list(lasts[: self.back] if backwards else lasts[self.back - 1 :: -1]))
        known = static_length(steps)
        if known is None or known < self.back:
            made = minimum(steps, literal(self.back))
            rows = rows[:made] if backwards else rows[subtract(literal(self.back), made) :]
        return rows


def last_parts(users: Iterable[FrozenApply | None], *, backwards: bool) -> list[Part] | None:
    """Return what ``users`` take of a stack if that is of its last steps; None if it is more."""
    found: list[Part] = []
    for user in users:
        if user is None or not isinstance(user.op, Subtensor) or len(user.op.template) != 1:
            return None
        (entry,) = user.op.template
        part = _part(user, entry, backwards=backwards)
        if part is None or not 1 <= part.back <= MOST:
            return None
        found.append(part)
    return found


def _part(user: FrozenApply, entry: object, *, backwards: bool) -> Part | None:
    row = user.outputs[0]
    if not isinstance(entry, tuple):
        at = _known(entry, user.inputs[1:])
        # Backwards, the last step makes the first row.
        return None if at is None else Part(row, at + 1 if backwards else -at, several=False)
    start, stop, step = entry
    bound, end = (stop, start) if backwards else (start, stop)
    at = _known(bound, user.inputs[1:])
    if at is None or end not in (None, 0) or (not backwards and end == 0) or step not in (None, 1):
        return None
    return Part(row, at if backwards else -at, several=True)


def _known(entry: object, dynamic: Sequence[Variable]) -> int | None:
    if entry == DYNAMIC and len(dynamic) == 1 and isinstance(dynamic[0], Constant):
        return int(dynamic[0].data)
    return entry if isinstance(entry, int) else None


def carry(
    body: Body, stack: int, count: int, row: Callable[[], Lengths | None]
) -> list[int] | None:
    """Return the positions of states that end as what the last ``count`` steps stacked.

    They are added to the loop where there are none; None if nothing tells the lengths that ``row``
    gives, those of what they start from.
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
