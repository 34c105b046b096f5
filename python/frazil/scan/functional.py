"""Scans of common forms, under their names in functional programming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frazil.scan.arguments import (
    NonSequences,
    OutputsInfo,
    Sequences,
)
from frazil.scan.build import build_scan, scan
from frazil.tensor.docstrings import described_like


@described_like(scan)
def map(
    fn: Callable[..., object],
    sequences: Sequences,
    non_sequences: NonSequences = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """Apply a function to each element of sequences; see :func:`frazil.scan`.

    fn (callable): A function of an element of each sequence, then of ``non_sequences``.
    sequences (tensor_like or dict, or list of them): ``fn`` reads one element of each along the
        first axis.
    returns outputs (Variable or list of Variable): The results of ``fn``, stacked along a new first
        axis.
    returns updates (dict of SharedVariable to Variable): The new values of shared variables; left
        out with ``return_updates=False``.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.matrix("x")
    >>> norms, _ = fz.map(lambda row: ft.sqrt((row**2).sum()), x)
    >>> fz.function([x], norms)([[3.0, 4.0], [6.0, 8.0]])
    array([ 5., 10.])
    """
    return scan(
        fn,
        sequences,
        None,
        non_sequences,
        truncate_gradient=truncate_gradient,
        go_backwards=go_backwards,
        name=name,
        return_updates=return_updates,
    )


@described_like(map)
def reduce(
    fn: Callable[..., object],
    sequences: Sequences,
    outputs_info: OutputsInfo,
    non_sequences: NonSequences = None,
    go_backwards: bool = False,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """Fold sequences: scan them as :func:`frazil.scan` does and return the last outputs.

    fn (callable): A function of an element of each sequence, of its previous results, then of
        ``non_sequences``.
    outputs_info (tensor_like or dict, or list of them): The initial value of each output.
    returns outputs (Variable or list of Variable): The outputs of the last step; the initial values
        if the sequences are empty. Memory does not grow with the number of steps.
    returns updates (dict of SharedVariable to Variable): The new values of shared variables; left
        out with ``return_updates=False``.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> value, _ = fz.reduce(lambda digit, so_far: 10 * so_far + digit, x, ft.constant(0.0))
    >>> fz.function([x], value)([1.0, 2.0, 3.0])
    array(123.)
    """
    outputs, carried, updates = build_scan(
        fn, sequences, outputs_info, non_sequences, None, -1, go_backwards, False, name
    )
    lasts = [y[-1] if x is None else x for x, y in zip(carried, outputs, strict=True)]
    result = lasts[0] if len(lasts) == 1 else lasts
    return (result, updates) if return_updates else result


@described_like(reduce)
def foldl(
    fn: Callable[..., object],
    sequences: Sequences,
    outputs_info: OutputsInfo,
    non_sequences: NonSequences = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """Fold sequences from the first element to the last; see :func:`frazil.reduce`.

    returns result (Variable or list of Variable): The outputs of the last step.
    returns updates (dict of SharedVariable to Variable): The new values of shared variables; left
        out with ``return_updates=False``.

    >>> import frazil as fz, frazil.tensor as ft
    >>> value, _ = fz.foldl(lambda x, y: y / x, ft.constant([2.0, 5.0]), ft.constant(100.0))
    >>> value.eval()
    array(10.)
    """
    return reduce(
        fn, sequences, outputs_info, non_sequences, name=name, return_updates=return_updates
    )


@described_like(reduce)
def foldr(
    fn: Callable[..., object],
    sequences: Sequences,
    outputs_info: OutputsInfo,
    non_sequences: NonSequences = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """Fold sequences from the last element to the first; see :func:`frazil.reduce`.

    returns result (Variable or list of Variable): The outputs of the last step.
    returns updates (dict of SharedVariable to Variable): The new values of shared variables; left
        out with ``return_updates=False``.

    >>> import frazil as fz, frazil.tensor as ft
    >>> value, _ = fz.foldr(lambda x, y: x - y, ft.constant([10.0, 3.0]), ft.constant(1.0))
    >>> value.eval()
    array(8.)
    """
    return reduce(
        fn,
        sequences,
        outputs_info,
        non_sequences,
        go_backwards=True,
        name=name,
        return_updates=return_updates,
    )
