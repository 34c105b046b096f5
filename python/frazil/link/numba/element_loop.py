"""The Python text of loops of elements, as Numba compiles it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from frazil.link.kernel.loop_kernel import Status
from frazil.link.kernel.scalar_loop import PATIENCE, ScalarLoopBody, body_of
from frazil.link.numba import functions
from frazil.scalar.loop import ScalarLoop
from frazil.scalar.op import ScalarOp


class ScalarText(Protocol):
    """The text that a loop becomes a part of."""

    temporaries: int

    def name(self, name: str, value: object) -> str:
        """The name of a value in the text."""
        ...

    def apply(self, op: ScalarOp, operands: Sequence[tuple[str, str]], result: str) -> list[str]:
        """Lines of Python; the last is the op's expression, of dtype ``result``."""
        ...


def write_loop(
    source: ScalarText, loop: ScalarLoop, operands: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Lines that run a loop for one element, and the names of its results.

    ``operands`` are expressions: the number of steps, states, constants, of the loop's dtypes.
    """
    source.temporaries += 1
    own, body = f"t{source.temporaries}_", body_of(loop)
    given = range(body.first_literal)
    lines = [f"{own}v{k} = {text}" for k, text in zip(given, operands[1:], strict=True)]
    for k, literal in enumerate(body.literals, body.first_literal):
        value = np.dtype(literal.dtype).type(literal.value).item()
        text = source.name(f"{own}c{k}", value) if isinstance(value, float) else repr(value)
        lines.append(f"{own}v{k} = {literal.dtype}({text})")
    lines += _statements(source, body, own, constant=True)
    results = [f"{own}v{k}" for k in range(len(body.states))]
    if body.condition is not None:
        lines.append(f"{own}ends = bool(False)")
        results.append(f"{own}ends")
    lines.append(f"for {own}step in range({operands[0]}):")
    lines += (f"    {line}" for line in _step(source, body, own))
    return lines, tuple(results)


def _step(source: ScalarText, body: ScalarLoopBody, own: str) -> Iterator[str]:
    yield from _statements(source, body, own, constant=False)
    for k, value in enumerate(body.nexts):
        yield f"{own}n{k} = {own}v{value}"
    if body.condition is not None:
        yield f"{own}ends = {own}v{body.condition}"
    for k in range(len(body.states)):
        yield f"{own}v{k} = {own}n{k}"
    if body.condition is not None:
        yield f"if {own}ends:"
        yield "    break"
    stops = source.name("loop_stops", functions.function("loop_stops", "int32"))
    yield f"if {own}step & {PATIENCE - 1} == {PATIENCE - 1} and {stops}() != 0:"
    yield f"    status = int32({Status.STOPPED:d})"
    yield "    break"


def _statements(
    source: ScalarText, body: ScalarLoopBody, own: str, *, constant: bool
) -> Iterator[str]:
    for k, statement in enumerate(body.statements, body.first_statement):
        if body.constant[k] is constant:
            operands = [(f"{own}v{a}", body.dtypes[a]) for a in statement.args]
            *lines, value = source.apply(statement.op, operands, statement.dtype)
            yield from lines
            yield f"{own}v{k} = {value}"
