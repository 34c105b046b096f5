"""What a call needs of memory, told before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frazil import _core
from frazil.compile.shapes import shapes_of_inputs

if TYPE_CHECKING:
    from frazil.compile.function import Function


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
class MemoryPlan:
    """What a call needs of memory; ``str`` shows it.

    Attributes
    ----------
    temporaries : int
        Bytes for temporaries: those that are never needed at once share memory.
    scratch : int
        Bytes that kernels need beside their operands; every further thread takes as many again
        while it works.
    nested : int or None
        Bytes that the programs of loops and calls take for themselves; None if only the call will
        tell.
    outputs : tuple of int or None
        The bytes of each output; None if only the call will tell.
    buffers : tuple of Buffer
        What instructions make, in order. Views need no memory and are not listed.
    """

    temporaries: int
    scratch: int
    nested: int | None
    outputs: tuple[int | None, ...]
    buffers: tuple[Buffer, ...]

    @property
    def peak(self) -> int:
        """The bytes that a call allocates at most on one thread, arguments aside.

        Where ``complete`` is false, what is found during the call comes on top.
        """
        known = (self.nested, *self.outputs)
        return self.temporaries + self.scratch + sum(bytes or 0 for bytes in known)

    @property
    def complete(self) -> bool:
        """Whether everything is known before the call."""
        sizes = (self.nested, *self.outputs, *(buffer.bytes for buffer in self.buffers))
        return None not in sizes

    def __str__(self) -> str:
        more = "" if self.complete else ", and more that is found during the call"
        nested = f"{self.nested} of programs within it, " if self.nested else ""
        lines = [
            f"peak {self.peak} bytes: {self.temporaries} of temporaries, {self.scratch} of "
            f"scratch, {nested}{sum(bytes or 0 for bytes in self.outputs)} of outputs{more}"
        ]
        for buffer in self.buffers:
            size = "?" if buffer.bytes is None else str(buffer.bytes)
            over = "" if buffer.over is None else f" over {buffer.over}"
            until = "" if buffer.until is None else f", until {buffer.until}"
            lines.append(f"{buffer.name}: {size} bytes, {buffer.location}{over}{until}")
        return "\n".join(lines)


def memory_plan(function: Function, shapes: Sequence[Any], named: Mapping[str, Any]) -> MemoryPlan:
    """The plan of ``function`` for arguments of these shapes."""
    dims = shapes_of_inputs(function, shapes, named)
    temporaries, scratch, nested, outputs, buffers = _core.memory_plan(function, dims)
    return MemoryPlan(
        temporaries,
        scratch,
        nested,
        tuple(outputs),
        tuple(Buffer(*entry[:6], None if entry[6] is None else str(entry[6])) for entry in buffers),
    )
