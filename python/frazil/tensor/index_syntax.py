"""Indices as NumPy writes them: ``x[index]``, and ``x`` with the part that an index names changed.

Integers, slices and ``None`` take a view. With arrays among the indices there are two steps: slices
and new axes make a view, and the arrays gather its elements (:class:`AdvancedSubtensor`). A mask
stands for the positions where it is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, Variable
from frazil.graph.op import Array
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.advanced_indexing import (
    FULL,
    INDEX,
    AdvancedIncSubtensor,
    AdvancedSubtensor,
)
from frazil.tensor.basic_indexing import (
    DYNAMIC,
    HELD,
    WHOLE,
    Bound,
    IncSubtensor,
    Slice,
    Subtensor,
)
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.checks import Check, checked
from frazil.tensor.dims import DropDims, ExpandDims, expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.casting import astype
from frazil.tensor.lengths import (
    Lengths,
    add,
    as_length,
    length,
    lengths,
    literal,
    maximum,
    minimum,
    static_length,
    subtract,
)
from frazil.tensor.mask_counts import with_joint_counts
from frazil.tensor.ranges import arange
from frazil.tensor.searching import nonzero

SUPPORTED = (
    "Indices may be integers, slices, ..., None (np.newaxis), and arrays of integers or bool."
)


APART = object()
"""An ellipsis that stands for no dimension. It separates the arrays around it, as in NumPy."""


_INSIDE = Check("an integer in the index is out of bounds for its dimension", "IndexError")


class Truth(NamedTuple):
    """A single truth value in an index: a new dimension, which its positions index."""

    positions: Variable


def get_item(x: Variable, index: object) -> Variable:
    """Return ``x[index]``.

    Parameters
    ----------
    x : Variable
        Any tensor.
    index : int, slice, Ellipsis, None, array_like, variable, or a tuple of them
        As in NumPy. Bounds and steps of slices may be 0-d integer variables. Arrays of
        integers pick elements; a mask, an array of bool that has the lengths of the dimensions
        that it stands for, picks those where it is true. A single truth value adds a dimension,
        of length 1 or 0.

    Returns
    -------
    Variable
        A view, unless there is an array among the indices.
    """
    items = _with_positions_of_steps(x, _expand(x, index))
    if any(isinstance(item, Truth) or (isinstance(item, Variable) and item.ndim) for item in items):
        return _gather(x, items)
    items = [item for item in items if item is not APART]
    template, dynamic, new_axes = _parse(x, items)
    while template and template[-1] == WHOLE:
        template.pop()
    # x[1:][:] is not x[1:] itself, which set_subtensor would take for a part of x.
    is_new = template or (not new_axes and _is_part(x))
    part = Subtensor(tuple(template))(x, *dynamic) if is_new else x
    return expand_dims(part, new_axes)


@described
def set_subtensor(x: Variable, y: TensorLike) -> Variable:
    """Return a tensor in which a part has new values.

    x (Variable): The part, written ``tensor[index]``; a tensor that is no part of another is set as
        a whole, as ``tensor[:]`` is.
    y (tensor_like): The new values, which broadcast to the part, of its dtype or one that promotes
        to it. Where arrays in the index name an element several times, the last value remains.
    returns: A new value for ``tensor``, which itself does not change.

    >>> x = ft.zeros(3)
    >>> ft.set_subtensor(x[:2], 5.0).eval()
    array([5., 5., 0.])
    >>> ft.set_subtensor(x[[2, 0]], [1.0, 2.0]).eval()
    array([2., 0., 1.])
    """
    return _with_part(x, y, replace=True)


@described
def inc_subtensor(x: Variable, y: TensorLike) -> Variable:
    """Return a tensor in which a part is increased.

    x (Variable): The part, as for :func:`set_subtensor`.
    y (tensor_like): The summands, as the values there; where arrays in the index name an element
        several times, all its values are added, as by :func:`numpy.add.at`.
    returns: A new value for ``tensor``, which itself does not change.

    >>> x = ft.ones(3)
    >>> ft.inc_subtensor(x[0], 5.0).eval()
    array([6., 1., 1.])
    >>> ft.inc_subtensor(x[[2, 0, 2]], 1.0).eval()
    array([2., 1., 3.])
    """
    return _with_part(x, y, replace=False)


def with_item(x: Variable, index: object, y: TensorLike, *, replace: bool) -> Variable:
    """Return ``x`` with other values in the part ``x[index]``, or with ``y`` added there."""
    part = get_item(x, index)
    if not _only_adds_dimensions(index):
        return _with_part(part, y, replace=replace)
    y = _converted(y, x.dtype)
    items = [item for item in _expand(x, index) if item is not APART]
    added = [axis for axis, item in enumerate(items) if item is None]
    return _whole(x, _without(y, added, part.ndim), replace=replace)


def _only_adds_dimensions(index: object) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(item is None for item in items) and all(
        item is None or item is ... or (isinstance(item, slice) and item == slice(None))
        for item in items
    )


def _converted(y: TensorLike, dtype: str) -> Variable:
    """Return new values in a dtype, if nothing is lost by it.

    Numbers without a variable may be of another kind, if the dtype has the same numbers.
    """
    if isinstance(y, Variable):
        return astype(y, dtype) if _core.promote(y.dtype, dtype) == dtype else y
    with np.errstate(invalid="ignore"):  # what an integer cannot hold is refused below
        made = as_tensor(y, dtype)
        _refuse_loss(y, dtype, made.data if isinstance(made, Constant) else None)
    return made


def _refuse_loss(y: Any, dtype: str, made: Array | None = None) -> None:
    """Raise unless a tensor of a dtype holds new values; ``made`` are they in the dtype."""
    if made is None and isinstance(y, list | tuple):
        for part in y:
            _refuse_loss(part, dtype)
        return
    if isinstance(y, Variable):
        fits = _core.promote(y.dtype, dtype) == dtype
    else:
        known = np.asarray(y)
        made = known.astype(dtype) if made is None else made
        fits = np.dtype(dtype).kind not in "biu" or np.array_equal(made, known)
    if not fits:
        raise TypeError(
            f"a tensor of {dtype} does not hold {y!s} without loss. Cast the tensor first, or the "
            "new values"
        )


def _without(y: Variable, added: Sequence[int], ndim: int) -> Variable:
    """Return new values for a part without the dimensions that its index added."""
    kept = ndim - y.ndim
    axes = tuple(axis - kept for axis in added if axis >= kept)
    return DropDims(axes)(y) if axes else y


def _with_part(part: Variable, y: TensorLike, *, replace: bool) -> Variable:
    y = _converted(y, part.dtype)
    node = part.owner
    if node is not None and isinstance(node.op, DropDims):
        of = node.inputs[0]
        if of.owner is not None and isinstance(of.owner.op, AdvancedSubtensor):
            return _with_part(of, _undropped(y, of.ndim, node.op.axes), replace=replace)
    if node is not None and isinstance(node.op, AdvancedSubtensor):
        x, *indices = node.inputs
        _refuse_scalar(x)
        result: Variable = AdvancedIncSubtensor(node.op.template, replace)(x, y, *indices)
        return _with_part(x, result, replace=True) if _is_held(x) else result
    if node is not None and isinstance(node.op, ExpandDims):
        # x[1:, None]: the new values lose the dimensions that the index added.
        inner = node.inputs[0].owner
        if inner is None or not isinstance(inner.op, Subtensor):
            return _whole(part, y, replace=replace)
        y, node = _without(y, node.op.axes, part.ndim), inner
    if node is None or not isinstance(node.op, Subtensor):
        return _whole(part, y, replace=replace)
    x, *dynamic = node.inputs
    changed: Variable = IncSubtensor(node.op.template, replace)(x, y, *dynamic)
    return _with_part(x, changed, replace=True) if _is_held(x) else changed


def _whole(x: Variable, y: Variable, *, replace: bool) -> Variable:
    """Return new values for all of ``x``, which is no part of another tensor."""
    if _core.promote(y.dtype, x.dtype) != x.dtype:
        raise TypeError(f"new values of {y.type} do not fit {x.type} without loss. Cast them first")
    new = broadcast_to(y, lengths(x))
    return new if replace else _core.elemwise(scalar.add, x, new)


def _undropped(y: Variable, ndim: int, axes: Sequence[int]) -> Variable:
    """Return new values for a part of ``ndim`` dimensions, given those without ``axes``."""
    kept = [axis for axis in range(ndim) if axis not in axes]
    first = kept[len(kept) - y.ndim] if y.ndim else ndim
    return expand_dims(y, tuple(axis - first for axis in axes if axis > first))


def _is_part(x: Variable) -> bool:
    """Whether :func:`set_subtensor` takes ``x`` for a part of another tensor."""
    node = x.owner
    if node is not None and isinstance(node.op, ExpandDims):
        node = node.inputs[0].owner
    return node is not None and isinstance(node.op, Subtensor | AdvancedSubtensor)


def _is_held(x: Variable) -> bool:
    """Whether ``x`` is a view within an index that has arrays or truth values, too."""
    node = x.owner
    if node is not None and isinstance(node.op, ExpandDims):
        node = node.inputs[0].owner
    if node is None or not isinstance(node.op, Subtensor):
        return False
    return HELD in node.op.template or _is_held(node.inputs[0])


def _refuse_scalar(x: Variable) -> None:
    """Raise where ``x`` is the view that truth values in an index take of no dimension."""
    node = x.owner
    if node is None or not isinstance(node.op, ExpandDims):
        return
    (of,) = node.inputs
    if of.ndim == 0 and of.owner is not None and of.owner.op == Subtensor(()):
        raise TypeError(
            "what has no dimensions has no part to set. Write ft.where(condition, value, x)"
        )


def _with_positions_of_steps(x: Variable, items: list[Any]) -> list[object]:
    """Return the items with the positions that a slice whose step is a variable takes."""
    whole = [item for item in items if _takes_dimension(item)]
    stepped = [axis for axis, item in enumerate(whole) if _has_open_step(item)]
    if not stepped:
        return items
    if len(stepped) > 1 or any(_is_index(item) for item in items):
        raise TypeError(
            "a slice whose step is a variable stands alone, or beside slices whose steps are "
            "integers. Index in several steps, as in x[0][::step]"
        )
    taken = _positions_of_step(whole[stepped[0]], length(x, stepped[0]))
    return [taken if _has_open_step(item) else item for item in items]


def _takes_dimension(item: object) -> bool:
    return item is not None and item is not APART and not isinstance(item, Truth)


def _has_open_step(item: object) -> bool:
    return (
        isinstance(item, slice)
        and isinstance(item.step, Variable)
        and static_length(item.step) is None
    )


def _positions_of_step(item: slice, n: Variable) -> Variable:
    """Return the positions that a slice takes of ``n``, as Python's ``slice.indices`` says."""
    step = as_length(item.step)
    down = _core.elemwise(scalar.lt, step, 0)

    def chosen(if_down: Variable, if_up: Variable) -> Variable:
        return _core.elemwise(scalar.where, down, if_down, if_up)

    before, last = literal(-1), subtract(n, literal(1))
    lower, upper = chosen(before, literal(0)), chosen(last, n)

    def bound(given: object, default: Variable) -> Variable:
        if given is None:
            return default
        value = as_length(given)  # type: ignore[arg-type]  # what it is not, it refuses
        from_end = _core.elemwise(scalar.lt, value, 0)
        value = _core.elemwise(scalar.where, from_end, add(value, n), value)
        return minimum(maximum(value, lower), upper)

    start, stop = bound(item.start, chosen(upper, lower)), bound(item.stop, chosen(lower, upper))
    return arange(start, stop, step)


