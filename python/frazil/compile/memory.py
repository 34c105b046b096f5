"""What a call needs of memory, told before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import frazil._core as _core


@dataclass(frozen=True)
class Buffer:
    """Memory that one instruction makes or takes over.

    Attributes
    ----------
    name : str
        What lies there, as the program calls it.
    bytes : int or None
        Its size; None if only the call will tell, because it depends on values.
    location : str
        ``"temporary at ..."``, ``"output ..."``, ``"input ..."`` or ``"found during the call"``.
    instruction : str
        What makes it.
    over : str or None
        The operand whose memory it takes over.
    until : str or None
        The last instruction that reads it, or what took over its memory; None if it stays to the
        end.
    node : str or None
        Which nodes it comes from, and the lines that built them.
    """

    name: str
    bytes: int | None
    location: str
    instruction: str
    over: str | None
    until: str | None
    node: str | None


@dataclass(frozen=True)
class Branch:
    """What the two programs take of which an instruction runs one.

    Attributes
    ----------
    instruction : str
        What runs one of them.
    then_bytes, else_bytes : int
        What the program takes that runs if the condition holds, and the other one, with the
        costliest of the branches within them.
    node : str or None
        Which nodes it comes from, and the lines that built them.
    """

    instruction: str
    then_bytes: int
    else_bytes: int
    node: str | None


@dataclass(frozen=True)
class MemoryPlan:
    """What a call needs of memory; ``str`` shows it.

    Attributes
    ----------
    temporaries : int
        Bytes for temporaries, and for those of loops and calls within the program: those that are
        never needed at once share memory.
    scratch : int
        Bytes that kernels need beside their operands; every further thread takes as many again
        while it works.
    choices : int or None
        Bytes that the programs of branches take if at every choice the costliest runs; None if a
        program within this one finds out while it runs.
    found : int or None
        Bytes beside outputs that the call finds while it runs, for the rows of loops that may end
        early, if they do all steps; None if only the call will tell, because it depends on values.
    outputs : tuple of int or None
        The bytes of each output, if loops do all their steps; None if only the call will tell.
    is_exact : bool
        Whether every call takes ``peak``; else calls take less where a cheaper branch is run, or a
        loop ends early, and never more.
    branches : tuple of Branch
        What the instructions take that run one of two programs, as far as it is known before.
    buffers : tuple of Buffer
        What instructions make, in order. Views need no memory and are not listed.
    """

    temporaries: int
    scratch: int
    choices: int | None
    found: int | None
    outputs: tuple[int | None, ...]
    is_exact: bool
    branches: tuple[Branch, ...]
    buffers: tuple[Buffer, ...]

    @property
    def peak(self) -> int:
        """The bytes that a call allocates at most on one thread, arguments aside.

        It is what the costliest call takes: one that runs the costliest branch at every choice, and
        all steps of its loops. Where ``complete`` is false, more is found during the call.
        """
        known = (self.choices, self.found, *self.outputs)
        return self.temporaries + self.scratch + sum(bytes or 0 for bytes in known)

    @property
    def complete(self) -> bool:
        """Whether everything is known before the call."""
        sizes = (self.choices, self.found, *self.outputs)
        return None not in sizes

    def __str__(self) -> str:
        most = "" if self.is_exact or not self.complete else "at most "
        parts = [f"{self.temporaries} of temporaries", f"{self.scratch} of scratch"]
        if self.choices:
            parts.append(f"{self.choices} of branches")
        if self.found:
            parts.append(f"{self.found} of rows that grow")
        parts.append(f"{sum(bytes or 0 for bytes in self.outputs)} of outputs")
        more = "" if self.complete else ", and more that is found during the call"
        lines = [f"peak {most}{self.peak} bytes: {', '.join(parts)}{more}"]
        for branch in self.branches:
            taken = f"{branch.then_bytes} bytes, or else {branch.else_bytes}"
            lines.append(f"{branch.instruction}: {taken}")
        for buffer in self.buffers:
            size = "?" if buffer.bytes is None else str(buffer.bytes)
            over = "" if buffer.over is None else f" over {buffer.over}"
            until = "" if buffer.until is None else f", until {buffer.until}"
            lines.append(f"{buffer.name}: {size} bytes, {buffer.location}{over}{until}")
        return "\n".join(lines)


def memory_plan(function: _core.Function, dims: Sequence[Sequence[int]]) -> MemoryPlan:
    """The plan of ``function`` for inputs of these shapes."""
    totals, is_exact, branches, buffers = _core.memory_plan(function, dims)
    temporaries, scratch, choices, found, outputs = totals
    return MemoryPlan(
        temporaries,
        scratch,
        choices,
        found,
        tuple(outputs),
        is_exact,
        tuple(Branch(*branch[:3], _text(branch[3])) for branch in branches),
        tuple(Buffer(*entry[:6], _text(entry[6])) for entry in buffers),
    )


def _text(node: Any) -> str | None:
    return None if node is None else str(node)
