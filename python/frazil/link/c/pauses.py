"""Why a walk along a row pauses between blocks, and what it does then, in C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from frazil.link.c import syntax as c
from frazil.link.c.folding import Folding

DECIDED = 128
"""The blocks after which a walk asks whether a fold of bools can still change."""


class Pause(Protocol):
    """A reason to pause."""

    def limits(self) -> Iterator[c.Statement]:
        """Move the ``end`` of the blocks to the next pause, if that comes earlier."""
        ...

    def act(self) -> c.Statement:
        """What the walk does in a pause of this kind."""
        ...


class Columns:
    """Rows of one element were joined to one row: each block has outputs of its own."""

    def __init__(self, foldings: Sequence[Folding], lanes: int) -> None:
        self._foldings = foldings
        self._end = f"i + {lanes}"

    def limits(self) -> Iterator[c.Statement]:
        yield c.If(f"columns && end > {self._end}", [c.Assign("end", self._end)])

    def act(self) -> c.Statement:
        body = [
            *_spilled(self._foldings),
            *(each.leave_columns() for each in self._foldings),
            *(each.reset() for each in self._foldings),
        ]
        return c.If("columns", body)


class Decided:
    """Folds of bools may be decided, and the row does nothing else."""

    def __init__(self, foldings: Sequence[Folding], lanes: int) -> None:
        self._foldings = foldings
        self._end = f"i + {DECIDED * lanes}"

    def limits(self) -> Iterator[c.Statement]:
        yield c.If(f"end > {self._end}", [c.Assign("end", self._end)])

    def act(self) -> c.Statement:
        laid_out = [*_spilled(self._foldings)]
        decided = " && ".join(each.is_decided() for each in self._foldings)
        return c.If("i < n_inner", [*laid_out, c.If(decided, [c.Assign("i", "n_inner")])])


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
