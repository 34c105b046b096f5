"""``fz.vectorize``: a graph over batches of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from frazil._core import TensorType, Variable
from frazil.batching.registry import Operand
from frazil.batching.walk import taken_over_batch
from frazil.graph.containers import in_container_of
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.dims import squeeze


@overload
def vectorize(outputs: Variable, replace: Mapping[Variable, TensorLike]) -> Variable: ...


@overload
def vectorize(
    outputs: Sequence[Variable], replace: Mapping[Variable, TensorLike]
) -> list[Variable]: ...


def vectorize(
    outputs: Variable | Sequence[Variable], replace: Mapping[Variable, TensorLike]
) -> Any:
    """Return outputs for each element of a batch of their inputs.

    It is as if the outputs were computed in a loop over the batch and stacked; but each op works on
    all elements at once.

    Parameters
    ----------
    outputs : Variable or sequence of Variable
        Variables, each computed from those to replace or not.
    replace : mapping of Variable to tensor_like
        For a variable what takes its place: a tensor of its dtype with more dimensions in front,
        which are those of the batch. Batches broadcast together as operands do: aligned from the
        last dimension of the batch, and where a type says that a length is 1. Any variable can be
        replaced, not only inputs.

    Returns
    -------
    Variable or list of Variable
        Each output with the dimensions of the batch in front. One that depends on no batch is as it
        was, and so are nodes that do not.

    Raises
    ------
    TypeError
        If a replacement has another dtype than the variable, or fewer dimensions.
    ValueError
        If batches do not broadcast together, if a replacement has another static shape than the
        variable, or if stacks of a scan that ends early would differ in length.

    Notes
    -----
    Lengths must be the same for all elements of a batch: ``x[:n]`` over a batch of ``n`` raises
    when it runs, unless all are equal. Only how many elements a mask has may differ, as in
    ``ft.set_subtensor(x[x > 0], y)`` and ``ft.sum(x[x > 0])``: what is between a mask and a result
    of one shape runs for one element of the batch after the other.

    An op without a batch rule runs for one element after the other, in a scan;
    :func:`frazil.batching.batch_rule` says how to give it one. If elements differ in the condition
    of an ``ifelse``, both branches are computed. Derivatives of the one that an element does not
    take are zero, also where they would be NaN.

    PyTensor calls this ``vectorize_graph``.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> distance = ft.sqrt(ft.sum((x - y) ** 2))
    >>> points = ft.matrix("points")
    >>> distances = fz.vectorize(distance, {x: points})
    >>> fz.function([points, y], distances)([[3.0, 4.0], [0.0, 1.0]], [0.0, 0.0])
    array([5., 1.])
    """
    several = not isinstance(outputs, Variable)
    wanted: list[Variable] = list(outputs) if not isinstance(outputs, Variable) else [outputs]
    given = {x: _checked(x, as_tensor(value)) for x, value in replace.items()}
    with in_container_of([*given.values(), *wanted]):
        made = _over_all(wanted, given)
    return made if several else made[0]


def _over_all(outputs: list[Variable], given: Mapping[Variable, Variable]) -> list[Variable]:
    """Return outputs over one dimension of the batch after the other, from the last one on.

    Between them, new variables stand for elements of the dimensions that are still to come.
    """
    left = {x: value.ndim - x.ndim for x, value in given.items()}
    pending = dict(given)
    standing: dict[Variable, Variable] = {x: x for x in given}
    while True:
        replaced: dict[Variable, Operand] = {}
        for x, value in pending.items():
            if left[x] == 0:
                replaced[standing[x]] = Operand(value, False)
        now = [x for x in pending if left[x] > 0]
        known = {n for x in now if (n := pending[x].type.shape[left[x] - 1]) not in (None, 1)}
        if len(known) > 1:
            shapes = ", ".join(str(given[x].type.shape) for x in now)
            raise ValueError(f"batches of shapes {shapes} do not broadcast together")
        several = any(pending[x].type.shape[left[x] - 1] != 1 for x in now)
        for x in now:
            value, at = pending[x], left[x] - 1
            one = several and value.type.shape[at] == 1
            if one:
                value = pending[x] = squeeze(value, at)
            left[x] = at
            stands = value if at == 0 else TensorType(value.dtype, value.type.shape[at:])(None)
            replaced[standing[x]] = Operand(stands, not one)
            standing[x] = stands
        for x in [x for x in pending if left[x] == 0]:
            del pending[x]
        outputs = [y.value for y in taken_over_batch(outputs, replaced)]
        if not pending:
            return outputs


def _checked(x: Variable, value: Variable) -> Variable:
    """Return what takes the place of ``x``."""
    if value.dtype != x.dtype or value.ndim < x.ndim:
        raise TypeError(
            f"{x} of type {x.type} is replaced by a tensor of its dtype with more dimensions in "
            f"front; given {value.type}. Cast or reshape it."
        )
    own = value.type.shape[value.ndim - x.ndim :]
    pairs = zip(x.type.shape, own, strict=True)
    if any(a is not None and b is not None and a != b for a, b in pairs):
        raise ValueError(
            f"{x} has shape {x.type.shape}; the last dimensions of what takes its place must have "
            f"these lengths, given {value.type.shape}"
        )
    return value
