"""The ops of Fourier transforms: one dimension of complex or real numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable, elemwise
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import as_tensor
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import (
    Lengths,
    add,
    floor_divide,
    length,
    lengths,
    literal,
    maximum,
    minimum,
    multiply,
    static_length,
    subtract,
)
from frazil.tensor.ranges import arange
from frazil.tensor.realness import conj, real
from frazil.tensor.reshaping import reshape

SWAPPED: dict[str, Literal["backward", "ortho", "forward"]] = {
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


def check_operand(op: Op, axis: int, x: Variable, kinds: str, wanted: str) -> None:
    """Raise TypeError unless ``x`` has numbers of these kinds, and that dimension from the end."""
    if x.type.numpy_dtype.kind not in kinds or not -x.ndim <= axis < 0:
        raise TypeError(f"{op} takes {wanted} with that dimension; given {x.type}")


@dataclass(frozen=True, eq=False)
class Fourier(Op):
    """The Fourier transform along a dimension, which is counted from the last: -1, -2, ...

    The matrix of the transform is symmetric: its gradient is the same transform.
    """

    axis: int
    inverse: bool
    norm: str
    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        check_operand(self, self.axis, x, "c", "complex numbers")
        return FrozenApply(self, [x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        transform = np.fft.ifft if self.inverse else np.fft.fft
        return (_transformed(transform, inputs[0], node, self.axis, norm=self.norm),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (tuple(input_shapes[0]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [self(output_gradients[0])]


@dataclass(frozen=True, eq=False)
class RealFourier(Op):
    """The first half of the Fourier transform of real numbers; the rest mirrors it."""

    axis: int
    norm: str
    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        check_operand(self, self.axis, x, "f", "floats")
        shape = list(x.type.shape)
        n = shape[self.axis]
        shape[self.axis] = None if n is None else n // 2 + 1
        return FrozenApply(self, [x], [TensorType(_complex_of(x.dtype), tuple(shape))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (_transformed(np.fft.rfft, inputs[0], node, self.axis, norm=self.norm),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        shape = list(input_shapes[0])
        shape[self.axis] = half(shape[self.axis])
        return (tuple(shape),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (x,), (g,) = inputs, output_gradients
        whole = fitted(g, length(x, x.ndim + self.axis), g.ndim + self.axis)
        return [real(Fourier(self.axis, False, self.norm)(whole))]


@dataclass(frozen=True, eq=False)
class InverseRealFourier(Op):
    """The real numbers, as many as the second operand says, whose transform begins so.

    The first operand has half as many and one along the dimension.
    """

    axis: int
    norm: str
    takes_complex = True

    def make_node(self, x: Variable, n: Variable) -> FrozenApply:
        check_operand(self, self.axis, x, "c", "complex numbers")
        shape = list(x.type.shape)
        shape[self.axis] = static_length(n)
        dtype = "float32" if x.dtype == "complex64" else "float64"
        return FrozenApply(self, [x, n], [TensorType(dtype, tuple(shape))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, n = inputs[0], int(inputs[1])
        return (_transformed(np.fft.irfft, x, node, self.axis, n=n, norm=self.norm),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        shape = list(input_shapes[0])
        shape[self.axis] = node.inputs[1]
        return (tuple(shape),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # Each number but the first, and but the middle one of an even length, stands for two. Of
        # the first and the middle one the imaginary part does not count, nor in this gradient.
        n, g = inputs[1], output_gradients[0]
        pulled = conj(RealFourier(self.axis, SWAPPED[self.norm])(g))
        places = arange(half(n))
        first = elemwise(scalar.eq, places, 0)
        middle = elemwise(scalar.eq, multiply(literal(2), places), n)
        once = elemwise(scalar.or_, first, middle)
        weights = as_tensor(elemwise(scalar.where, once, 1.0, 2.0), g.dtype)
        ones = (None,) * (-self.axis - 1)
        return [pulled * get_item(weights, (slice(None), *ones)), None]


def _transformed(
    transform: Callable[..., Array], x: Array, node: FrozenApply, axis: int, **how: object
) -> Array:
    """The result of NumPy's transform, in the dtype of the node, also for no vectors at all."""
    kind = node.output_types[0]
    count = x.shape[axis]
    if isinstance(node.op, RealFourier):
        count = count // 2 + 1
    count = int(how.get("n", count))  # type: ignore[call-overload]
    check_length(min(count, x.shape[axis]))
    if not x.size:
        shape = list(x.shape)
        shape[axis] = count
        return np.empty(shape, kind.dtype)
    return transform(x, axis=axis, **how).astype(kind.dtype, copy=False)


def half(n: Variable) -> Variable:
    """Return how many numbers of a transform of ``n`` real ones do not mirror others."""
    return add(floor_divide(n, literal(2)), literal(1))


def _complex_of(dtype: str) -> str:
    return np.result_type(dtype, np.complex64).name


def fitted(x: Variable, n: Variable, axis: int) -> Variable:
    """Return ``x`` with ``n`` numbers along a dimension: the last ones cut off, or zeros added."""
    own = length(x, axis)
    known, wanted = static_length(own), static_length(n)
    if own is n or (known is not None and known == wanted):
        return x
    if known is None or wanted is None or wanted < known:
        x = get_item(x, (*(slice(None),) * axis, slice(None, minimum(own, n))))
    if known is None or wanted is None or wanted > known:
        lacking = [*lengths(x)]
        lacking[axis] = maximum(subtract(n, own), literal(0))
        zeros = broadcast_to(as_tensor(0, x.dtype), lacking)
        x = concatenate([x, zeros], axis)
    if wanted is None or x.type.shape[axis] is not None:
        return x
    return reshape(x, [*lengths(x)[:axis], n, *lengths(x)[axis + 1 :]])


def check_length(n: int | None) -> None:
    """Raise if there is no number to transform."""
    if n is not None and n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
