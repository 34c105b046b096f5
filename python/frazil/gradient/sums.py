"""The sum of two gradients of one variable."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor
from frazil.tensor.basic_indexing import IncSubtensor
from frazil.tensor.broadcasting import BroadcastTo, broadcast_like


def sum_of(a: Variable, b: Variable) -> Variable:
    """Return the sum of two gradients of one variable, with as little work as possible."""
    for one, other in ((b, a), (a, b)):
        node = one.owner
        if node is None:
            continue
        op = node.op
        if isinstance(op, Elemwise):
            if op.scalar_op is scalar.neg:
                return _core.elemwise(scalar.sub, other, node.inputs[0])
        elif increases := _increases_of_zeros(one):
            # Increase parts of the other gradient instead of adding an array of zeros to it.
            total: Variable = broadcast_like(other, one)
            for node in increases:
                total = node.op(total, *node.inputs[1:])
            return total
    return _core.elemwise(scalar.add, a, b)


def _increases_of_zeros(x: Variable) -> list[FrozenApply]:
    """The nodes that increase parts of zeros until they are ``x``; none if it is something else."""
    nodes: list[FrozenApply] = []
    while (node := x.owner) is not None:
        op = node.op
        if not isinstance(op, IncSubtensor | AdvancedIncSubtensor) or op.set:
            break
        nodes.append(node)
        x = node.inputs[0]
    return nodes[::-1] if _is_zeros(x) else []


def _is_zeros(x: Variable) -> bool:
    node = x.owner
    if node is None or not isinstance(node.op, BroadcastTo):
        return False
    value = node.inputs[0]
    return isinstance(value, Constant) and value.number == 0