def _expand(x: Variable, index: object) -> list[Any]:
    """Return the items of an index: the ellipsis written out, masks as positions, arrays as
    variables. All items but None, APART and truth values stand for one dimension of ``x`` each, in
    order.
    """
    items = [_as_item(item) for item in (index if isinstance(index, tuple) else (index,))]
    used = sum(item.ndim if _is_mask(item) else 1 for item in items if item is not None)
    ellipses = sum(item is Ellipsis for item in items)
    used -= ellipses
    if ellipses > 1:
        raise IndexError("an index can have only one ellipsis (...)")
    if used > x.ndim:
        raise IndexError(f"too many indices: {used} for a tensor of {x.ndim} dimensions, {x.type}")
    expanded: list[Any] = []
    axis = 0
    for item in items:
        if item is None:
            expanded.append(None)
        elif item is Ellipsis:
            expanded += [slice(None)] * (x.ndim - used) or [APART]
            axis += x.ndim - used
        elif _is_mask(item) and not item.ndim:
            expanded.append(Truth(*_where_true(item)))
        elif _is_mask(item):
            expanded += _positions(item, x, axis)
            axis += item.ndim
        else:
            expanded.append(item)
            axis += 1
    return expanded


def _as_item(item: object) -> Any:
    """Return an item of an index, an array as a variable."""
    if isinstance(item, bool | np.bool_):
        return constant(item)
    if isinstance(item, list | tuple):
        item = as_tensor(item) if len(item) else np.zeros(0, np.int64)
    elif hasattr(item, "__array__") and not isinstance(item, Variable | np.generic):
        item = np.asarray(item)  # a series of pandas
    if isinstance(item, np.ndarray):
        item = constant(item) if item.ndim or item.dtype == bool else item[()]
    if isinstance(item, Variable) and item.type.numpy_dtype.kind not in "iub":
        raise IndexError(
            f"an array used as an index must be of integers or bool; given {item.type}. {SUPPORTED}"
        )
    return item


