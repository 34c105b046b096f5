"""Kinds of nodes: what follows from a node's op and its types, found once for all nodes alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from frazil._core import FrozenApply, first_alike
from frazil.link.fusion.alignment import can_loop, makes_elements, row_dimension
from frazil.link.fusion.registry import Fusion
from frazil.link.fusion.views import REPEATED, Axes, own_axes
from frazil.link.kernel.cost import cost
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, literal
from frazil.tensor.reductions import Reduce


class Kind(NamedTuple):
    """What is the same for all nodes with one op, and operands and results of the same types.

    Attributes
    ----------
    fusible : bool
        Whether a loop may hold such a node.
    elementwise : bool
        Whether it is fusible, and its op is elementwise.
    makes_elements : bool
        Whether a loop computes an element of the result at each position of the domain.
    reduces_rows : bool
        Whether the node reduces the innermost of several dimensions, and no other.
    own_rows : bool
        Whether its rows are not the last dimension.
    cost : int or None
        What an elementwise op costs, of a fusible node.
    dtypes : sequence of str
        The dtypes of the operands of a fusible node, and that of its result.
    operands : sequence of (Axes, bool)
        For each operand of an elementwise node that is no view, its axis for each dimension of the
        domain, and whether it moves along all of them.
    lengths : Lengths or int or None
        The lengths of the result of an elementwise node, or the position of an operand that has the
        same ones; None if the kind tells neither.
    """

    fusible: bool
    elementwise: bool
    makes_elements: bool
    reduces_rows: bool
    own_rows: bool
    cost: int | None
    dtypes: Sequence[str]
    operands: Sequence[tuple[Axes, bool]]
    lengths: Lengths | int | None


def kinds_of(order: Sequence[FrozenApply], fusion: Fusion) -> Mapping[FrozenApply, Kind]:
    """The kind of each node; ``fusion`` says once for each what a loop may hold."""
    found: dict[int, Kind] = {}
    kinds: dict[FrozenApply, Kind] = {}
    for at, first in enumerate(first_alike(order)):
        node = order[at]
        if first == at:
            found[at] = _kind(node, fusion)
        kinds[node] = found[first]
    return kinds


_OTHER = Kind(False, False, False, False, False, None, (), (), None)


def _kind(node: FrozenApply, fusion: Fusion) -> Kind:
    if len(node.output_types) != 1 or not can_loop(node) or not fusion.fuses(node):
        return _OTHER
    (output,) = node.outputs
    dtypes = *[x.dtype for x in node.inputs], output.dtype
    if type(node.op) is not Elemwise:
        return _OTHER._replace(
            fusible=True,
            makes_elements=makes_elements(node),
            reduces_rows=is_row_reduction(node),
            own_rows=row_dimension(node) is not None,
            dtypes=dtypes,
        )
    moving = output.ndim - output.broadcastable.count(True)
    axes = [own_axes(x, output.ndim) for x in node.inputs]
    return Kind(
        True,
        True,
        True,
        False,
        False,
        cost(node.op.scalar_op),
        dtypes,
        [(own, len(own) - own.count(REPEATED) == moving) for own in axes],
        _lengths(node),
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
