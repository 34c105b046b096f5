"""What a call needs of memory, told before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

from frazil import _core
from frazil._core import SharedVariable, Variable

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
    outputs : tuple of int or None
        The bytes of each output; None if only the call will tell.
    buffers : tuple of Buffer
        What instructions make, in order. Views need no memory and are not listed.
    """

    temporaries: int
    scratch: int
    outputs: tuple[int | None, ...]
    buffers: tuple[Buffer, ...]

    @property
    def peak(self) -> int:
        """The bytes that a call allocates at most on one thread, arguments aside.

        Where ``complete`` is false, what is found during the call comes on top.
        """
        return self.temporaries + self.scratch + sum(bytes or 0 for bytes in self.outputs)

    @property
    def complete(self) -> bool:
        """Whether everything is known before the call."""
        sizes = (*self.outputs, *(buffer.bytes for buffer in self.buffers))
        return None not in sizes

    def __str__(self) -> str:
        more = "" if self.complete else ", and more that is found during the call"
        lines = [
            f"peak {self.peak} bytes: {self.temporaries} of temporaries, {self.scratch} of "
            f"scratch, {sum(bytes or 0 for bytes in self.outputs)} of outputs{more}"
        ]
        for buffer in self.buffers:
            size = "?" if buffer.bytes is None else str(buffer.bytes)
            over = "" if buffer.over is None else f" over {buffer.over}"
            until = "" if buffer.until is None else f", until {buffer.until}"
            lines.append(f"{buffer.name}: {size} bytes, {buffer.location}{over}{until}")
        return "\n".join(lines)


def memory_plan(function: Function, shapes: Sequence[Any], named: Mapping[str, Any]) -> MemoryPlan:
    """The plan of ``function`` for arguments of these shapes."""
    parameters = [x for x in function.inputs if not isinstance(x, SharedVariable)]
    if len(shapes) > len(parameters):
        raise TypeError(f"the function takes {len(parameters)} arguments, given {len(shapes)}")
    unknown = set(named) - {x.name for x in parameters[len(shapes) :]}
    if unknown:
        raise TypeError(f"no argument is called {', '.join(map(repr, sorted(unknown)))}")
    dims = [_shape(x, shape) for x, shape in zip(parameters, shapes, strict=False)]
    for x in function.inputs[len(shapes) :]:
        if isinstance(x, SharedVariable):
            dims.append(_shape(x, x.get_value(borrow=True)))
        elif x.name is not None and x.name in named:
            dims.append(_shape(x, named[x.name]))
        elif None not in x.type.shape:
            dims.append([length or 0 for length in x.type.shape])
        else:
            raise TypeError(f"the shape of {x} is missing: it is {x.type}")
    temporaries, scratch, outputs, buffers = _core.memory_plan(function, dims)
    return MemoryPlan(
        temporaries,
        scratch,
        tuple(outputs),
        tuple(Buffer(*entry[:6], None if entry[6] is None else str(entry[6])) for entry in buffers),
    )


def _shape(x: Variable, given: Any) -> list[int]:
    """The lengths that ``given`` states: a tuple of numbers, or something that has a shape."""
    shape = getattr(given, "shape", given)
    lengths = [index(length) for length in ((shape,) if isinstance(shape, int) else shape)]
    fits = len(lengths) == x.ndim and all(
        static is None or static == length
        for static, length in zip(x.type.shape, lengths, strict=True)
    )
    if not fits or min(lengths, default=0) < 0:
        raise ValueError(f"{x} is {x.type}, which shape {tuple(lengths)} does not fit")
    return lengths
