"""The checks of a PyTensor graph that its outputs need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import basic as ptb
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.subtensor import Subtensor, indices_from_subtensor

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply


def needed_checks(outputs: Sequence[Any]) -> set[Any]:
    """Return the nodes of checks whose result, and not its shape alone, goes into the outputs.

    PyTensor's modes drop the others as dead code, and libraries count on it: of a vector of checked
    lengths one is taken, and the check of another one would fail.
    """
    found: set[Any] = set()
    met: set[tuple[Any, bool]] = set()
    pending = [(x, True) for x in outputs]
    while pending:
        x, whole = pending.pop()
        if (x, whole) in met or x.owner is None:
            continue
        met.add((x, whole))
        if whole and isinstance(x.owner.op, CheckAndRaise):
            found.add(x.owner)
        pending += _parts(x.owner, whole)
    return found


def _parts(node: Apply, whole: bool) -> list[tuple[object, bool]]:
    """The inputs of a result, and whether their elements count beside their shapes."""
    op = node.op
    if isinstance(op, Shape | Shape_i):
        return [(node.inputs[0], False)]
    if isinstance(op, Subtensor) and isinstance(
        getattr(node.inputs[0].owner, "op", None), ptb.MakeVector
    ):
        (index,) = indices_from_subtensor(node.inputs[1:], op.idx_list)
        if isinstance(index, int | Constant):
            at = int(index.data) if isinstance(index, Constant) else index
            elements = node.inputs[0].owner.inputs
            if -len(elements) <= at < len(elements):
                return [(elements[at], True)]
    if not whole and isinstance(op, CheckAndRaise):
        return [(node.inputs[0], False)]
    if not whole and isinstance(op, Elemwise | DimShuffle):
        return [(x, False) for x in node.inputs]
    return [(x, True) for x in node.inputs]
