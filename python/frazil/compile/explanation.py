"""The segments and instructions of a function, as text and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import frazil._core as _core
from frazil._core import FrozenApply, Program
from frazil.graph.dataclass import dataclass
from frazil.link.fusion.registry import LoweredOps, find_fusion
from frazil.link.linkers.tiered import replaceable
from frazil.link.lowering.draws import reason_against
from frazil.link.lowering.native_form import has_form
from frazil.link.lowering.origin import Origin
from frazil.random.draw import Drawing

_SHOWN = 8
"""The number of nodes of a segment that a line names."""

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class ExplainedSegment:
    """A part of the graph that runs as one.

    Attributes
    ----------
    nodes : tuple of FrozenApply
        Its nodes.
    instructions : tuple of str
        Its instructions.
    kernel : int or None
        The number of its kernel; equal kernels have one number. None if it has no kernel.
    sizes : tuple of int or None
        The sizes in its instructions, such as the lengths that a kernel loops over. None for a size
        that depends on values. Empty if no shapes were given.
    shapes : tuple of tuple or None
        The shapes of the results of its instructions; None and empty as for ``sizes``.
    apart : str or None
        Why an elementwise node is in no native loop, or why NumPy draws random numbers by a call
        of Python.
    """

    nodes: tuple[FrozenApply, ...]
    instructions: tuple[str, ...]
    kernel: int | None
    sizes: tuple[int | None, ...]
    shapes: tuple[Shape | None, ...]
    apart: str | None = None

    def __str__(self) -> str:
        names = ", ".join(str(node.op) for node in self.nodes[:_SHOWN])
        hidden = len(self.nodes) - _SHOWN
        more = f" and {hidden} more" if hidden > 0 else ""
        made = ", ".join("?" if shape is None else f"{shape}" for shape in self.shapes)
        head = names + more + (f" -> {made}" if made else "")
        told = [*self.instructions, *([] if self.apart is None else [f"apart: {self.apart}"])]
        return "\n".join([head, *(f"    {text}" for text in told)])


@dataclass(frozen=True)
class Explanation:
    """The work of a call; ``str`` shows it.

    Attributes
    ----------
    linker : str
        The linker that made the program.
    segments : tuple of ExplainedSegment
        The segments, in the order in which they run.
    definitions : tuple of str
        The definitions of inputs, constants and sizes, by their names in instructions.
    outputs : str
        The results.
    programs : tuple of str
        The programs of scans and branches, by the names that instructions give them, in lines.
    bindings : int
        The number of bindings: sizes, strides and memory computed for new shapes of arguments, for
        all segments. Functions of equal graphs share a program, and so these numbers.
    hits : int
        The number of calls that reused the binding of an earlier call.
    waiting : int
        The kernels whose places C's will take when calls have taken long enough.
    untiered : str or None
        Why C compiled first by default: an op that it alone compiles, or compiles better.
    """

    linker: str
    segments: tuple[ExplainedSegment, ...]
    definitions: tuple[str, ...]
    outputs: str
    programs: tuple[str, ...]
    bindings: int
    hits: int
    waiting: int = 0
    untiered: str | None = None

    @property
    def kernels(self) -> int:
        """The number of different kernels."""
        return len({part.kernel for part in self.segments} - {None})

    def __str__(self) -> str:
        head = (
            f"{self.linker}: segments {len(self.segments)}, kernels {self.kernels}, bindings "
            f"{self.bindings}, hits {self.hits}"
        )
        if self.waiting:
            head += f", waiting for C {self.waiting}"
        if self.untiered is not None:
            head += f"; C compiled first: {self.untiered}"
        numbered = [f"{at}: {part}" for at, part in enumerate(self.segments)]
        return "\n".join([head, *self.definitions, *numbered, self.outputs, *self.programs])


class _Instruction(NamedTuple):
    """An instruction as the runtime reports it."""

    text: str
    origin: int | None
    kernel: int | None
    sizes: list[int | None]
    shapes: list[list[int] | None]


def explain(
    program: Program, linker: str, dims: Sequence[Sequence[int]] | None, untiered: str | None = None
) -> Explanation:
    """Return the work of a program, for inputs of these shapes if they are known."""
    by_origin: dict[int | None, list[_Instruction]] = {}
    for reported in _core.explain(program, dims):
        instruction = _Instruction(*reported)
        by_origin.setdefault(instruction.origin, []).append(instruction)
    definitions, outputs, programs = program.surroundings
    bindings, hits = program.bindings
    return Explanation(
        linker,
        tuple(
            _segment(origin, by_origin.get(number, ()), linker)
            for number, origin in enumerate(program.origins)
        ),
        tuple(definitions),
        outputs,
        tuple(programs),
        bindings,
        hits,
        len(replaceable(program)) if linker == "tiered" else 0,
        untiered,
    )


def _segment(origin: object, instructions: Sequence[_Instruction], linker: str) -> ExplainedSegment:
    """The segment of ``origin``, with the instructions that the runtime lists for it."""
    nodes = tuple(origin.nodes) if isinstance(origin, Origin) else ()
    kernel = next((one.kernel for one in instructions if one.kernel is not None), None)
    return ExplainedSegment(
        nodes,
        tuple(one.text for one in instructions),
        kernel,
        tuple(size for one in instructions for size in one.sizes),
        tuple(
            shape if shape is None else tuple(shape) for one in instructions for shape in one.shapes
        ),
        _apart(nodes, linker) if kernel is None else None,
    )


def _apart(nodes: Sequence[FrozenApply], linker: str) -> str | None:
    """Why the linker has no loop for a node, or calls Python for it."""
    if len(nodes) == 1 and isinstance(nodes[0].op, Drawing) and linker != "py":
        return reason_against(nodes[0].op)
    if len(nodes) == 1 and has_form(nodes[0].op) and linker not in ("py", "debug"):
        return "its native form is None for these inputs, so that Python calls perform"
    try:
        fusion = find_fusion(linker)
    except ValueError:
        return None  # a linker of the user's, which was given its fusion
    if len(nodes) != 1 or not isinstance(fusion, LoweredOps):
        return None
    return fusion.refusal(nodes[0])
