"""Rules for indexing, and for ops that set or increase the elements at an index."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import basic as ptb
from pytensor.tensor import subtensor as sub
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import MakeSlice, NoneTypeT, SliceType

import frazil.scalar as fs
import frazil.tensor as ft
from frazil._core import Variable
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.integers import integer
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.rules.checks import checked
from frazil.interop.pytensor.translation import NoRule, Results, Translation, cast, rule

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp

_WITHOUT_REPEATS = classes("AdvancedIncSubtensor1")
"""Ops that set or increase elements in PyTensor only if all lengths are equal."""


def _items(op: PyTensorOp, values: list[Any]) -> list[Any]:
    """An index of PyTensor's: slices of variables, and variables."""
    pattern = getattr(op, "idx_list", None)
    if pattern is not None:
        return list(sub.indices_from_subtensor(values, pattern))
    return [_slice_of(x) if isinstance(x.type, SliceType) else x for x in values]


def _slice_of(x: Any) -> object:
    """The slice that a variable of PyTensor's slice type is."""
    if isinstance(x, Constant):
        return x.data
    if x.owner is None or type(x.owner.op).__name__ != "MakeSlice":
        raise NoRule(f"{x} is a slice that only the call knows")
    ends = x.owner.inputs
    return slice(*(None if isinstance(end.type, NoneTypeT) else end for end in ends))


def _index(
    op: PyTensorOp, x: Variable, values: list[object], t: Translation
) -> tuple[Variable, Any]:
    """The indexed tensor, with the lengths of constant masks, and the index."""

    def bound(end: object) -> object:
        return end if end is None or isinstance(end, int | np.integer) else integer(end, t)

    items = _items(op, values)
    made: list[Any] = []
    several = sum(not isinstance(item, slice) and _rank(item) > 0 for item in items) > 1
    lengths: list[int | None] = [None] * x.ndim
    at = 0
    for item in items:
        if isinstance(item, slice):
            step = bound(item.step)
            if isinstance(step, Variable):
                raise NoRule("a slice has a step that only the call knows")
            made.append(slice(bound(item.start), bound(item.stop), step))
            at += 1
        elif isinstance(item.type, NoneTypeT):
            made.append(None)
        elif item.type.dtype == "bool" and isinstance(item, Constant):
            # The places of a constant mask have lengths that are known.
            value = np.asarray(item.data)
            lengths[at : at + value.ndim] = value.shape
            made += np.nonzero(value) if value.ndim else [value]
            at += value.ndim
        elif item.type.dtype == "bool" and several:
            # As many places as are true: which lengths repeat is known after that.
            own = ft.shape(x)[at : at + item.type.ndim]
            made += ft.nonzero(ft.specify_shape(t[item], own))
            at += item.type.ndim
        elif item.type.ndim == 0 and item.type.dtype != "bool":
            made.append(integer(item, t))
            at += 1
        elif item.type.dtype == "bool":
            # Its type may know lengths of 1 that the type of the indexed tensor does not know.
            ones = enumerate(t[item].type.shape, at)
            lengths[at : at + item.type.ndim] = [
                1 if n == 1 and x.type.shape[i] is None else None for i, n in ones
            ]
            made.append(t[item])
            at += item.type.ndim
        else:
            made.append(np.asarray(item.data) if isinstance(item, Constant) else t[item])
            at += 1
    index = _together(made) if len(_arrays(made)) > 1 else made
    return ft.specify_shape(x, lengths), tuple(index)


def _rank(item: Any) -> int:
    return getattr(item.type, "ndim", 0)


def _together(made: list[Any]) -> list[Any]:
    """An index whose arrays have one shape, where lengths are 1 that only a call knows.

    NumPy repeats them; frazil repeats what its type says, or what it is told may repeat.
    """
    for axis in range(-max(item.ndim for item in _arrays(made)), 0):
        lengths = {id(item): _length(item, axis) for item in _arrays(made)}
        different = [
            n for n in dict.fromkeys(lengths.values()) if isinstance(n, Variable) or n != 1
        ]
        if len(different) < 2:
            continue
        known = [n for n in different if isinstance(n, int)]
        length = known[0] if known else reduce(_longer, different)
        for i, item in enumerate(made):
            if isinstance(lengths.get(id(item)), Variable):
                made[i] = ft.broadcastable_at_run_time(item, axis, length)
    return made


