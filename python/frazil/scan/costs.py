"""The costs of the nodes of a step."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.inner.inner_graph import HasInnerGraph
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from frazil.tensor.basic_indexing import IncSubtensor, Subtensor
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.cumulation import CumOp
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.joining import Join
from frazil.tensor.lengths import Shape_i
from frazil.tensor.reductions import Reduce
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

_CHEAP = (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    BroadcastTo,
    CumOp,
    DropDims,
    Elemwise,
    ExpandDims,
    HasInnerGraph,
    IncSubtensor,
    Join,
    Reduce,
    Reshape,
    Shape_i,
    Subtensor,
    Transpose,
)


def is_cheap(node: FrozenApply) -> bool:
    """Return whether computing a node again costs about what keeping its result does.

    A scan within a step is cheap: :func:`frazil.scan_checkpoints` counts on that.
    """
    return isinstance(node.op, _CHEAP)


def is_worth_a_stack(node: FrozenApply) -> bool:
    """Return whether keeping a node's result of every step costs less than computing it again.

    That holds for results that are not cheap, and for vectors that are reduced from matrices: a
    stack of them is no larger than that of a state. Arrays of functions such as exp have a stack in
    any case, since they would be computed again for all steps at once.
    """
    if node.outputs[0].ndim == 0:
        return not is_cheap(node)
    return (
        not is_cheap(node)
        or is_function(node)
        or (isinstance(node.op, Reduce) and node.inputs[0].ndim > 1)
    )


def is_function(node: FrozenApply) -> bool:
    """Return whether a node computes a function such as exp of each element."""
    return isinstance(node.op, Elemwise) and node.op.scalar_op.rule == "float"
