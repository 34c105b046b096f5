"""Searching: where elements are that are not zero, and where the largest and smallest are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import axis_of_any, normalize_axis
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, documented
from frazil.tensor.lengths import Lengths
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.rounding import RoundedOp

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Nonzero(RoundedOp):
    """The positions of the elements that are not zero: an int64 vector for each dimension.

    Their number depends on the values.
    """

    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        if x.ndim == 0:
            raise ValueError(
                f"only tensors with dimensions have positions; given {x.type}. Use x[None]."
            )
        return FrozenApply(self, [x], [TensorType("int64", (None,))] * x.ndim)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        # NumPy gives views of one array; the outputs of a node share nothing.
        return tuple(positions.astype("int64", order="C") for positions in np.nonzero(inputs[0]))

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths | None, ...]:
        return (None,) * len(node.output_types)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None]


class Search(RoundedOp):
    """The position of an extreme element along ``axis``, the first of several; of a NaN first."""

    axis: int
    extreme: ClassVar[Callable[..., Any]]

    def make_node(self, x: Variable) -> FrozenApply:
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(self.axis, x.ndim)
        if x.type.shape[self.axis] == 0:
            raise ValueError(f"{self} of no elements: axis {self.axis} of {x.type}")
        return FrozenApply(self, [x], [TensorType("int64", _without(x.type.shape, self.axis))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.asarray(self.extreme(inputs[0], axis=self.axis), dtype="int64"),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (_without(input_shapes[0], self.axis),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None]


@dataclass(frozen=True, eq=False)
class Argmax(Search):
    """The position of the largest element along ``axis``, the first of several; of a NaN first."""

    axis: int
    extreme = staticmethod(np.argmax)


@dataclass(frozen=True, eq=False)
class Argmin(Search):
    """The position of the smallest element along ``axis``, the first of several; of a NaN first."""

    axis: int
    extreme = staticmethod(np.argmin)


def _without(shape: Sequence[T], axis: int) -> tuple[T, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


class Position(Protocol):
    """A function that finds an element along a dimension."""

    def __call__(
        self, x: TensorLike, axis: int | None = None, keepdims: bool = False
    ) -> Variable: ...


_POSITION = """Return the positions of the {extreme} elements along a dimension.

Parameters
----------
x : tensor_like
    Any tensor with elements; where there is a NaN, it counts as the {extreme}.
axis : int, optional
    The dimension; default: the position in the flattened tensor.
keepdims : bool, default False
    Keep the dimension, or all of them if ``axis`` is None, with length 1.

Returns
-------
Variable
    Of int64, as :func:`numpy.{name}` gives: the first one of equal elements.
"""


def _position(name: str, op: type[Argmax | Argmin], extreme: str, example: str) -> Position:
    def function(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Variable:
        x = as_tensor(x)
        axis = axis_of_any(axis, x.ndim)
        if axis is None:
            found: Variable = op(0)(reshape(x, (-1,)))
            return expand_dims(found, tuple(range(x.ndim))) if keepdims else found
        along = normalize_axis(axis, x.ndim)
        found = op(along)(x)
        return expand_dims(found, along) if keepdims else found

    return documented(function, name, _POSITION, extreme=extreme, example=example)


argmax = _position("argmax", Argmax, "largest", "[[1, 5, 2], [7, 0, 7]], axis=1 -> [1, 0]")
argmin = _position("argmin", Argmin, "smallest", "[[1, 5, 2], [7, 0, 7]], axis=1 -> [0, 1]")


@described
def nonzero(x: TensorLike) -> tuple[Variable, ...]:
    """Return the positions of the elements that are not zero.

    x (tensor_like): A tensor with one dimension or more.
    returns (tuple of Variable): An int64 vector for each dimension, as :func:`numpy.nonzero` gives.
        Their length is known only when the values are.

    >>> rows, columns = ft.nonzero([[0, 5], [7, 0]])
    >>> rows.eval(), columns.eval()
    (array([0, 1]), array([1, 0]))
    """
    positions = Nonzero()(as_tensor(x))
    return tuple(positions) if isinstance(positions, list) else (positions,)


@described
def flatnonzero(x: TensorLike) -> Variable:
    """Return the positions, in the flattened tensor, of the elements that are not zero.

    x (tensor_like): Any tensor; of a bool, these are the positions where it is true.
    returns: An int64 vector, as :func:`numpy.flatnonzero` gives.
    example: [[0, 5], [7, 0]] -> [1, 2]
    """
    return nonzero(ravel(x))[0]
