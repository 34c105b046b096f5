"""Kinds of nodes: what follows from a node's op and its types, found once for all nodes alike."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from frazil._core import FrozenApply, first_alike
from frazil.link.fusion.alignment import (
    can_loop,
    domain,
    domain_kind,
    element_operands,
    makes_elements,
    row_dimension,
    whole_operands,
)
from frazil.link.fusion.operands import length_range
from frazil.link.fusion.registry import Fusion
from frazil.link.fusion.short import has_short_rows
from frazil.link.fusion.views import Axes, own_axes, view_of
from frazil.link.kernel.cost import cost
from frazil.scalar import ScalarOp
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, Shape_i, literal
from frazil.tensor.reductions import Reduce


class Kind(NamedTuple):
    """Facts about all nodes with one op, and operands and results of the same types."""

    fusible: bool = False
    """Whether a loop may hold such a node."""
    elementwise: bool = False
    """Whether it is fusible, and its op is elementwise."""
    makes_elements: bool = False
    """Whether a loop computes an element of the result at each position of the domain."""
    reduces_rows: bool = False
    """Whether the node reduces the innermost of several dimensions, and no other."""
    sums_short: bool = False
    """Whether it adds up rows that may be short, of three dimensions or more."""
    row: int | None = None
    """The dimension of its rows, among those that move, if it is not the last."""
    is_length: bool = False
    """Whether it is the length of an operand."""
    op: ScalarOp | None = None
    """The op that an elementwise node of a loop applies to elements."""
    cost: int | None = None
    """What an elementwise op costs, of a fusible node."""
    domain: str = "output"
    """The domain of a fusible node: its ``"output"``, the ``"first"`` operand, or ``"given"`` for
    each node.
    """
    whole: bool = False
    """Whether the first operand is needed as a whole array, not element by element."""
    operands: Sequence[tuple[int, Axes]] = ()
    """The operands that a fusible node reads element by element: the position of each, and its axis
    for each dimension of the domain.
    """
    view: tuple[Axes, bool] | None = None
    """Of a view, the axis of its first operand for each dimension, and whether it is a buffer
    filled with one value.
    """
    length_operands: tuple[int, int | None] = (0, 0)
    """The range of the operands that are only lengths."""
    dtypes: Sequence[str] = ()
    """The dtypes of the operands of a fusible node, and that of its result."""
    lengths: Lengths | int | None = None
    """The lengths of the result of an elementwise node, or the position of an operand that has the
    same ones; None if the kind tells neither.
    """
    compared: Sequence[int] = ()
    """The positions of the other operands with dimensions, if the kind tells the lengths."""


class Kinds(NamedTuple):
    """The kinds of nodes, and for each node the position of its kind."""

    kinds: Sequence[Kind]
    of_nodes: Sequence[int]


def kinds_of(order: Sequence[FrozenApply], fusion: Fusion) -> Kinds:
    """The kind of each node; ``fusion`` says once for each what a loop may hold."""
    firsts = first_alike(order)
    position = {first: at for at, first in enumerate(dict.fromkeys(firsts))}
    kinds = [_kind(order[first], fusion) for first in position]
    return Kinds(kinds, [position[first] for first in firsts])


def without_views(kinds: Kinds, order: Sequence[FrozenApply], read: Set[FrozenApply]) -> Kinds:
    """The kinds where loops do not look through the views ``read``."""
    if not read:
        return kinds
    all_kinds, of_nodes = list(kinds.kinds), list(kinds.of_nodes)
    for at, node in enumerate(order):
        if node in read:
            all_kinds.append(all_kinds[of_nodes[at]]._replace(view=None))
            of_nodes[at] = len(all_kinds) - 1
    return Kinds(all_kinds, of_nodes)


def _kind(node: FrozenApply, fusion: Fusion) -> Kind:
    op = node.op
    if len(node.output_types) != 1 or not can_loop(node) or not fusion.fuses(node):
        return Kind(
            is_length=isinstance(op, Shape_i),
            view=view_of(node),
            length_operands=length_range(op),
        )
    (output,) = node.outputs
    dtypes = *[x.dtype for x in node.inputs], output.dtype
    if type(op) is not Elemwise:
        is_row_sum = is_row_reduction(node)
        return Kind(
            fusible=True,
            makes_elements=makes_elements(node),
            op=op.scalar_op if isinstance(op, Elemwise) else None,
            reduces_rows=is_row_sum,
            sums_short=is_row_sum and op.fold == "add" and has_short_rows(node.inputs[0]),
            row=row_dimension(node),
            domain=domain_kind(node),
            whole=bool(whole_operands(node)),
            operands=element_operands(node, domain(node)),
            dtypes=dtypes,
        )
    lengths = _lengths(node)
    return Kind(
        fusible=True,
        elementwise=True,
        makes_elements=True,
        op=op.scalar_op,
        cost=cost(op.scalar_op),
        operands=[(at, own_axes(x, output.ndim)) for at, x in enumerate(node.inputs)],
        dtypes=dtypes,
        lengths=lengths,
        compared=[at for at, x in enumerate(node.inputs) if x.ndim and at != lengths],
    )


def _lengths(node: FrozenApply) -> Lengths | int | None:
    """The lengths of an elementwise node's result, as :class:`Kind` has them."""
    shape = node.output_types[0].shape
    static = [length for length in shape if length is not None]
    if len(static) == len(shape):
        return tuple(map(literal, static))
    for at, x in enumerate(node.inputs):
        if x.ndim:
            whole = x.ndim == len(shape) and not static and True not in x.broadcastable
            return at if whole else None
    return None


def is_row_reduction(node: FrozenApply) -> bool:
    """Whether the node reduces the innermost of several dimensions, and no other."""
    if not isinstance(node.op, Reduce):
        return False
    moving = [axis for axis, n in enumerate(node.inputs[0].type.shape) if n != 1]
    return len(moving) > 1 and [axis for axis in moving if axis in node.op.axes] == moving[-1:]
