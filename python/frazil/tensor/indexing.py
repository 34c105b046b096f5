"""Basic indexing: taking a part of a tensor, and a tensor with a part replaced.

A *template* says how each of the first dimensions is indexed; dimensions after its end are kept
whole. An entry is an int, :data:`DYNAMIC`, or a slice as ``(start, stop, step)`` whose bounds are
None, an int or :data:`DYNAMIC`. The values of dynamic entries are operands of the node, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from frazil import _core, scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.op import Op
from frazil.tensor.broadcasting import BroadcastTo, check_lengths, unbroadcast
from frazil.tensor.constants import Array, TensorLike, as_tensor, constant
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import (
    Lengths,
    add,
    as_length,
    floor_divide,
    lengths,
    literal,
    maximum,
    minimum,
    static_length,
    subtract,
)

DYNAMIC = "dynamic"

Bound: TypeAlias = int | str | None
Slice: TypeAlias = tuple[Bound, Bound, int | None]
Template: TypeAlias = tuple[int | str | Slice, ...]
V = TypeVar("V")

WHOLE: Slice = (None, None, None)
SUPPORTED = "Indices may be integers, slices, ... and None (np.newaxis)."


@dataclass(frozen=True, eq=False)
class Subtensor(Op):
    """A view of a part of ``x``, as ``template`` says."""

    template: Template
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: Variable, *dynamic: Variable) -> FrozenApply:
        shape = _static_part(self.template, x, dynamic)
        return FrozenApply(self, [x, *dynamic], [TensorType(x.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, *dynamic = inputs
        return (x[_numpy_index(self.template, dynamic)],)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (part_lengths(self.template, input_shapes[0], node.inputs[1:]),)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        x, *dynamic = inputs
        (g,) = output_gradients
        zeros = BroadcastTo()(constant(0, g.dtype), *lengths(x))
        return [IncSubtensor(self.template, False)(zeros, g, *dynamic), *(None for _ in dynamic)]


@dataclass(frozen=True, eq=False)
class IncSubtensor(Op):
    """``x`` with a part increased by ``y``, or replaced by it if ``set``; a new tensor.

    ``y`` broadcasts to the part.
    """

    template: Template
    set: bool

    def make_node(self, x: Variable, y: Variable, *dynamic: Variable) -> FrozenApply:
        part = _static_part(self.template, x, dynamic)
        if y.dtype != x.dtype:
            raise TypeError(
                f"the new part has dtype {y.dtype}, the tensor {x.dtype}. Cast one of them."
            )
        padded = (1,) * (len(part) - y.ndim) + y.type.shape
        fits = len(padded) == len(part) and all(
            own == 1 or own is None or wanted is None or own == wanted
            for own, wanted in zip(padded, part, strict=True)
        )
        if not fits:
            raise ValueError(
                f"a value of shape {y.type.shape} does not broadcast to the indexed part of a "
                f"tensor of shape {x.type.shape}, which has shape {part}"
            )
        return FrozenApply(self, [x, y, *dynamic], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, y, *dynamic = inputs
        result = x.copy()
        index = _numpy_index(self.template, dynamic)
        check_lengths(node.inputs[1], y.shape, result[index].shape)
        if self.set:
            result[index] = y
        else:
            result[index] += y
        return (result,)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        _, y, *dynamic = inputs
        (g,) = output_gradients
        g_part = Subtensor(self.template)(g, *dynamic)
        g_x = g
        if self.set:
            g_x = IncSubtensor(self.template, True)(g, constant(0, g.dtype), *dynamic)
        g_y = unbroadcast(g_part, y, g_part.broadcastable, lengths(g_part).__getitem__)
        return [g_x, g_y, *(None for _ in dynamic)]


def get_item(x: Variable, index: Any) -> Variable:
    """Return ``x[index]`` for a basic index.

    Parameters
    ----------
    x : Variable
        Any tensor.
    index : int, slice, Ellipsis, None, 0-d integer variable, or a tuple of them
        As in NumPy. Bounds of slices may be 0-d integer variables; steps are integers.

    Returns
    -------
    Variable
        A view.
    """
    template, dynamic, new_axes = _parse(x, index)
    part = Subtensor(template)(x, *dynamic) if template else x
    return ExpandDims(new_axes)(part) if new_axes else part


def set_subtensor(x: Variable, y: TensorLike) -> Variable:
    """Return a tensor in which a part has new values.

    Parameters
    ----------
    x : Variable
        The part, written ``tensor[index]``.
    y : tensor_like
        The new values, which broadcast to the part.

    Returns
    -------
    Variable
        A new value for ``tensor``, which itself does not change.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> x = ft.zeros(3)
    >>> ft.set_subtensor(x[:2], 5.0).eval()
    array([5., 5., 0.])
    """
    return _with_part(x, y, replace=True)


def inc_subtensor(x: Variable, y: TensorLike) -> Variable:
    """Return a tensor in which a part is increased.

    Parameters
    ----------
    x : Variable
        The part, written ``tensor[index]``.
    y : tensor_like
        What is added, which broadcasts to the part.

    Returns
    -------
    Variable
        A new value for ``tensor``, which itself does not change.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> x = ft.ones(3)
    >>> ft.inc_subtensor(x[0], 5.0).eval()
    array([6., 1., 1.])
    """
    return _with_part(x, y, replace=False)


def _with_part(part: Variable, y: TensorLike, *, replace: bool) -> Variable:
    y = as_tensor(y, part.dtype) if not isinstance(y, Variable) else y
    node = part.owner
    if node is not None and isinstance(node.op, ExpandDims):
        # x[:, None]: the new values lose the dimensions that the index added.
        kept = part.ndim - y.ndim
        axes = tuple(axis - kept for axis in node.op.axes if axis >= kept)
        y = DropDims(axes)(y) if axes else y
        node = node.inputs[0].owner
    if node is None or not isinstance(node.op, Subtensor):
        raise TypeError(
            "the part must be written as an index into a tensor, as in set_subtensor(x[1:], y), "
            f"that does not take the whole of it; given {part}"
        )
    x, *dynamic = node.inputs
    result: Variable = IncSubtensor(node.op.template, replace)(x, y, *dynamic)
    return result


def _parse(x: Variable, index: Any) -> tuple[Template, list[Variable], tuple[int, ...]]:
    """Return the template, its dynamic values, and the positions of new axes in the result."""
    items = list(index) if isinstance(index, tuple) else [index]
    ellipses = sum(item is Ellipsis for item in items)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if ellipses > 1:
        raise IndexError("an index can have only one ellipsis (...)")
    if used > x.ndim:
        raise IndexError(f"too many indices: {used} for a tensor of {x.ndim} dimensions, {x.type}")
    if ellipses:
        at = next(i for i, item in enumerate(items) if item is Ellipsis)
        items[at : at + 1] = [slice(None)] * (x.ndim - used)

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
        if isinstance(item, slice):
            template.append(_parse_slice(item, length, dynamic))
            position += 1
        else:
            template.append(_parse_integer(item, length, len(template), x, dynamic))
    while template and template[-1] == WHOLE:
        template.pop()
    return tuple(template), dynamic, tuple(new_axes)


def _parse_integer(
    item: Any, length: int | None, axis: int, x: Variable, dynamic: list[Variable]
) -> int | str:
    value = _as_bound(item, dynamic)
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
        if step is None:
            raise TypeError("the step of a slice must be a Python integer, not a variable")
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


def _as_bound(item: Any, dynamic: list[Variable]) -> Bound:
    """Return an entry of a template; the value of a dynamic one is appended to ``dynamic``."""
    if item is None:
        return None
    if isinstance(item, Variable):
        if item.ndim or item.type.numpy_dtype.kind not in "iu":
            raise TypeError(
                f"a variable used as an index must be an integer without dimensions; given "
                f"{item.type}. {SUPPORTED}"
            )
        static = static_length(item)
        if static is not None:
            return static
        dynamic.append(as_length(item))
        return DYNAMIC
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
        raise TypeError(
            f"cannot index a tensor with {item!r} of type {type(item).__name__}. {SUPPORTED}"
        )
    return int(item)


def _fill(template: Template, dynamic: Sequence[V], fixed: Callable[[int], V]) -> list[Any]:
    """Return the template with values of type V: dynamic ones filled in, ints through ``fixed``."""
    values: Iterator[V] = iter(dynamic)

    def fill(bound: Bound) -> V | None:
        if bound is None:
            return None
        return next(values) if isinstance(bound, str) else fixed(bound)

    filled: list[Any] = []
    for entry in template:
        if isinstance(entry, tuple):
            start, stop, step = entry
            filled.append((fill(start), fill(stop), step))
        else:
            filled.append(fill(entry))
    return filled


def _numpy_index(template: Template, dynamic: Sequence[Array]) -> tuple[Any, ...]:
    filled = _fill(template, [int(value) for value in dynamic], int)
    index = [slice(*entry) if isinstance(entry, tuple) else entry for entry in filled]
    # With the ellipsis NumPy gives a 0-d array where it would give a scalar.
    return (*index, ...)


def _static_part(
    template: Template, x: Variable, dynamic: Sequence[Variable]
) -> tuple[int | None, ...]:
    """Return the static shape of a part of ``x``, having checked the operands."""
    if len(template) > x.ndim:
        raise IndexError(f"too many indices: {len(template)} for {x.type}")
    bounds = [b for entry in template for b in (entry if isinstance(entry, tuple) else (entry,))]
    expected = bounds.count(DYNAMIC)
    if len(dynamic) != expected or any(v.dtype != "int64" or v.ndim for v in dynamic):
        raise TypeError(
            f"the template takes {expected} 0-d int64 variables; given "
            f"{[str(v.type) for v in dynamic]}"
        )
    shape: list[int | None] = []
    for entry, length in zip(template, x.type.shape, strict=False):
        if isinstance(entry, tuple):
            shape.append(_static_slice_length(entry, length))
    return (*shape, *x.type.shape[len(template) :])


def _static_slice_length(entry: Slice, length: int | None) -> int | None:
    if entry == WHOLE:
        return length
    start, stop, step = entry
    if length is None or isinstance(start, str) or isinstance(stop, str):
        return None
    return len(range(*slice(start, stop, step).indices(length)))


def part_lengths(
    template: Template, shape: Lengths, dynamic: Sequence[Variable]
) -> tuple[Variable, ...]:
    part = [
        _slice_length(entry, length)
        for entry, length in zip(_fill(template, dynamic, literal), shape, strict=False)
        if isinstance(entry, tuple)
    ]
    return (*part, *shape[len(template) :])


def _slice_length(
    entry: tuple[Variable | None, Variable | None, int | None], length: Variable
) -> Variable:
    """Return how many elements a slice takes of ``length``, by Python's rules."""
    start, stop, step = entry
    step = 1 if step is None else step
    if step > 0:
        first = literal(0) if start is None else _clamp(start, length, literal(0), length)
        end = length if stop is None else _clamp(stop, length, literal(0), length)
        distance = subtract(end, first)
    else:
        before, last = literal(-1), subtract(length, literal(1))
        first = last if start is None else _clamp(start, length, before, last)
        end = before if stop is None else _clamp(stop, length, before, last)
        distance = subtract(first, end)
    count = floor_divide(add(distance, literal(abs(step) - 1)), literal(abs(step)))
    if static_length(first) == 0 and step > 0:
        return count  # the end is clamped to 0 or more already
    return maximum(count, literal(0))


def _clamp(bound: Variable, length: Variable, low: Variable, high: Variable) -> Variable:
    """Return a bound counted from the front and limited to ``low .. high``."""
    static = static_length(bound)
    if static is None:
        negative = _core.elemwise(scalar.lt, bound, 0)
        bound = _core.elemwise(scalar.where, negative, add(bound, length), bound)
    elif static < 0:
        return maximum(add(bound, length), low)
    else:
        return minimum(bound, high)
    return maximum(minimum(bound, high), low)
