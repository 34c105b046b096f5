"""Dimensions of length 1 are added to the results of elementwise ops, not to their operands."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Constant, FrozenApply, Variable
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import reads_one_element
from frazil.rewrite.sort import Tensor
from frazil.rewrite.wildcard import any_kind
from frazil.scalar.constants import constant
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.dims import ExpandDims

elementwise = any_kind(Elemwise)
expanded = any_kind(ExpandDims)


def _added(x: Variable) -> tuple[int, ...]:
    """The dimensions of length 1 that ``x`` can do without: those of a view, or of a constant."""
    if isinstance(x, Constant):
        return tuple(axis for axis, length in enumerate(x.type.shape) if length == 1)
    node = x.owner
    return node.op.axes if node is not None and isinstance(node.op, ExpandDims) else ()


def _without(x: Variable, axes: set[int]) -> Variable:
    """``x`` without some of the dimensions that were added to it."""
    if not axes:
        return x
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    if isinstance(x, Constant):
        return constant(x.data.reshape([x.data.shape[axis] for axis in kept]))
    assert x.owner is not None
    own = tuple(at for at, axis in enumerate(kept) if axis in x.owner.op.axes)
    [whole] = x.owner.inputs
    return ExpandDims(own)(whole) if own else whole


def _added_last(
    node: FrozenApply, *_operands: Variable | Sequence[Variable]
) -> list[Variable] | None:
    ndim = node.outputs[0].ndim
    # Counted from the last dimension, as those of all operands are that broadcast.
    added = [{axis - x.ndim for axis in _added(x)} for x in node.inputs]
    missing = [set(range(-ndim, -x.ndim)) for x in node.inputs]
    by_all = set.intersection(*(a | b for a, b in zip(added, missing, strict=True)))
    inputs = []
    for x, own in zip(node.inputs, added, strict=True):
        gone = own & by_all
        for axis in range(-x.ndim, 0):
            if axis not in own:
                break
            gone.add(axis)  # broadcasting adds it
        inputs.append(_without(x, {axis + x.ndim for axis in gone}))
    if inputs == list(node.inputs):
        return None
    made = node.op.make_node(*inputs).outputs
    axes = tuple(sorted(axis + ndim for axis in by_all))
    return [ExpandDims(axes)(y) if axes else y for y in made]


@rule
def number_in_dimensions(x: Tensor, *rest: Tensor) -> Law:
    """f([s], x) == f(s, x), and f([s], t) == [f(s, t)]: one element is as good as a number."""
    return elementwise(x, *rest), _added_last, reads_one_element()


@rule
def first_in_dimensions(x: Tensor, *rest: Tensor) -> Law:
    """f([x], [y]) == [f(x, y)], and f([x], m) == f(x, m): dimensions are added late or never."""
    return elementwise(expanded(x), *rest), _added_last


@rule
def second_in_dimensions(x: Tensor, y: Tensor, *rest: Tensor) -> Law:
    """f(x, [y]) == [f(x, y)] for a number x, and f(m, [y]) == f(m, y)."""
    return elementwise(x, expanded(y), *rest), _added_last


RULES = (number_in_dimensions, first_in_dimensions, second_in_dimensions)
