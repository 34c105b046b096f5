"""Stacks of matrices: what is in front of their last two dimensions, which broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from frazil._core import FrozenApply, Variable
from frazil.graph.op import Array
from frazil.tensor.broadcasting import check_lengths
from frazil.tensor.dims import expand_dims
from frazil.tensor.lengths import Lengths
from frazil.tensor.reductions import sum

Cores: TypeAlias = Sequence[int]
"""The dimensions of each operand that belong to one matrix (2) or one vector (1)."""

Result: TypeAlias = tuple[tuple[int, ...], str]
"""The shape and the dtype of the result for one matrix."""


def static_front(name: str, operands: Sequence[Variable], cores: Cores) -> tuple[int | None, ...]:
    """Return what is known of the lengths in front of the results.

    The operands have as many dimensions in front of their matrices. A length of 1 that the type
    declares broadcasts; other lengths must be equal.
    """
    fronts = [x.type.shape[: x.ndim - core] for x, core in zip(operands, cores, strict=True)]
    if len({len(front) for front in fronts}) > 1:
        given = ", ".join(str(x.type) for x in operands)
        raise TypeError(
            f"{name} takes operands with as many dimensions in front of their matrices; given "
            f"{given}"
        )
    result = []
    for axis, own in enumerate(zip(*fronts, strict=True)):
        known = {n for n in own if n is not None} - {1}
        if len(known) > 1:
            given = " and ".join(str(x.type.shape) for x in operands)
            raise ValueError(
                f"shapes {given} do not match in {name}: the lengths along dimension {axis} must "
                f"be equal or 1, not {sorted(known)}"
            )
        result.append(known.pop() if known else (None if None in own else 1))
    return tuple(result)


def inferred_front(
    operands: Sequence[Variable], shapes: Sequence[Lengths], cores: Cores
) -> tuple[Variable, ...]:
    """Return the lengths in front of the results, given the shapes of the operands."""
    front = []
    for axis in range(operands[0].ndim - cores[0]):
        own = [x.broadcastable[axis] for x in operands]
        front.append(shapes[own.index(False) if False in own else 0][axis])
    return tuple(front)


def for_each(
    function: Callable[..., tuple[Array, ...]],
    node: FrozenApply,
    arrays: Sequence[Array],
    cores: Cores,
    results: Sequence[Result],
) -> tuple[Array, ...]:
    """Return the results of a function for each matrix, in arrays of their own.

    Parameters
    ----------
    function : callable
        Takes one matrix or vector of each operand, and returns as many results.
    node : FrozenApply
        Whose last inputs are these arrays.
    arrays, cores
        The operands.
    results
        The shapes and dtypes of the results for one matrix.
    """
    operands = node.inputs[len(node.inputs) - len(arrays) :]
    front: tuple[int, ...] = ()
    for axis in range(arrays[0].ndim - cores[0]):
        own = [x.shape[axis] for x in arrays]
        wide = [n for n, x in zip(own, operands, strict=True) if not x.broadcastable[axis]]
        front += (wide[0] if wide else 1,)
    if not front:
        return function(*arrays)
    views = []
    for x, array, core in zip(operands, arrays, cores, strict=True):
        shape = (*front, *array.shape[array.ndim - core :])
        check_lengths(x, array.shape, shape)
        views.append(np.broadcast_to(array, shape))
    made = tuple(np.empty((*front, *shape), dtype) for shape, dtype in results)
    for index in np.ndindex(front):
        try:
            found = function(*(view[index] for view in views))
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(f"matrix {index} of the batch: {error}") from None
        for array, one in zip(made, found, strict=True):
            array[index] = one
    return made


def in_front(operands: Sequence[Variable], cores: Cores) -> list[Variable]:
    """Return the operands with as many dimensions in front, the new ones of length 1."""
    fronts = [x.ndim - core for x, core in zip(operands, cores, strict=True)]
    most = max(fronts)
    return [
        expand_dims(x, tuple(range(most - own))) if own < most else x
        for x, own in zip(operands, fronts, strict=True)
    ]


def unbroadcast_front(g: Variable, x: Variable) -> Variable:
    """Return the gradient of ``x``, summed over the dimensions along which it was repeated.

    ``g`` has the rank and the last two dimensions of ``x``.
    """
    axes = [
        axis for axis in range(x.ndim - 2) if x.broadcastable[axis] and not g.broadcastable[axis]
    ]
    return sum(g, axes, keepdims=True) if axes else g
