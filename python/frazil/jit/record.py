"""The record of a compiled function: its calls, and those that run as plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field

_ATTEMPTS = 16
"""A function that was uncacheable is traced again at its 1st, 2nd, 4th, ... call, up to this."""


@dataclass(slots=True)
class Uncacheable:
    """Calls that run as plain Python."""

    reasons: list[str]
    calls: int = 0
    is_final: bool = False

    def is_over(self) -> bool:
        """Whether to look once more, as it may have written for the first time only."""
        if self.is_final:
            return False
        self.calls += 1
        return self.calls <= _ATTEMPTS and self.calls & (self.calls - 1) == 0


@dataclass(slots=True)
class Record:
    """The counts of the calls of a function."""

    hits: int = 0
    misses: int = 0
    plain: int = 0
    hits_before: int = 0
    """Calls that Rust had served when the record was begun."""
    changes: list[str] = field(default_factory=list)
    """The reasons for the last misses."""
