"""Batches in PyTensor's graphs whose elements are all the same.

PyTensor's gradients take a whole graph over a batch, with lengths and masks that are the same for
all elements. PyTensor repeats these and computes each of them; computing one is enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor import basic as ptb
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.subtensor import Subtensor, indices_from_subtensor

_DEEPEST = 8
"""The number of nodes above each other that are looked at."""


def element(x: Any, batch: int, deepest: int = _DEEPEST) -> Any:
    """Return a variable that equals each element of ``x``; None where they may differ.

    Parameters
    ----------
    x : TensorVariable
        Of PyTensor's.
    batch : int
        The number of dimensions in front that count the elements. None of their lengths is 0.
    deepest : int, optional
        The number of nodes above each other that are looked at.
    """
    if batch == 0:
        return x
    lengths = x.type.shape
    if all(n == 1 for n in lengths[:batch]):
        return x[(0,) * batch]
    if isinstance(x, Constant):
        first = x.data[(0,) * batch]
        alike = x.data.tobytes() == np.broadcast_to(first, x.data.shape).tobytes()
        return ptb.constant(first, dtype=x.dtype) if alike else None
    if x.owner is None or deepest == 0:
        return None
    node, op = x.owner, x.owner.op
    if isinstance(op, ptb.Alloc):
        value, *shape = node.inputs
        core = lengths[batch:]
        if value.type.ndim > len(core):
            return None
        whole = value.type.shape == core and None not in core
        return value if whole else ptb.alloc(value, *shape[batch:])
    if isinstance(op, Elemwise):
        operands = [element(y, batch, deepest - 1) for y in node.inputs]
        return None if any(y is None for y in operands) else op.make_node(*operands).outputs[0]
    if isinstance(op, Subtensor):
        indices = indices_from_subtensor(node.inputs[1:], op.idx_list)
        whole = all(index == slice(None) for index in indices[:batch])
        of = element(node.inputs[0], batch, deepest - 1) if whole else None
        return None if of is None else of[tuple(indices[batch:])]
    return None
