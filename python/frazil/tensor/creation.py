"""Tensors made of one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.buffers import distinct
from frazil.tensor.docstrings import described, documented
from frazil.tensor.lengths import LengthLike, Lengths, as_lengths, lengths, static_shape
from frazil.tensor.reductions import Sum


@dataclass(frozen=True, eq=False)
class Full(Op):
    """A new tensor whose lengths are the other operands, filled with the value of a 0-d one.

    A buffer of its own: each application is another node. If only the values matter,
    ``BroadcastTo`` of the value merges with its like.
    """

    takes_complex = True

    distinct: ClassVar[bool] = True

    def make_node(self, value: Variable, *shape: Variable) -> FrozenApply:
        if value.ndim:
            raise TypeError(
                f"the value to fill with must have no dimensions; given {value.type}. "
                "Use ft.broadcast_to."
            )
        return FrozenApply(self, [value, *shape], [TensorType(value.dtype, static_shape(shape))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        value, *shape = inputs
        return (np.full(tuple(int(n) for n in shape), value, dtype=value.dtype),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (node.inputs[1:],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        total = Sum(tuple(range(g.ndim)))(g) if g.ndim else g
        return [total, *(None for _ in inputs[1:])]


@described
def full(
    shape: LengthLike | Iterable[LengthLike],
    fill_value: TensorLike,
    dtype: npt.DTypeLike | None = None,
) -> Variable:
    """Return a new tensor filled with one value, or with a tensor that broadcasts to its shape.

    shape (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): Shape of the
        result.
    fill_value (tensor_like): The value.
    dtype (dtype_like): Default: the dtype of ``fill_value``, as in :func:`numpy.full`.
    returns: Each call gives another variable: see :func:`distinct`.

    >>> ft.full((2, 2), 7).eval()
    array([[7, 7],
           [7, 7]])
    """
    value = as_tensor(fill_value, dtype)
    if value.ndim:
        return distinct(broadcast_to(value, shape))
    tensor: Variable = Full()(value, *as_lengths(shape))
    return tensor


@described
def alloc(value: TensorLike, *shape: LengthLike) -> Variable:
    """Return a new tensor of a shape, filled with a value.

    value (tensor_like): Broadcasts to the shape.
    shape (int, 0-d integer variable, or one 1-d integer variable): Shape of the result.
    returns: Of the dtype of ``value``. Each call gives another variable: see :func:`distinct`.

    >>> ft.alloc([1, 2], 2, 2).eval()
    array([[1, 2],
           [1, 2]])
    """
    return full(shape[0] if len(shape) == 1 else shape, value)


@described
def full_like(
    x: TensorLike,
    fill_value: TensorLike,
    dtype: npt.DTypeLike | None = None,
    *,
    shape: LengthLike | Iterable[LengthLike] | None = None,
) -> Variable:
    """Return a new tensor like ``x`` filled with one value, as :func:`numpy.full_like`.

    x (tensor_like): Gives the shape and the dtype unless these are given.
    fill_value (tensor_like): The value, or a tensor that broadcasts; cast to the dtype of the
        result.
    dtype (dtype_like): Data type of the result.
    shape (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): Shape of the
        result; default: that of ``x``.
    returns: Each call gives another variable: see :func:`distinct`.
    example: [1.0, 2.0], 7 -> [7., 7.]
    """
    x = as_tensor(x)
    wanted = lengths(x) if shape is None else shape
    return full(wanted, fill_value, x.dtype if dtype is None else dtype)


class Filled(Protocol):
    """A function that fills a new tensor of a shape."""

    def __call__(
        self, shape: LengthLike | Iterable[LengthLike], dtype: npt.DTypeLike | None = None
    ) -> Variable: ...


class FilledLike(Protocol):
    """A function that fills a new tensor like another."""

    def __call__(
        self,
        x: TensorLike,
        dtype: npt.DTypeLike | None = None,
        *,
        shape: LengthLike | Iterable[LengthLike] | None = None,
    ) -> Variable: ...


_FILLED = """Return a new tensor {summary}, as :func:`numpy.{name}`.

Parameters
----------
shape : int, 0-d integer variable, a sequence of them, or a 1-d integer variable
    Shape of the result.
dtype : dtype_like, optional
    Its data type; default: float64.

Returns
-------
Variable
    Each call gives another variable: see :func:`distinct`.{values}
"""

_FILLED_LIKE = """Return a new tensor {summary} of the shape of ``x``, as :func:`numpy.{name}`.

Parameters
----------
x : tensor_like
    Gives the shape and the dtype unless these are given.
dtype : dtype_like, optional
    Data type of the result.
shape : int, 0-d integer variable, a sequence of them, or a 1-d integer variable, optional
    Shape of the result; default: that of ``x``.

Returns
-------
Variable
    Each call gives another variable: see :func:`distinct`.
"""


def _filled(name: str, value: int, summary: str, example: str, values: str = "") -> Filled:
    def function(
        shape: LengthLike | Iterable[LengthLike], dtype: npt.DTypeLike | None = None
    ) -> Variable:
        return full(shape, constant(value, np.dtype(dtype)))

    words = {"summary": summary, "values": values, "example": example}
    return documented(function, name, _FILLED, **words)


def _filled_like(name: str, value: int, summary: str, example: str) -> FilledLike:
    def function(
        x: TensorLike,
        dtype: npt.DTypeLike | None = None,
        *,
        shape: LengthLike | Iterable[LengthLike] | None = None,
    ) -> Variable:
        return full_like(x, value, dtype, shape=shape)

    return documented(function, name, _FILLED_LIKE, summary=summary, example=example)


zeros = _filled("zeros", 0, "of zeros", "3 -> [0., 0., 0.]")
ones = _filled("ones", 1, "of ones", "3 -> [1., 1., 1.]")
empty = _filled(
    "empty",
    0,
    "whose values are not to be relied on",
    "2 -> [0., 0.]",
    " The values are zeros,\n    so that a graph gives the same result each time.",
)
zeros_like = _filled_like("zeros_like", 0, "of zeros", "[1.0, 2.0] -> [0., 0.]")
ones_like = _filled_like("ones_like", 1, "of ones", "[1.0, 2.0] -> [1., 1.]")
