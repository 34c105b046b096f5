"""Basic indexing: taking a part of a tensor, and a tensor with a part replaced.

A *template* says how each of the first dimensions is indexed; dimensions after its end are kept
whole. An entry is an int, :data:`DYNAMIC`, or a slice as ``(start, stop, step)`` whose bounds are
None, an int or :data:`DYNAMIC`. The values of dynamic entries are operands of the node, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import ClassVar, TypeAlias, TypeVar, cast

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import constant
from frazil.tensor.broadcasting import BroadcastTo, check_lengths, unbroadcast_like
from frazil.tensor.lengths import (
    Lengths,
    add,
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
NumpyIndex: TypeAlias = tuple[int | slice | EllipsisType, ...]
V = TypeVar("V")

WHOLE: Slice = (None, None, None)
HELD: Slice = (0, None, None)
"""The whole of a dimension from which an array in the same index picks. No slice of a user's parses
to this, so ``x[:, [0]]``, done in two steps, differs from ``x[:][:, [0]]``."""


@dataclass(frozen=True, eq=False)
class Subtensor(Op):
    """A view of a part of ``x``, as ``template`` says."""

    takes_complex = True

    template: Template
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: Variable, *dynamic: Variable) -> FrozenApply:
        shape = _static_part(self.template, x, dynamic)
        return FrozenApply(self, [x, *dynamic], [TensorType(x.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, *dynamic = inputs
        return (x[numpy_index(self.template, dynamic)],)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (part_lengths(self.template, input_shapes[0], node.inputs[1:]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        x, *dynamic = inputs
        (g,) = output_gradients
        zeros = BroadcastTo()(constant(0, g.dtype), *lengths(x))
        return [IncSubtensor(self.template, False)(zeros, g, *dynamic), *(None for _ in dynamic)]


@dataclass(frozen=True, eq=False)
class IncSubtensor(Op):
    """``x`` with a part increased by ``y``, or replaced by it if ``set``; a new tensor.

    ``y`` broadcasts to the part.
    """

    takes_complex = True

    template: Template
    set: bool

    def make_node(self, x: Variable, y: Variable, *dynamic: Variable) -> FrozenApply:
        part = _static_part(self.template, x, dynamic)
        check_part(y, x, part)
        return FrozenApply(self, [x, y, *dynamic], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, y, *dynamic = inputs
        result = x.copy()
        index = numpy_index(self.template, dynamic)
        check_lengths(node.inputs[1], y.shape, result[index].shape)
        if self.set:
            result[index] = y
        else:
            result[index] += y
        return (result,)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        _, y, *dynamic = inputs
        (g,) = output_gradients
        g_part = Subtensor(self.template)(g, *dynamic)
        g_x = g
        if self.set:
            g_x = IncSubtensor(self.template, True)(g, constant(0, g.dtype), *dynamic)
        return [g_x, unbroadcast_like(g_part, y), *(None for _ in dynamic)]


def _fill(template: Template, dynamic: Sequence[V], fixed: Callable[[int], V]) -> list[object]:
    """Return the template with values of type V: dynamic ones filled in, ints through ``fixed``."""
    values: Iterator[V] = iter(dynamic)

    def fill(bound: Bound) -> V | None:
        if bound is None:
            return None
        return next(values) if isinstance(bound, str) else fixed(bound)

    filled: list[object] = []
    for entry in template:
        if isinstance(entry, tuple):
            start, stop, step = entry
            filled.append((fill(start), fill(stop), step))
        else:
            filled.append(fill(entry))
    return filled


def numpy_index(template: Template, dynamic: Sequence[Array]) -> NumpyIndex:
    """Return the index of a template, as NumPy takes it."""
    filled = _fill(template, [int(value) for value in dynamic], int)
    index = [slice(*entry) if isinstance(entry, tuple) else cast(int, entry) for entry in filled]
    # With the ellipsis NumPy gives a 0-d array where it would give a scalar.
    return (*index, ...)


def check_part(y: Variable, x: Variable, part: Sequence[int | None]) -> None:
    """Raise unless ``y`` may be stored in a part of ``x`` that has this static shape."""
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
            f"tensor of shape {x.type.shape}, which has shape {part}; index a part of the value's "
            "shape, or reduce the value"
        )


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
    if entry in (WHOLE, HELD):
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
    if stop is None and step == 1 and (start is None or static_length(start) == 0):
        return length
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