def _is_mask(item: object) -> bool:
    return isinstance(item, Variable) and item.dtype == "bool"


def _where_true(mask: Variable) -> Sequence[Variable]:
    """Return the positions where a mask is true; a single truth value is one of one element."""
    if isinstance(mask, Constant):
        return [constant(positions) for positions in np.nonzero(np.atleast_1d(mask.data))]
    return nonzero(mask if mask.ndim else expand_dims(mask, 0))


def _positions(mask: Variable, x: Variable, axis: int) -> Sequence[Variable]:
    """Return where a mask of the dimensions of ``x`` from ``axis`` on is true."""
    own, shape = mask.type.shape, x.type.shape[axis : axis + mask.ndim]
    for offset, (given, wanted) in enumerate(zip(own, shape, strict=True)):
        if given != wanted and given is not None and (wanted is not None or given == 1):
            raise IndexError(
                f"a mask of shape {own} does not fit {x.type}: its dimension {offset} has length "
                f"{given}, and dimension {axis + offset} of the tensor "
                + (f"has {wanted}" if wanted else "is not declared to have length 1")
            )
    if isinstance(mask, Constant) and own == shape:
        return _where_true(mask)
    whole = lengths(x)[axis : axis + mask.ndim]
    # Once a run has checked the lengths, they are the lengths of x.
    return nonzero(broadcast_to(_fitting(mask, whole, axis), whole))


