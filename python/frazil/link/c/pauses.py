"""Pauses of a walk along a row between blocks, in C: their reasons and their work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

from frazil.link.c import syntax as c
from frazil.link.c.row_folds import Folding
from frazil.link.kernel.loop_kernel import PATIENCE, Status

DECIDED = 128
"""The blocks after which a walk asks whether a fold of bools can still change."""


def stops(at: str) -> str:
    """The condition that a walk along a row, which is not at its end, is to stop."""
    return f"{at} < n_inner && loop_stops()"


class Pause(Protocol):
    """A reason to pause."""

    def limits(self) -> Iterator[c.Statement]:
        """Move the ``end`` of the blocks to the next pause, if that comes earlier."""
        ...

    def act(self) -> c.Statement:
        """The work of the walk in a pause of this kind."""
        ...


class _OfFoldings:
    """A pause after some blocks, in which foldings do something."""

    blocks: ClassVar[int]

    def __init__(self, foldings: Sequence[Folding], lanes: int) -> None:
        self._foldings = foldings
        self._end = f"i + {self.blocks * lanes}"


class Columns(_OfFoldings):
    """Rows of one element were joined to one row: each block has outputs of its own."""

    blocks = 1

    def limits(self) -> Iterator[c.Statement]:
        yield c.If(f"columns && end > {self._end}", [c.Assign("end", self._end)])

    def act(self) -> c.Statement:
        body = [
            *_spilled(self._foldings),
            *(each.leave_columns() for each in self._foldings),
            *(each.reset() for each in self._foldings),
        ]
        return c.If("columns", body)


class Decided(_OfFoldings):
    """Folds of bools may be decided, and the row does nothing else."""

    blocks = DECIDED

    def limits(self) -> Iterator[c.Statement]:
        yield c.If(f"end > {self._end}", [c.Assign("end", self._end)])

    def act(self) -> c.Statement:
        laid_out = [*_spilled(self._foldings)]
        decided = " && ".join(each.is_decided() for each in self._foldings)
        return c.If("i < n_inner", [*laid_out, c.If(decided, [c.Assign("i", "n_inner")])])


class Asking:
    """A long row takes long, and the user may stop it."""

    def limits(self) -> Iterator[c.Statement]:
        last = f"(i | {PATIENCE - 1})"
        yield c.If(f"end > {last}", [c.Assign("end", f"{last} + 1")])

    def act(self) -> c.Statement:
        asks = f"!(i & {PATIENCE - 1}) && {stops('i')}"
        return c.If(asks, [c.Return(f"{Status.STOPPED:d}")])


class Carrying:
    """Sums of floats are carried to the next level."""

    def __init__(self, summed: Sequence[Folding], foldings: Sequence[Folding]) -> None:
        self._summed = summed
        self._foldings = foldings

    def limits(self) -> Iterator[c.Statement]:
        for each in self._summed:
            until = each.until_carried()
            yield c.If(f"end > {until}", [c.Assign("end", until)])

    def act(self) -> c.Statement:
        body = [
            *_spilled(self._foldings),
            *(each.carry() for each in self._summed),
            *(own for each in self._foldings for own in each.reload()),
        ]
        return c.If(" || ".join(each.is_due() for each in self._summed), body)


def _spilled(foldings: Sequence[Folding]) -> Iterator[c.Statement]:
    for each in foldings:
        yield from each.spill()
