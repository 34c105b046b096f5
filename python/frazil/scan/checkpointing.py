"""Loops that keep few of their steps, for gradients in little memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frazil._core import Variable
from frazil.graph.containers import in_container_of
from frazil.scalar.constants import as_tensor
from frazil.scan.arguments import listed
from frazil.scan.build import scan
from frazil.tensor.creation import zeros
from frazil.tensor.elementwise.arithmetic import maximum, minimum
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import as_length, length
from frazil.tensor.reshaping import reshape


def scan_checkpoints(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    name: str = "checkpointscan_fn",
    n_steps: int | Variable | None = None,
    save_every_N: int = 10,
    padding: bool = True,
    return_updates: bool = True,
) -> Any:
    """Loop as :func:`frazil.scan`, and keep every ``save_every_N``-th step only.

    The gradient computes the steps between again. With T steps it so keeps T / N states, and N
    states of one part at a time: least memory for N near the square root of T.

    Parameters
    ----------
    fn, sequences, non_sequences, name, return_updates
        As for :func:`frazil.scan`. Sequences have no taps.
    outputs_info : tensor_like or list of them
        What the outputs start from; each step reads those of the step before.
    n_steps : int or 0-d integer variable, optional
        The number of steps; needed where there are no sequences.
    save_every_N : int
        The number of steps between those that are kept.
    padding : bool
        Where the number of steps is no multiple of N, go on over zeros until it is one. Without it
        the steps that are left are not done.

    Returns
    -------
    outputs : Variable or list of Variable
        The outputs of every N-th step, stacked along a new first axis.
    updates : dict of SharedVariable to Variable
        What shared variables become.

    Raises
    ------
    TypeError
        If an output is not read by the next step, or has taps.
    ValueError
        If nothing says how many steps there are.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> sums, _ = fz.scan_checkpoints(lambda x, s: x + s, x, ft.constant(0.0), save_every_N=2)
    >>> fz.function([x], sums)([1.0, 2.0, 3.0, 4.0])
    array([ 3., 10.])
    """
    rows, starts = listed(sequences), listed(outputs_info)
    if any(isinstance(given, Mapping) or given is None for given in (*rows, *starts)):
        raise TypeError(
            "scan_checkpoints takes sequences without taps, and outputs that the next step reads: "
            "write them as tensors, or loop by fz.scan"
        )
    if not isinstance(save_every_N, int) or save_every_N < 1:
        raise ValueError(f"save_every_N must be a positive int, given {save_every_N!r}")
    taken = [as_tensor(x) for x in rows]
    first = _starts(fn, sequences, starts, non_sequences, n_steps)
    fixed = [as_tensor(x) for x in listed(non_sequences)]
    with in_container_of([*taken, *first, *fixed]):
        if n_steps is None and not taken:
            raise ValueError("nothing says how many steps the loop has: pass n_steps")
        steps = length(taken[0], 0) if n_steps is None else as_length(n_steps)
        parts = _parts(steps, save_every_N, padding=padding)
        blocks = [_blocks(x, steps, parts, save_every_N) for x in taken]

        def part(*given: Variable) -> Any:
            """``save_every_N`` steps, of which the last is kept."""
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


def _starts(
    fn: Callable[..., Any], sequences: Any, starts: list[Any], fixed: Any, n_steps: Any
) -> list[Variable]:
    """What outputs start from; Python numbers are of the dtypes that a loop gives them."""
    if not any(type(x) in (bool, int, float) for x in starts):
        return [as_tensor(x) for x in starts]
    outputs, _ = scan(fn, sequences, starts, fixed, n_steps, return_list=True)
    return [as_tensor(x, y.dtype) for x, y in zip(starts, outputs, strict=True)]


def _parts(steps: Variable, every: int, *, padding: bool) -> Variable:
    """The number of parts of ``every`` steps."""
    return as_length((steps + (every - 1)) // every if padding else steps // every)


def _blocks(x: Variable, steps: Variable, parts: Variable, every: int) -> Variable:
    """The rows of the first steps, ``every`` of them at a time; zeros fill what is left."""
    element = [length(x, axis) for axis in range(1, x.ndim)]
    missing = as_length(maximum(parts * every - steps, 0))
    filled = concatenate([x[: minimum(steps, parts * every)], zeros((missing, *element), x.dtype)])
    return reshape(filled, (parts, every, *element))
