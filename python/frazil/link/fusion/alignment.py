"""The iteration of a loop over a node: its domain, and the axes of each operand."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.link.fusion.views import REPEATED, Axes, own_axes
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.float16 import STORED, computes_wide
from frazil.tensor.advanced_indexing import (
    FULL,
    INDEX,
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    index_position,
)
from frazil.tensor.cumulation import CumOp
from frazil.tensor.reductions import Reduce

SHARED_FROM = 1 << 15
"""Loops of fewer elements are not shared by threads."""

_COMPLEX = frozenset(("complex64", "complex128"))
_UNUSUAL = _COMPLEX | {STORED}


def makes_elements(node: FrozenApply) -> bool:
    """Whether a loop computes an element of the node's output at each position of the domain."""
    return isinstance(node.op, (Elemwise, AdvancedSubtensor, CumOp))


def has_complex(node: FrozenApply) -> bool:
    """Whether a node computes with complex numbers, for which there are no kernels."""
    return not _COMPLEX.isdisjoint([x.dtype for x in (*node.inputs, *node.outputs)])


def has_stored(node: FrozenApply) -> bool:
    """Whether operands or results of a node have a dtype that nothing computes in."""
    return any(x.dtype == STORED for x in (*node.inputs, *node.outputs))


def can_loop(node: FrozenApply) -> bool:
    """Whether loops know the node's op, and the types of its operands."""
    dtypes = [x.dtype for x in node.inputs]
    dtypes += [x.dtype for x in node.outputs]
    if not _UNUSUAL.isdisjoint(dtypes) and (has_complex(node) or not _converts(node)):
        return False
    op = node.op
    if type(op) is Elemwise:  # most nodes
        return True
    if isinstance(op, CumOp):
        return bool(node.inputs[0].type.shape[op.axis] != 1)
    return isinstance(op, (Elemwise, Reduce, AdvancedSubtensor, AdvancedIncSubtensor))


def _converts(node: FrozenApply) -> bool:
    """Whether loops convert what is stored for the node's op, or move it as it is."""
    op = node.op
    if isinstance(op, Elemwise):
        return computes_wide(op.scalar_op)
    return isinstance(op, AdvancedSubtensor) or (isinstance(op, AdvancedIncSubtensor) and op.set)


def row_dimension(node: FrozenApply) -> int | None:
    """The dimension that must be the loop's innermost; None if it is the last, or any may be."""
    if not isinstance(node.op, CumOp):
        return None
    moving = [axis for axis, n in enumerate(node.inputs[0].type.shape) if n != 1]
    at = moving.index(node.op.axis)
    return None if at == len(moving) - 1 else at


def domain(node: FrozenApply) -> Variable:
    """The variable over whose elements a loop iterates for a node."""
    op = node.op
    if type(op) is Elemwise:  # asked most often
        return node.outputs[0]
    if isinstance(op, Reduce):
        return node.inputs[0]
    if isinstance(op, AdvancedIncSubtensor):
        x, _, *indices = node.inputs
        part: Variable = AdvancedSubtensor(op.template)(x, *indices)
        return part
    return node.outputs[0]


def whole_operands(node: FrozenApply) -> Sequence[Variable]:
    """The operands that the node needs as whole arrays, not element by element."""
    op = node.op
    if type(op) is Elemwise:  # asked most often
        return ()
    return node.inputs[:1] if isinstance(op, (AdvancedSubtensor, AdvancedIncSubtensor)) else ()


def domain_kind(node: FrozenApply) -> str:
    """Whether the domain is the node's ``"output"``, its ``"first"`` operand, or another variable:
    ``"given"``.
    """
    if isinstance(node.op, Reduce):
        return "first"
    return "given" if isinstance(node.op, AdvancedIncSubtensor) else "output"


def element_operands(node: FrozenApply, over: Variable) -> list[tuple[int, Axes]]:
    """The operands that are read element by element: the position of each, and its axis for each
    dimension of the domain ``over``.
    """
    ndim = over.ndim
    op = node.op
    if not isinstance(op, (AdvancedSubtensor, AdvancedIncSubtensor)):
        return [(at, own_axes(x, ndim)) for at, x in enumerate(node.inputs)]
    first = 1 if isinstance(op, AdvancedSubtensor) else 2
    indices = node.inputs[first:]
    end = index_position(op.template) + max(x.ndim for x in indices)
    behind = (REPEATED,) * (ndim - end)
    values = [own_axes(y, ndim) for y in node.inputs[1:first]]
    return [*enumerate([*values, *(own_axes(x, end) + behind for x in indices)], 1)]


def indexed_axes(node: FrozenApply) -> tuple[int, ...]:
    """The axes of the whole operand that have indices."""
    return tuple(axis for axis, entry in enumerate(node.op.template) if entry == INDEX)


def whole_axes(node: FrozenApply, over: Variable) -> Axes:
    """For each dimension of the domain ``over``, the axis of the whole operand that moves along
    it.
    """
    template = node.op.template
    whole = [axis for axis, entry in enumerate(template) if entry == FULL]
    at = index_position(template)
    added = over.ndim - len(whole)
    return (*whole[:at], *[REPEATED] * added, *whole[at:])


def puts_rows(node: FrozenApply, over: Variable) -> bool:
    """Whether a put over the domain ``over`` has indices that are the same along a row, and
    elements for several threads.
    """
    shape = over.type.shape
    elements = 1
    for length in shape:
        elements *= SHARED_FROM if length is None else length
    return elements >= SHARED_FROM and shape[-1] != 1 and whole_axes(node, over)[-1] != REPEATED
