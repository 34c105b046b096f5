"""Elements picked by index arrays, one in each row: their computation, and their sums.

A matrix need not be computed if only one element of each row is read.
"""

from __future__ import annotations

import frazil._core as _core
from frazil._core import Constant, FrozenApply, Variable
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.sort import Tensor
from frazil.rewrite.wildcard import any_kind
from frazil.scalar import neg
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.advanced_indexing import INDEX, AdvancedIncSubtensor, AdvancedSubtensor
from frazil.tensor.basic_indexing import Subtensor
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import Shape_i
from frazil.tensor.ranges import ARange
from frazil.tensor.reductions import Sum

taken = any_kind(AdvancedSubtensor)
increased = any_kind(AdvancedIncSubtensor)
part = any_kind(Subtensor)


def _is(x: Variable, value: float) -> bool:
    return isinstance(x, Constant) and x.ndim == 0 and bool(x.data == value)


def _is_length(length: Variable, x: Variable, axis: int) -> bool:
    """Whether ``length`` is the static or symbolic length of ``x`` along ``axis``."""
    if isinstance(length, Constant):
        return bool(x.type.shape[axis] == length.data)
    node = length.owner
    if node is None or not isinstance(node.op, Shape_i):
        return False
    return node.inputs[0] is x and node.op.axis == axis


def _has_length(x: Variable, axis: int, length: Variable) -> bool:
    """Whether ``length`` is that of ``x`` along ``axis``, or of an operand it was computed from."""
    pending, seen = [(x, axis)], set()
    while pending:
        own = pending.pop()
        if own in seen:
            continue
        seen.add(own)
        x, axis = own
        if _is_length(length, x, axis):
            return True
        node = x.owner
        if node is None:
            continue
        if isinstance(node.op, Elemwise):
            for operand in node.inputs:
                at = axis - x.ndim + operand.ndim
                if at >= 0 and not operand.broadcastable[at]:
                    pending.append((operand, at))
        elif isinstance(node.op, (BroadcastTo, Full)) and node.inputs[1 + axis] is length:
            return True
    return False


def _row_axis(x: Variable, indices: tuple[Variable, ...]) -> int | None:
    """The axis of ``x`` whose index is ``arange`` over its length: one element a row is picked.

    None if not all dimensions are indexed, or none by such an index.
    """
    if len(indices) != x.ndim or x.ndim < 2 or any(index.ndim > 1 for index in indices):
        return None
    for axis, index in enumerate(indices):
        node = index.owner
        if node is None or not isinstance(node.op, ARange) or x.broadcastable[axis]:
            continue
        start, stop, step = node.inputs
        if _is(start, 0) and _is(step, 1) and _has_length(x, axis, stop):
            return axis
    return None


def _part(x: Variable, row: int, indices: dict[int, Variable]) -> Variable:
    """The elements of an operand that belong to elements of a result.

    ``row`` and ``indices`` name axes from the end, as operands are aligned.
    """
    moving = [axis for axis in range(-x.ndim, 0) if not x.broadcastable[axis]]
    ones = tuple(x.ndim + axis for axis in range(-x.ndim, 0) if axis not in moving)
    part: Variable = DropDims(ones)(x) if ones else x
    if moving in ([], [row]):
        return part
    picked: Variable = AdvancedSubtensor((INDEX,) * len(moving))(
        part, *(indices[axis] for axis in moving)
    )
    return picked


def _of_operands(node: FrozenApply, x: Variable, indices: tuple[Variable, ...]) -> Variable | None:
    made = x.owner
    if made is None or not isinstance(made.op, Elemwise):
        return None
    row = _row_axis(x, indices)
    if row is None:
        return None
    for axis in range(-x.ndim, 0):
        # An index is checked, and lengths are compared, by one operand or not at all.
        moving = [y for y in made.inputs if y.ndim >= -axis and not y.broadcastable[axis]]
        if axis != row - x.ndim and len(moving) != 1:
            return None
    from_end = {axis - x.ndim: index for axis, index in enumerate(indices)}
    parts = [_part(y, row - x.ndim, from_end) for y in made.inputs]
    result: Variable = made.op(*parts)
    return result if node.output_types[0].accepts(result.type) else None


@rule
def element_of_each_row(x: Tensor, *indices: Tensor) -> Law:
    """f(x, y)[arange(n), j] == f(x[arange(n), j], y[arange(n), j])."""
    return taken(x, *indices), _of_operands


def _sums_within(x: Variable, indices: tuple[Variable, ...]) -> dict[Variable, Variable]:
    """The sums over rows of a single number each that ``x`` is computed from, and these numbers.

    ``x`` is computed from them element by element. The numbers stand at ``indices``.
    """
    found: dict[Variable, Variable] = {}
    pending, seen = [x], {x}
    while pending:
        node = pending.pop().owner
        if node is None or not isinstance(node.op, (Elemwise, ExpandDims, DropDims, Sum)):
            continue
        if isinstance(node.op, Sum):
            number = _only_number(node, x, indices)
            if number is not None:
                found[node.outputs[0]] = number
            continue
        for operand in node.inputs:
            if operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return found


def _only_number(node: FrozenApply, x: Variable, indices: tuple[Variable, ...]) -> Variable | None:
    """The operand of a sum over rows, if each row has a single number, at ``indices``."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, AdvancedIncSubtensor):
        return None
    zeros, y, *own = inner.inputs
    row = _row_axis(zeros, tuple(own))
    filled = zeros.owner
    if row is None or filled is None or not isinstance(filled.op, (BroadcastTo, Full)):
        return None
    value, *lengths = filled.inputs
    # ``x`` has the same lengths, so it checks the indices as well.
    checked = len(lengths) == x.ndim and all(
        _has_length(x, axis, length) for axis, length in enumerate(lengths)
    )
    others = tuple(axis for axis in range(zeros.ndim) if axis != row)
    alike = tuple(own) == indices and node.op.axes == others and _is(value, 0)
    fits = node.output_types[0].accepts(y.type) and y.dtype == node.outputs[0].dtype
    return y if checked and alike and fits else None


def _with_numbers(node: FrozenApply, x: Variable, others: tuple[Variable, ...]) -> Variable | None:
    _, *indices = others
    found = _sums_within(x, tuple(indices))
    if not found:
        return None
    (within,) = _core.graph_replace([x], found)
    result: Variable = node.op(within, *others)
    return result


@rule
def sum_of_one_element(x: Tensor, *others: Tensor) -> Law:
    """The sum of a row of zeros with one element increased by y is y."""
    return increased(x, *others), _with_numbers


def _negated(node: FrozenApply, x: Variable, others: tuple[Variable, ...]) -> Variable | None:
    made = x.owner
    if made is None or not isinstance(made.op, Elemwise) or made.op.scalar_op is not neg:
        return None
    taken_part: Variable = node.op(made.inputs[0], *others)
    result: Variable = made.op(taken_part)
    return result


@rule
def part_of_negation(x: Tensor, *others: Tensor) -> Law:
    """(-x)[i:j] == -(x[i:j]), as the kernel that reads the part then negates it."""
    return part(x, *others), _negated


RULES = (element_of_each_row, sum_of_one_element, part_of_negation)
