"""Whether a variable can have a gradient, and whether a gradient is zero."""

from __future__ import annotations

from frazil._core import Constant, FrozenApply, Variable
from frazil._core import is_continuous as is_continuous
from frazil.tensor.broadcasting import BroadcastTo


def is_zero(x: Variable) -> bool:
    """Return whether ``x`` is a constant zero, broadcast or not."""
    node: FrozenApply | None = x.owner
    while node is not None and isinstance(node.op, BroadcastTo):
        x = node.inputs[0]
        node = x.owner
    return isinstance(x, Constant) and x.data.size == 1 and not x.data.any()