def _fitting(mask: Variable, wanted: Lengths, axis: int) -> Variable:
    """Return a mask whose lengths, where types do not tell them, are those of dimensions."""
    for offset, (own, other) in enumerate(zip(lengths(mask), wanted, strict=True)):
        if own is not other:
            message = (
                f"a mask does not fit the tensor: the length of its dimension {offset} is not that "
                f"of dimension {axis + offset} of the tensor"
            )
            same = _core.elemwise(scalar.eq, own, other)
            mask = checked(mask, [same], Check(message, "IndexError"))
    return mask


def _gather(x: Variable, items: Sequence[object]) -> Variable:
    """Return the part for an index that has arrays; integers count as arrays of no dimension."""
    basic: list[Any] = []
    indices: list[Variable] = []
    kinds: list[str] = []  # one for each dimension of the view that the arrays index
    axes: dict[int, int] = {}  # for each index, by its place in `indices`: its dimension of x
    between: list[int] = []  # the whole dimensions that only keep arrays apart
    axis = 0
    for item in _with_gaps(items):
        if item is APART:
            between.append(kinds.count(FULL))
            item = None
        kinds.append(INDEX if _is_index(item) else FULL)
        if isinstance(item, Truth):
            indices.append(item.positions)
            basic.append(None)
            continue
        if kinds[-1] == INDEX:
            axes |= {len(indices): axis}
            indices.append(_as_index(item, axis, x))
        basic.append(item if kinds[-1] == FULL else HELD)
        axis += item is not None
    kinds += [FULL] * (x.ndim - axis)
    indices = _with_integers_inside(x, indices, axes)
    if any(isinstance(item, Truth) for item in items):
        # This view tells set_subtensor that the new dimensions are none that x has.
        x = Subtensor((HELD,) * x.ndim)(x)
    template, dynamic, new_axes = _parse(x, basic)
    view = x
    if new_axes or any(entry not in (WHOLE, HELD) for entry in template):
        view = Subtensor(tuple(template))(x, *dynamic)
    indices = with_joint_counts(indices)
    part: Variable = AdvancedSubtensor(tuple(kinds))(expand_dims(view, new_axes), *indices)
    in_front = max(index.ndim for index in indices)
    return DropDims(tuple(in_front + at for at in between))(part) if between else part


