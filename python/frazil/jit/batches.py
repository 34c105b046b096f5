"""``fz.vmap``: Python functions over batches of their arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from frazil._core import TensorType, Variable
from frazil.batching.vectorize import vectorize
from frazil.jit.derivatives import as_variable
from frazil.jit.function import JitFunction
from frazil.jit.pytree import flatten, unflatten
from frazil.jit.trace import Trace, current_trace
from frazil.jit.traced import TracedArray
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.lengths import length, lengths
from frazil.tensor.transposition import moveaxis


def vmap(
    fn: Callable[..., Any], in_axes: int | Sequence[int | None] | None = 0, out_axes: int = 0
) -> Callable[..., Any]:
    """Return the function that computes a function for each element of a batch at once.

    Parameters
    ----------
    fn : callable
        A Python function of trees of arrays; what it returns is a tree of arrays.
    in_axes : int, None or sequence of them
        Along which axis the arrays of the arguments are batches: of all, or of each positional
        argument. None: the argument is the same for all elements.
    out_axes : int
        Along which axis results are stacked.

    Returns
    -------
    callable
        It takes the arguments of ``fn`` as batches, and arguments by name as they are.

    Raises
    ------
    TypeError
        If nothing in the arguments is a batch, or a result is no array.

    See Also
    --------
    frazil.vectorize : takes a graph over a batch, with the same rules.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> distance = fz.vmap(lambda a, b: np.sqrt(np.sum((a - b) ** 2)), in_axes=(0, None))
    >>> distance(np.array([[3.0, 4.0], [0.0, 1.0]]), np.zeros(2))
    array([5., 1.])
    """

    @functools.wraps(fn)
    def batched(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        assert trace is not None
        axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else in_axes
        if len(axes) != len(args):
            raise TypeError(f"in_axes is for {len(axes)} arguments, and {len(args)} were given")
        batches: dict[Variable, Variable] = {}
        given = [
            arg if axis is None else _elements(trace, arg, axis, batches)
            for arg, axis in zip(args, axes, strict=True)
        ]
        if not batches:
            raise TypeError("fz.vmap: no argument is a batch of arrays")
        return _stacked(trace, fn(*given, **kwargs), batches, out_axes)

    compiled = JitFunction(batched, roots=[fn])

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (compiled if current_trace() is None else batched)(*args, **kwargs)

    return call


def _elements(trace: Trace, arg: Any, axis: int, batches: dict[Variable, Variable]) -> Any:
    """An argument with variables for one element in the place of batches, which are added."""
    leaves, structure = flatten(arg)
    for at, leaf in enumerate(leaves):
        whole = as_variable(trace, leaf)
        if whole is None:
            continue
        if not whole.ndim:
            raise TypeError(
                "fz.vmap: a number is no batch. Give None in in_axes for an argument that is the "
                "same for all elements"
            )
        batch = moveaxis(whole, axis, 0)
        element = TensorType(batch.dtype, batch.type.shape[1:])(None)
        trace.stand_as(element, batch[0])
        batches[element] = batch
        leaves[at] = TracedArray(trace, element)
    return unflatten(structure, leaves)


def _stacked(trace: Trace, returned: Any, batches: dict[Variable, Variable], axis: int) -> Any:
    """What was returned for an element, for all of them."""
    leaves, structure = flatten(returned)
    variables = [as_variable(trace, leaf) for leaf in leaves]
    found = [x for x in variables if x is not None]
    if len(found) < len(leaves):
        raise TypeError("fz.vmap: the function must return arrays and numbers only")
    count = length(next(iter(batches.values())), 0)
    stacks = []
    for one, whole in zip(found, vectorize(found, batches), strict=True):
        if whole.ndim == one.ndim:  # it does not depend on the batch
            whole = broadcast_to(whole, (count, *lengths(whole)))
        stacks.append(TracedArray(trace, moveaxis(whole, 0, axis) if axis else whole))
    return unflatten(structure, stacks)
