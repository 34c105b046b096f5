"""Scans that keep few of their steps, for gradients in little memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frazil._core import Variable
from frazil.graph.collection import is_mapping
from frazil.graph.containers import in_container_of
from frazil.scalar.constants import as_tensor
from frazil.scan.arguments import (
    NonSequences,
    OutputsInfo,
    Sequences,
    listed,
)
from frazil.scan.build import scan
from frazil.tensor.creation import zeros
from frazil.tensor.elementwise.table import maximum, minimum
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import as_length, length
from frazil.tensor.reshaping import reshape


def scan_checkpoints(
    fn: Callable[..., object],
    sequences: Sequences = None,
    outputs_info: OutputsInfo = None,
    non_sequences: NonSequences = None,
    name: str = "checkpointscan_fn",
    n_steps: int | Variable | None = None,
    save_every_N: int = 10,
    padding: bool = True,
    return_updates: bool = True,
) -> Any:
    """Scan as :func:`frazil.scan` does, and keep only every ``save_every_N``-th step.

    The gradient computes the steps between again. With T steps it keeps T / N states, and the N
    states of one part at a time; it needs the least memory if N is near the square root of T.

    Parameters
    ----------
    fn, sequences, non_sequences, name, return_updates
        As for :func:`frazil.scan`. Sequences have no taps.
    outputs_info : tensor_like or list of them
        The initial value of each output; each step reads the outputs of the step before.
    n_steps : int or 0-d integer variable, optional
        The number of steps; needed where there are no sequences.
    save_every_N : int
        The number of steps between those that are kept.
    padding : bool
        If the number of steps is no multiple of N, add steps over zeros until it is one. Without
        padding, the steps that are left over are not done.

    Returns
    -------
    outputs : Variable or list of Variable
        The outputs of every N-th step, stacked along a new first axis.
    updates : dict of SharedVariable to Variable
        The new values of shared variables.

    Raises
    ------
    TypeError
        If an output is not read by the next step, or has taps.
    ValueError
        If the number of steps is unknown.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> sums, _ = fz.scan_checkpoints(lambda x, s: x + s, x, ft.constant(0.0), save_every_N=2)
    >>> fz.function([x], sums)([1.0, 2.0, 3.0, 4.0])
    array([ 3., 10.])
    """
    rows, initial = listed(sequences), listed(outputs_info)
    if any(is_mapping(given) or given is None for given in (*rows, *initial)):
        raise TypeError(
            "scan_checkpoints takes sequences without taps, and outputs that the next step reads: "
            "write them as tensors, or use fz.scan"
        )
    if not isinstance(save_every_N, int) or save_every_N < 1:
        raise ValueError(f"save_every_N must be a positive int, given {save_every_N!r}")
    taken = [as_tensor(x) for x in rows]
    first = _initial_values(fn, sequences, initial, non_sequences, n_steps)
    fixed = [as_tensor(x) for x in listed(non_sequences)]
    with in_container_of([*taken, *first, *fixed]):
        if n_steps is None and not taken:
            raise ValueError(
                "the number of steps of the scan is unknown: pass n_steps, or sequences"
            )
        steps = length(taken[0], 0) if n_steps is None else as_length(n_steps)
        parts = _parts(steps, save_every_N, padding=padding)
        blocks = [_blocks(x, steps, parts, save_every_N) for x in taken]

        def part(*given: Variable) -> object:
            """Run ``save_every_N`` steps and keep the last."""
            own, before = given[: len(blocks)], given[len(blocks) : len(blocks) + len(first)]
            outputs, updates = scan(
                fn,
                list(own),
                list(before),
                list(given[len(blocks) + len(first) :]),
                n_steps=save_every_N,
                return_list=True,
            )
            return [output[-1] for output in outputs], updates

        outputs, updates = scan(
            part, blocks, first, fixed, n_steps=parts, name=name, return_list=True
        )
    result = outputs[0] if len(outputs) == 1 else outputs
    return (result, updates) if return_updates else result


def _initial_values(
    fn: Callable[..., object],
    sequences: Sequences,
    initial: list[Any],
    fixed: NonSequences,
    n_steps: int | Variable | None,
) -> list[Variable]:
    """The initial values as variables; a Python number takes the dtype of the steps' output."""
    if not any(type(x) in (bool, int, float) for x in initial):
        return [as_tensor(x) for x in initial]
    outputs, _ = scan(fn, sequences, initial, fixed, n_steps, return_list=True)
    return [as_tensor(x, y.dtype) for x, y in zip(initial, outputs, strict=True)]


def _parts(steps: Variable, every: int, *, padding: bool) -> Variable:
    """The number of parts of ``every`` steps."""
    return as_length((steps + (every - 1)) // every if padding else steps // every)


def _blocks(x: Variable, steps: Variable, parts: Variable, every: int) -> Variable:
    """The rows of the first steps, ``every`` of them at a time; zeros fill what is left."""
    element = [length(x, axis) for axis in range(1, x.ndim)]
    missing = as_length(maximum(parts * every - steps, 0))
    filled = concatenate([x[: minimum(steps, parts * every)], zeros((missing, *element), x.dtype)])
    return reshape(filled, (parts, every, *element))
