"""The memory that a call needs, known before it runs."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
from frazil.graph.dataclass import dataclass


@dataclass(frozen=True)
class Buffer:
    """Memory that one instruction allocates or takes over.

    Attributes
    ----------
    name : str
        The value in it, as the program calls it.
    bytes : int or None
        Its size; None if it depends on values.
    location : str
        ``"temporary at ..."``, ``"output ..."``, ``"input ..."`` or ``"found during the call"``.
    instruction : str
        The instruction that makes it.
    over : str or None
        The operand whose memory it takes over.
    until : str or None
        The last instruction that reads it, or the one that takes over its memory; None if it is
        kept to the end.
    node : str or None
        The nodes that it comes from, and the lines that built them.
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
    """The memory of the two branches of an IfElse.

    Attributes
    ----------
    instruction : str
        It runs one of the two branches.
    then_bytes, else_bytes : int
        The memory of each branch, with the most expensive of the branches within it.
    node : str or None
        The nodes that it comes from, and the lines that built them.
    """

    instruction: str
    then_bytes: int
    else_bytes: int
    node: str | None


@dataclass(frozen=True)
class MemoryPlan:
    """The memory that a call needs; ``str`` shows it.

    Attributes
    ----------
    temporaries : int
        Bytes for temporaries, also of scans and calls within the program. Temporaries that are
        never needed at the same time share memory.
    scratch : int
        Bytes that kernels need beside their operands; every further thread takes as many again
        while it works.
    choices : int or None
        Bytes that branches take if the most expensive branch of every IfElse runs; None if a
        program within this one finds out only while it runs.
    found : int or None
        Bytes beside outputs that the call allocates while it runs, for the rows of scans that may
        end early, if they do all steps; None if it depends on values.
    outputs : tuple of int or None
        The bytes of each output, if scans do all their steps; None if it depends on values.
    is_exact : bool
        Whether every call takes ``peak``. If not, a call takes less if it runs a cheaper branch, or
        if a scan ends early; it never takes more.
    branches : tuple of Branch
        The memory of each IfElse, as far as it is known before the call.
    buffers : tuple of Buffer
        The buffers that instructions make, in order. Views need no memory and are not listed.
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

        This is for the most expensive call, which runs the most expensive branch of every IfElse
        and all steps of its scans. If ``complete`` is false, the call may allocate more.
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


def _text(node: object) -> str | None:
    return None if node is None else str(node)