def _with_integers_inside(
    x: Variable, indices: Sequence[Variable], axes: Mapping[int, int]
) -> list[Variable]:
    """Return indices whose integers are checked also where an array beside them may be empty.

    A loop over no position looks at no index, and NumPy only at the integers.
    """
    beside = [length(index, k) for index in indices for k in range(index.ndim)]
    counts = [n for n in beside if not static_length(n)]
    inside = list(indices)
    for place, axis in axes.items() if counts else ():
        index, n = indices[place], length(x, axis)
        if index.ndim or (isinstance(index, Constant) and static_length(n) is not None):
            continue
        fits = (index >= -n) & (index < n)
        # Where there are positions, the loop tells the index itself.
        fine = fits | reduce(and_, (count > 0 for count in counts))
        inside[place] = checked(index, [fine], _INSIDE)
    return inside


def _with_gaps(items: Sequence[object]) -> list[object]:
    """Return the items of an index, with APART kept only between arrays."""
    around = zip([None, *items], items, [*items[1:], None], strict=False)
    return [
        item
        for before, item, after in around
        if item is not APART or (_is_index(before) and _is_index(after))
    ]


def _is_index(item: object) -> bool:
    return item is not None and item is not APART and not isinstance(item, slice)


def _as_index(item: object, axis: int, x: Variable) -> Variable:
    """Return the index array for a dimension; what is known of it is checked now."""
    length = x.type.shape[axis]
    index = item if isinstance(item, Variable) else constant(_as_integer(item), "int64")
    if not isinstance(index, Constant) or length is None:
        return index
    outside = index.data[(index.data < -length) | (index.data >= length)]
    if outside.size:
        raise IndexError(
            f"index {outside.flat[0]} is out of bounds for axis {axis} with length {length} of "
            f"{x.type}"
        )
    return constant(index.data.astype(np.int64) % max(length, 1))


def _parse(
    x: Variable, items: Sequence[object]
) -> tuple[list[int | str | Slice], list[Variable], tuple[int, ...]]:
    """Return the template, its dynamic values, and the positions of new axes in the result."""
    template: list[int | str | Slice] = []
    dynamic: list[Variable] = []
    new_axes: list[int] = []
    position = 0
    for item in items:
        if item is None:
            new_axes.append(position)
            position += 1
            continue
        length = x.type.shape[len(template)]
        if item is HELD:
            template.append(HELD)
            position += 1
        elif isinstance(item, slice):
            template.append(_parse_slice(item, length, dynamic))
            position += 1
        else:
            template.append(_parse_integer(item, length, len(template), x, dynamic))
    return template, dynamic, tuple(new_axes)


def _parse_integer(
    item: object, length: int | None, axis: int, x: Variable, dynamic: list[Variable]
) -> int | str:
    value = _as_bound(item, dynamic, IndexError)
    if value is None or isinstance(value, str) or length is None:
        assert value is not None
        return value
    if not -length <= value < length:
        raise IndexError(
            f"index {value} is out of bounds for axis {axis} with length {length} of {x.type}"
        )
    return value % length


def _parse_slice(item: slice, length: int | None, dynamic: list[Variable]) -> Slice:
    step = item.step
    if isinstance(step, Variable):
        step = static_length(step)
    if step is not None:
        step = _as_bound(step, dynamic)
    if step == 0:
        raise ValueError("the step of a slice cannot be zero")
    assert not isinstance(step, str)
    start, stop = _as_bound(item.start, dynamic), _as_bound(item.stop, dynamic)
    if step == 1:
        step = None
    if isinstance(start, str) or isinstance(stop, str):
        return start, stop, step
    if step is None and start == 0:
        start = None
    if length is not None and slice(start, stop, step).indices(length) == (0, length, 1):
        return WHOLE
    return start, stop, step


def _as_bound(item: object, dynamic: list[Variable], refusal: type[Exception] = TypeError) -> Bound:
    """Return an entry of a template; the value of a dynamic one is appended to ``dynamic``.

    Other dtypes are refused, by IndexError where a whole dimension is indexed, as in NumPy.
    """
    if item is None:
        return None
    if isinstance(item, Variable):
        if item.ndim or item.type.numpy_dtype.kind not in "iu":
            raise refusal(
                f"a variable used as an index must be an integer without dimensions; given "
                f"{item.type}. {SUPPORTED}"
            )
        static = static_length(item)
        if static is not None:
            return static
        dynamic.append(as_length(item))
        return DYNAMIC
    return _as_integer(item, refusal)


def _as_integer(item: object, refusal: type[Exception] = IndexError) -> int:
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
        raise refusal(
            f"cannot index a tensor with {item!r} of type {type(item).__name__}. {SUPPORTED}"
        )
    return int(item)
