"""Ranges of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import frazil._core as _core
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.scalar.float16 import computed_in
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.choice import where
from frazil.tensor.elementwise.table import eq
from frazil.tensor.lengths import (
    Lengths,
    floor_divide,
    is_length,
    length,
    literal,
    maximum,
    subtract,
)


@dataclass(frozen=True, eq=False)
class ARange(Op):
    """The vector ``start, start + step, ...`` up to but without ``stop``, in ``dtype``.

    The operands are 0-d and of ``dtype``.
    """

    dtype: str

    def make_node(self, start: Variable, stop: Variable, step: Variable) -> FrozenApply:
        operands = [start, stop, step]
        if any(x.ndim or x.dtype != self.dtype for x in operands):
            raise TypeError(
                f"ARange takes a start, a stop and a step of type {self.dtype} without dimensions; "
                f"given {', '.join(str(x.type) for x in operands)}"
            )
        if isinstance(step, Constant) and step.data == 0:
            raise ValueError(f"the step of a range cannot be zero; given {step}")
        known = [x.data for x in operands if isinstance(x, Constant)]
        static = _count(known) if len(known) == 3 else None
        return FrozenApply(self, operands, [TensorType(self.dtype, (static,))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        start, _, step = inputs
        wide = computed_in(self.dtype)
        positions = np.arange(_count(inputs)).astype(wide)
        # As numpy.arange computes them, which counts a range of uint64 wrongly where it wraps.
        with np.errstate(all="ignore"):  # values of an infinite step are overwritten
            first, second = start.astype(wide), (start + step).astype(wide)
            values = (first + positions * (second - first)).astype(self.dtype, copy=False)
        values[:2] = [start, start + step][: len(values)]
        return (values,)

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths | None]:
        (static,) = node.output_types[0].shape
        if static is not None:
            return ((literal(static),),)
        start, stop, step = node.inputs
        if start is literal(0) and step is literal(1) and is_length(stop):
            return ((stop,),)
        if self.dtype == "int64" and isinstance(step, Constant):
            # The quotient rounded up, as -(-a // b).
            down = floor_divide(subtract(start, stop), step)
            return ((maximum(subtract(literal(0), down), literal(0)),),)
        return (None,)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        positions = as_tensor(arange(outputs[0].shape[0]), g.dtype)
        return [g.sum(), None, (g * positions).sum()]


@described
def arange(
    start: TensorLike,
    stop: TensorLike | None = None,
    step: TensorLike = 1,
    dtype: npt.DTypeLike | None = None,
) -> Variable:
    """Return the vector of evenly spaced values in a half-open interval.

    start (scalar_like): The first value; if ``stop`` is not given, this is the stop and the first
        value is 0.
    stop (scalar_like): The end of the values, which is not among them.
    step (scalar_like): The distance between neighbours; it may be negative.
    dtype (dtype_like): Default: what the arguments promote to.
    returns: Of length ``ceil((stop - start) / step)``, or 0 if that is negative, found before
        anything is cast. As in NumPy, the first two values are cast to ``dtype``, and the others
        follow at their distance.
    raises OverflowError: If a Python integer among the first two values does not fit in ``dtype``.

    >>> ft.arange(1, 6, 2).eval()
    array([1, 3, 5])
    >>> ft.arange(ft.vector("x").shape[0]).dtype
    'int64'
    """
    first, last = (0, start) if stop is None else (start, stop)
    operands = [as_tensor(x) for x in (first, last, step)]
    if dtype is None:
        dtype = _core.promote(*(x.dtype for x in operands))
    chosen = np.dtype(dtype).name
    if chosen == "bool":
        raise TypeError("a range of bool makes no sense; give integers or floats")
    own = _core.promote(*(x.dtype for x in operands))
    # Programs count 64-bit integers; these hold the numbers of narrower types.
    counted = "int64" if np.can_cast(own, "int64") else own
    begin, end, distance = (_converted(x, counted) for x in operands)
    values: Variable = ARange(counted)(begin, end, distance)
    if np.dtype(chosen).kind in "iu":
        _check_bounds(first, step, values.type.shape[0], chosen)
    # Integers wrap alike whether they are cast before or after.
    whole = np.dtype(counted).kind in "iu"
    if counted == chosen or (whole and np.dtype(chosen).kind in "iu"):
        return as_tensor(values, chosen)
    if whole and begin is literal(0) and distance is literal(1):
        return as_tensor(values, chosen)
    return _filled(begin, distance, length(values, 0), chosen)


def _converted(x: Variable, dtype: str) -> Variable:
    """Return ``x`` in ``dtype``; constants stay constants, which lengths are computed from."""
    return constant(x.data.astype(dtype)) if isinstance(x, Constant) else as_tensor(x, dtype)


def _check_bounds(first: object, step: object, count: int | None, dtype: str) -> None:
    """Raise OverflowError where Python's numbers are values that ``dtype`` does not hold."""
    if isinstance(first, int) and count != 0:
        constant(first, dtype)
        if isinstance(step, int) and count not in (None, 1):
            constant(first + step, dtype)


def _filled(start: Variable, step: Variable, count: Variable, dtype: str) -> Variable:
    """Return ``count`` values that begin as ``start, start + step`` do in ``dtype``."""
    positions = arange(count)
    first, second = as_tensor(start, dtype), as_tensor(start + step, dtype)
    wide = computed_in(dtype)
    begin, end = as_tensor(first, wide), as_tensor(second, wide)
    values = as_tensor(begin + as_tensor(positions, wide) * (end - begin), dtype)
    if np.dtype(dtype).kind in "iu":
        return values
    # Rounding and infinite steps leave these as they are.
    begun = where(eq(positions, 1), second, values)
    return where(eq(positions, 0), first, begun)


def _count(operands: Sequence[Array]) -> int:
    """Return the length of a range from start, stop and step; in the arithmetic of their dtype."""
    start, stop, step = operands
    if step == 0:
        raise ValueError("the step of a range cannot be zero")
    if step.dtype.kind in "iu":
        return len(range(int(start), int(stop), int(step)))
    with np.errstate(all="ignore"):
        distance = stop - start
        steps = float(distance / step)
    if steps == 0 and distance != 0:  # the quotient is too small for a float
        return int(math.copysign(1, steps) > 0)
    if math.isnan(steps):
        raise ValueError("a range has no length where an end or the step is not a number")
    if abs(steps) >= 2**63:
        raise ValueError(
            "a range has more elements than can be counted; its ends must be finite and its step "
            "not too small"
        )
    return max(0, math.ceil(steps))