def _arrays(items: list[object]) -> list[Any]:
    """The arrays of an index, which NumPy brings into one shape."""
    return [item for item in items if isinstance(item, Variable | np.ndarray) and item.ndim]


def _length(item: Any, axis: int) -> Any:
    """The length of an array along an axis: 1 where it has none, a variable if a call knows it."""
    if item.ndim < -axis:
        return 1
    known = (item.type if isinstance(item, Variable) else item).shape[axis]
    return ft.as_tensor(ft.shape(item)[axis]) if known is None else known


def _longer(a: Variable, b: Variable) -> Variable:
    """The length to which the other of two repeats."""
    return ft.switch(ft.eq(a, 1), b, a)


@rule(MakeSlice)
def _make_slice(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return [None]  # whoever takes it looks at its ends


@rule(sub.Subtensor, sub.AdvancedSubtensor, *classes("AdvancedSubtensor1"))
def _subtensor(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, *values = node.inputs
    try:
        whole, index = _index(op, t[x], values, t)
    except NoRule:
        return performed(node, t)
    return whole[index]


def _repeated(new: Variable, part: Variable) -> Variable:
    """``new``, whose dimensions repeat where a call finds that their lengths are 1."""
    lengths = ft.shape(part)
    for axis in range(-min(new.ndim, part.ndim), 0):
        if new.type.shape[axis] is None and part.type.shape[axis] != 1:
            new = ft.broadcastable_at_run_time(new, axis, lengths[axis])
    return new


@rule(sub.IncSubtensor, sub.AdvancedIncSubtensor, *classes("AdvancedIncSubtensor1"))
def _inc_subtensor(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, y, *values = node.inputs
    if getattr(op, "ignore_duplicates", False):
        return performed(node, t)
    try:
        whole, index = _index(op, t[x], values, t)
    except NoRule:
        return performed(node, t)
    part, new = whole[index], cast(t[y], x.type.dtype)
    if not isinstance(op, _WITHOUT_REPEATS):
        new = _repeated(new, part)
    if part is whole:
        return fs.second(whole, new) if op.set_instead_of_inc else whole + new
    return (ft.set_subtensor if op.set_instead_of_inc else ft.inc_subtensor)(part, new)


@rule(ptb.Choose)
def _choose(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    if not isinstance(node.inputs[1].type, TensorType):
        return performed(node, t)
    a, choices = t.operands(node)
    count = ft.shape(choices)[0]
    a = cast(a, "int64")
    if op.mode == "raise":
        error = CheckAndRaise(ValueError, "invalid entry in choice array")
        a = checked(error, a, [ft.all(ft.and_(a >= 0, a < count))], t)
    a = a % count if op.mode == "wrap" else ft.clip(a, 0, count - 1)
    places = ft.broadcast_arrays(a, choices[0])[0]
    rank, lengths = places.ndim, ft.shape(places)
    padding = ["x"] * (rank + 1 - choices.ndim)
    whole = ft.dimshuffle(choices, 0, *padding, *range(1, choices.ndim))
    whole = ft.broadcast_to(whole, [count, *(lengths[i] for i in range(rank))])
    return ft.take_along_axis(whole, ft.expand_dims(places, 0), axis=0)[0]


@rule(ptb.PermuteRowElements)
def _permute_rows(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, order = ft.broadcast_arrays(*t.operands(node))
    return ft.take_along_axis(x, ft.argsort(order) if op.inverse else order, axis=-1)


@rule(*classes("FillDiagonal"))
def _fill_diagonal(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, value = t.operands(node)
    return ft.fill_diagonal(x, value)
