"""Ops that take elements as they are: their instructions move numbers of every dtype."""

from __future__ import annotations

from frazil.graph.op import Op
from frazil.inner.ifelse import IfElse
from frazil.inner.op_from_graph import OpFromGraph
from frazil.scan.op import Scan
from frazil.tensor.basic_indexing import IncSubtensor, Subtensor
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.buffers import Distinct
from frazil.tensor.checks import Check
from frazil.tensor.creation import Full
from frazil.tensor.diagonals import AllocDiag, ExtractDiag, Eye
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.joining import Join
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

_MOVES = (
    *(AllocDiag, BroadcastTo, Check, Distinct, DropDims, ExpandDims, ExtractDiag, Eye, Full),
    *(IfElse, IncSubtensor, Join, OpFromGraph, Reshape, Scan, Subtensor, Transpose),
)


def moves(op: Op) -> bool:
    """Whether the instructions of an op compute with no element.

    Increments of a part are among them: the runtime adds numbers of every dtype.

    Examples
    --------
    >>> from frazil.link.lowering.moves import moves
    >>> from frazil.tensor.sorting import Sort
    >>> from frazil.tensor.transposition import Transpose
    >>> moves(Transpose((1, 0))), moves(Sort(0))
    (True, False)
    """
    return isinstance(op, _MOVES)
