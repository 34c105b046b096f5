"""Masks beside other arrays in an index, which broadcast if they are true once.

NumPy takes a mask for the arrays of positions where it is true, and broadcasts them with the other
index arrays. Elsewhere a length 1 that no type declares does not broadcast; but nobody can declare
how often a mask is true.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.tensor.broadcasting import BroadcastTo, with_lengths
from frazil.tensor.checks import Check
from frazil.tensor.lengths import length, literal, minimum, subtract
from frazil.tensor.ranges import arange
from frazil.tensor.searching import Nonzero


def with_joint_counts(indices: Sequence[Variable]) -> list[Variable]:
    """Return index arrays in which a mask's single position stands beside each of the others'.

    Parameters
    ----------
    indices : sequence of Variable
        The arrays of one index; those of a mask are all outputs of one :class:`Nonzero`.
    """
    masks = dict.fromkeys(node for index in indices if (node := _mask_of(index)) is not None)
    fixed = [
        length(index, index.ndim - 1)
        for index in indices
        if index.ndim and _mask_of(index) is None and index.type.shape[-1] != 1
    ]
    if not masks or len(masks) + bool(fixed) == 1:
        return list(indices)
    counts = {node: _count(node) for node in masks}
    joint = fixed[0] if fixed else _joint(list(counts.values()))
    return [
        index if (node := _mask_of(index)) is None else _spread(index, counts[node], joint)
        for index in indices
    ]


def _mask_of(index: Variable) -> FrozenApply | None:
    """The node that finds where a mask is true, if ``index`` is one of its results."""
    node = index.owner
    return node if node is not None and isinstance(node.op, Nonzero) else None


def _count(node: FrozenApply) -> Variable:
    """How often a mask is true: a constant if the mask is one."""
    (mask,) = node.inputs
    if mask.owner is not None and isinstance(mask.owner.op, BroadcastTo):
        (mask, *_) = mask.owner.inputs  # to the lengths of a tensor
    while mask.owner is not None and isinstance(mask.owner.op, Check):
        (mask, _) = mask.owner.inputs  # whose lengths a run compares with these
    if isinstance(mask, Constant) and mask.ndim == node.inputs[0].ndim:
        return literal(int(np.count_nonzero(mask.data)))
    return length(node.outputs[0], 0)


def _joint(counts: Sequence[Variable]) -> Variable:
    """The length that so many positions broadcast to."""
    joint = counts[0]
    for count in counts[1:]:
        joint = _where_one(joint, count, joint)
    return joint


def _where_one(count: Variable, then: Variable, otherwise: Variable) -> Variable:
    if isinstance(count, Constant):
        return then if count.data == 1 else otherwise
    one = _core.elemwise(scalar.eq, count, literal(1))
    return _core.elemwise(scalar.where, one, then, otherwise)


def _spread(positions: Variable, count: Variable, joint: Variable) -> Variable:
    """The positions of a mask, repeated if there is one and the others have more."""
    if isinstance(count, Constant):
        return with_lengths(positions, TensorType(positions.dtype, (int(count.data),)))
    steps = arange(_where_one(count, joint, count))
    return positions[minimum(steps, subtract(count, literal(1)))]
