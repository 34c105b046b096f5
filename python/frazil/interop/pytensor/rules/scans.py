"""The rule for ``Scan``: sequences, states at their taps, buffers that are read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from pytensor.scan.op import Scan

import frazil.tensor as ft
from frazil._core import Variable
from frazil.interop.pytensor.integers import Length, integer
from frazil.interop.pytensor.translation import NoRule, Results, Translation, cast, rule
from frazil.scan.build import build_scan, until

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp

Stacks: TypeAlias = Iterator[tuple[Variable, Variable | None]]
"""The stacks of a scan's results, and the last values of those that are states."""


@dataclass
class _ScanArguments:
    """The arguments of frazil's scan, and the use of its stacks."""

    steps: Length
    sequences: list[Variable] = field(default_factory=list)
    element_of: list[Any] = field(default_factory=list)
    infos: list[Any] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    wholes: list[Callable[[Stacks], Variable]] = field(default_factory=list)

    def state(self, info: Any, own: Sequence[object]) -> None:
        """Add a result of the step; ``own`` are the inner inputs that it is, at its taps."""
        self.infos.append(info)
        self.states += own


def _grouped(flat: Sequence[object], taps: Sequence[Sequence[int]]) -> list[list[object]]:
    rest = iter(flat)
    return [[next(rest) for _ in own] for own in taps]


@rule(Scan)
def _scan(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    info, inner_inputs, outer = op.info, list(op.fgraph.inputs), node.inputs
    given = _ScanArguments(integer(outer[0], t))
    given.sequences = [t[x][: given.steps] for x in op.outer_seqs(outer)]
    given.element_of = list(op.inner_seqs(inner_inputs))
    _buffers(op, node, given, t)
    taps = info.mit_sot_in_slices
    grouped = _grouped(op.inner_mitsot(inner_inputs), taps)
    for x, own, places in zip(op.outer_mitsot(outer), grouped, taps, strict=True):
        start = t[x][: -min(places)]
        order = sorted(range(len(places)), key=places.__getitem__)
        given.state({"initial": start, "taps": [places[i] for i in order]}, [own[i] for i in order])
        given.wholes.append(_after(start))
    for x, own in zip(op.outer_sitsot(outer), op.inner_sitsot(inner_inputs), strict=True):
        given.state(t[x][0], [own])
        given.wholes.append(_after(t[x][:1]))
    for rows in op.outer_nitsot(outer):
        given.state(None, [])
        given.wholes.append(_stack(integer(rows, t), given.steps, info.as_while))
    ends = zip(
        op.outer_untraced_sit_sot(outer), op.inner_untraced_sit_sot(inner_inputs), strict=True
    )
    for x, own in ends:
        given.state(t[x], [own])
        given.wholes.append(_last)
    return _run(op, node, given, t)


def _run(op: PyTensorOp, node: Apply, given: _ScanArguments, t: Translation) -> list[Variable]:
    inner_inputs = list(op.fgraph.inputs)
    if not given.sequences and not given.infos:
        raise NoRule("a Scan has neither sequences nor results")
    fixed = op.inner_non_seqs(inner_inputs)
    placeholders = [*given.element_of, *given.states, *fixed]

    def step(*values: Variable) -> Any:
        inner = Translation(outer=t, local=True)
        results = inner.graph(placeholders, op.fgraph.outputs, values)
        if not op.info.as_while:
            return results
        *results, condition = results
        return [*results, until(cast(condition, "bool"))]

    stacks, lasts, _ = build_scan(
        step,
        given.sequences,
        given.infos,
        [t[x] for x in op.outer_non_seqs(node.inputs)],
        given.steps,
        truncate_gradient=-1,
        go_backwards=False,
        strict=False,
        name=None,
    )
    each = iter(zip(stacks, lasts, strict=True))
    return [whole(each) for whole in given.wholes]


def _after(start: Variable) -> Callable[[Stacks], Variable]:
    """A state's stack, after what it started from."""
    return lambda stacks: ft.concatenate([start, next(stacks)[0]], axis=0)


def _last(stacks: Stacks) -> Variable:
    """A state after the last step, which is the first one if there is no step."""
    _, last = next(stacks)
    assert last is not None
    return last


def _stack(rows: Length, steps: Length, ends_early: bool) -> Callable[[Stacks], Variable]:
    """A stack. There may be more rows than steps: the rows of a truncated gradient are 0."""

    def whole(stacks: Stacks) -> Variable:
        stack, _ = next(stacks)
        if ends_early or rows is steps or (isinstance(rows, int) and rows == steps):
            return stack
        left = ft.maximum(ft.as_tensor(rows) - ft.as_tensor(steps), 0)
        zero = ft.constant(np.zeros((), stack.dtype))
        empty = ft.broadcast_to(zero, [left, *ft.shape(stack)[1:]])
        return ft.concatenate([stack, empty], axis=0)

    return whole


def _buffers(op: PyTensorOp, node: Apply, given: _ScanArguments, t: Translation) -> None:
    """Buffers that are read and written: a read element was written by an earlier step, or never.

    A read at tap t gets what tap s > t wrote s - t steps before, for the nearest such s.
    """
    info = op.info
    grouped = _grouped(op.inner_mitmot(list(op.fgraph.inputs)), info.mit_mot_in_slices)
    buffers = [t[x] for x in op.outer_mitmot(node.inputs)]
    taps_in, taps_out = info.normalized_mit_mot_in_slices, info.normalized_mit_mot_out_slices
    for buffer, own, places, written in zip(buffers, grouped, taps_in, taps_out, strict=True):
        lags: dict[int, list[tuple[int, Any]]] = {s: [] for s in written}
        for x, place in zip(own, places, strict=True):
            later = [s for s in written if s > place]
            if later:
                lags[min(later)].append((min(later) - place, x))
            else:
                given.sequences.append(buffer[place:][: given.steps])
                given.element_of.append(x)
        for s in written:
            steps = sorted(lags[s], key=lambda pair: -pair[0])
            given.state(_buffer_state(buffer, s, [lag for lag, _ in steps]), [x for _, x in steps])
        given.wholes.append(_written(buffer, list(written), given.steps))


def _buffer_state(buffer: Variable, place: int, lags: Sequence[int]) -> object:
    """The state that one tap of a buffer writes, read that many steps later."""
    if not lags:
        return None
    if list(lags) == [1]:
        return buffer[place - 1]
    back = lags[0]
    return {"initial": buffer[place - back : place], "taps": [-lag for lag in lags]}


def _written(
    buffer: Variable, places: Sequence[int], steps: Length
) -> Callable[[Stacks], Variable]:
    """A buffer with the values that its taps wrote; later steps and earlier taps write last."""

    def whole(stacks: Stacks) -> Variable:
        parts = {s: next(stacks)[0] for s in places}
        found = buffer
        for s in sorted(places, reverse=True):
            end = s + (steps if isinstance(steps, int) else ft.as_tensor(steps))
            if len(places) == 1:
                return ft.concatenate([found[:s], parts[s], found[end:]], axis=0)
            found = ft.set_subtensor(found[s:end], parts[s])
        return found

    return whole
