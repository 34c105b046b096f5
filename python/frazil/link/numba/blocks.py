"""Long runs of statements, which Numba types and lowers as one.

What Numba does with a function grows faster than its length: a thousand statements take it seconds.
So a long run of them is one statement for it, of which LLVM gets the calls of a few functions, one
for each op and its dtypes, and puts these in place.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from frazil.link.numba.functions import TYPES

LONG = 100
"""The number of statements from which on a run of them is a block."""


@dataclass(frozen=True, slots=True)
class Function:
    """An op, as a Python function of single elements of some dtypes."""

    name: str
    lines: tuple[str, ...]
    operands: tuple[str, ...]
    result: str

    @property
    def text(self) -> str:
        """Its definition; the last line is the value."""
        params = ", ".join(param(k) for k in range(len(self.operands)))
        *before, value = self.lines
        body = "".join(f"    {line}\n" for line in before)
        return f"def {self.name}({params}):\n{body}    return {value}\n"

    @property
    def signature(self) -> Any:
        """What Numba takes and gives."""
        return TYPES[self.result](*(TYPES[dtype] for dtype in self.operands))


def param(position: int) -> str:
    """What a function calls its operand at a position."""
    return f"x{position}"


@dataclass(frozen=True, slots=True)
class Call:
    """A statement: the value of that number is a function of others."""

    value: int
    function: Function
    args: tuple[int, ...]


def block(
    calls: Sequence[Call],
    inputs: Sequence[int],
    outputs: Sequence[int],
    compiled: Mapping[Function, Any],
) -> Any:
    """A Numba function from the tuple of the inputs to that of the outputs.

    ``compiled`` describes the functions by the time that it is lowered.
    """
    made = {call.value: call.function.result for call in calls}
    results = types.Tuple([TYPES[made[value]] for value in outputs])

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = dict(zip(inputs, cgutils.unpack_tuple(builder, args[0]), strict=True))
        for call in calls:
            # None of the functions can fail, so nobody asks how it went.
            _, values[call.value] = context.call_internal_no_propagate(
                builder,
                compiled[call.function],
                call.function.signature,
                [values[argument] for argument in call.args],
            )
        return context.make_tuple(builder, results, [values[value] for value in outputs])

    @intrinsic
    def run(typingctx: Any, given: Any) -> Any:
        return results(given), codegen

    return run
