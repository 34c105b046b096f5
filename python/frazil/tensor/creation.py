"""Tensors made of one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.buffers import distinct
from frazil.tensor.lengths import LengthLike, Lengths, as_lengths, lengths, static_shape
from frazil.tensor.reductions import Sum


@dataclass(frozen=True, eq=False)
class Full(Op):
    """A new tensor whose lengths are the other operands, filled with the value of a 0-d one.

    A buffer of its own: each application is another node. Where only the values matter,
    ``BroadcastTo`` of the value merges with its like.
    """

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


def full(
    shape: LengthLike | Iterable[LengthLike],
    fill_value: TensorLike,
    dtype: npt.DTypeLike | None = None,
) -> Variable:
    """Return a new tensor filled with one value.

    Parameters
    ----------
    shape : int, 0-d integer variable, or a sequence of them
        Shape of the result.
    fill_value : tensor_like
        The value, without dimensions.
    dtype : dtype_like, optional
        Default: that of ``fill_value``, as in :func:`numpy.full`.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.full((2, 2), 7).eval()
    array([[7, 7],
           [7, 7]])
    """
    tensor: Variable = Full()(as_tensor(fill_value, dtype), *as_lengths(shape))
    return tensor


def alloc(value: TensorLike, *shape: LengthLike) -> Variable:
    """Return a new tensor of a shape, in which a value repeats.

    Parameters
    ----------
    value : tensor_like
        Broadcasts to the shape.
    *shape : int or 0-d integer variable
        Shape of the result.

    Returns
    -------
    Variable
        Of the dtype of ``value``. Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.alloc([1, 2], 2, 2).eval()
    array([[1, 2],
           [1, 2]])
    """
    value = as_tensor(value)
    return distinct(broadcast_to(value, shape)) if value.ndim else full(shape, value)


def zeros(shape: LengthLike | Iterable[LengthLike], dtype: npt.DTypeLike | None = None) -> Variable:
    """Return a new tensor of zeros, as :func:`numpy.zeros`.

    Parameters
    ----------
    shape : int, 0-d integer variable, or a sequence of them
        Shape of the result.
    dtype : dtype_like, optional
        Its data type; default: float64.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.zeros(3).eval()
    array([0., 0., 0.])
    """
    return full(shape, constant(0, np.dtype(dtype)))


def ones(shape: LengthLike | Iterable[LengthLike], dtype: npt.DTypeLike | None = None) -> Variable:
    """Return a new tensor of ones, as :func:`numpy.ones`.

    Parameters
    ----------
    shape : int, 0-d integer variable, or a sequence of them
        Shape of the result.
    dtype : dtype_like, optional
        Its data type; default: float64.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.ones(3).eval()
    array([1., 1., 1.])
    """
    return full(shape, constant(1, np.dtype(dtype)))


def empty(shape: LengthLike | Iterable[LengthLike], dtype: npt.DTypeLike | None = None) -> Variable:
    """Return a new tensor whose values are not to be relied on, as :func:`numpy.empty`.

    Parameters
    ----------
    shape : int, 0-d integer variable, or a sequence of them
        Shape of the result.
    dtype : dtype_like, optional
        Its data type; default: float64.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Notes
    -----
    The values are zeros, so that a graph gives the same result each time.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.empty((2, 3)).eval().shape
    (2, 3)
    """
    return zeros(shape, dtype)


def full_like(
    x: TensorLike, fill_value: TensorLike, dtype: npt.DTypeLike | None = None
) -> Variable:
    """Return a new tensor of the shape of ``x`` filled with one value, as :func:`numpy.full_like`.

    Parameters
    ----------
    x : tensor_like
        Gives the shape, and the dtype unless that is given.
    fill_value : tensor_like
        The value, without dimensions; cast to the dtype of the result.
    dtype : dtype_like, optional
        Data type of the result.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.full_like([1.0, 2.0], 7).eval()
    array([7., 7.])
    """
    x = as_tensor(x)
    return full(lengths(x), fill_value, x.dtype if dtype is None else dtype)


def zeros_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return a new tensor of zeros of the shape of ``x``, as :func:`numpy.zeros_like`.

    Parameters
    ----------
    x : tensor_like
        Gives the shape, and the dtype unless that is given.
    dtype : dtype_like, optional
        Data type of the result.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.zeros_like([1.0, 2.0]).eval()
    array([0., 0.])
    """
    return full_like(x, 0, dtype)


def ones_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return a new tensor of ones of the shape of ``x``, as :func:`numpy.ones_like`.

    Parameters
    ----------
    x : tensor_like
        Gives the shape, and the dtype unless that is given.
    dtype : dtype_like, optional
        Data type of the result.

    Returns
    -------
    Variable
        Each call gives another variable: see :func:`distinct`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.ones_like([1.0, 2.0]).eval()
    array([1., 1.])
    """
    return full_like(x, 1, dtype)
