"""The Python text of loops of elements, as Numba compiles it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Protocol

import numpy as np

from frazil.link.kernel.loop_kernel import Status
from frazil.link.kernel.scalar_loop import PATIENCE, ScalarLoopBody, body_of
from frazil.link.numba import functions, vectors
from frazil.link.numba.lines import indented
from frazil.scalar.loop import ScalarLoop
from frazil.scalar.op import ScalarOp


class ScalarText(Protocol):
    """The text that a loop becomes a part of."""

    temporaries: int
    lanes: int
    mask: str
    loop_results: dict[ScalarLoop, frozenset[int]]

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
    if source.lanes > 1:
        for k, dtype in enumerate(body.states):
            lines[k] = f"{own}v{k} = {_spread(source, dtype)}({operands[1 + k]})"
    for k, literal in enumerate(body.literals, body.first_literal):
        value = np.dtype(literal.dtype).type(literal.value).item()
        text = source.name(f"{own}c{k}", value) if isinstance(value, float) else repr(value)
        lines.append(f"{own}v{k} = {literal.dtype}({text})")
    lines += _statements(source, body, own, constant=True)
    results = [f"{own}v{k}" for k in range(len(body.states))]
    if body.condition is not None:
        none = "bool(False)"
        never = none if source.lanes == 1 else f"{_spread(source, 'bool')}({none})"
        lines.append(f"{own}ends = {never}")
        results.append(f"{own}ends")
    if source.lanes == 1:
        return [*lines, *_of_element(source, body, own, operands[0])], tuple(results)
    held = source.loop_results.get(loop, frozenset(range(len(results))))
    return [*lines, *_of_block(source, body, own, operands[0], held)], tuple(results)


def _of_element(source: ScalarText, body: ScalarLoopBody, own: str, steps: str) -> Iterator[str]:
    """The steps of one element."""
    yield f"for {own}step in range({steps}):"
    yield from indented(_step(source, body, own))
    for k in range(len(body.states)):
        yield f"    {own}v{k} = {own}n{k}"
    if body.condition is not None:
        yield f"    {own}ends = {own}v{body.condition}"
        yield f"    if {own}ends:"
        yield "        break"
    yield from indented(_ask(source, f"{own}step & {PATIENCE - 1} == {PATIENCE - 1}"))


def _of_block(
    source: ScalarText, body: ScalarLoopBody, own: str, steps: str, held: Container[int]
) -> Iterator[str]:
    """The steps of all elements of a block; those that have ended keep the results ``held``."""
    select = source.name("select", functions.function("select", "bool"))
    any_lane = source.name("any_lane", vectors.any_lane)
    first = source.name(f"first_{source.lanes}", vectors.first(source.lanes))
    yield f"{own}steps = {steps}"
    yield f"{own}step = int64(0)"
    yield f"{own}goes = {first}(count) & ({own}step < {own}steps)"
    yield f"while {any_lane}({own}goes):"
    mask, source.mask = source.mask, f"{own}goes"
    yield from indented(_step(source, body, own))
    source.mask = mask
    for k in range(len(body.states)):
        made = f"{select}({own}goes, {own}n{k}, {own}v{k})" if k in held else f"{own}n{k}"
        yield f"    {own}v{k} = {made}"
    yield f"    {own}step += 1"
    going = f"{own}goes & ({own}step < {own}steps)"
    if body.condition is not None:
        yield f"    {own}ends = {select}({own}goes, {own}v{body.condition}, {own}ends)"
        going = f"{going} & ({own}ends == bool(False))"
    yield f"    {own}goes = {going}"
    yield from indented(_ask(source, f"{own}step & {PATIENCE - 1} == 0"))


def _spread(source: ScalarText, dtype: str) -> str:
    return source.name(f"spread_{source.lanes}_{dtype}", vectors.spread(dtype, source.lanes))


def _step(source: ScalarText, body: ScalarLoopBody, own: str) -> Iterator[str]:
    yield from _statements(source, body, own, constant=False)
    for k, value in enumerate(body.nexts):
        yield f"{own}n{k} = {own}v{value}"


def _ask(source: ScalarText, when: str) -> Iterator[str]:
    """Leave the loop if the run is to stop."""
    stops = source.name("loop_stops", functions.function("loop_stops", "int32"))
    yield f"if {when} and {stops}() != 0:"
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
