"""Searching: where elements are that are not zero, and where the largest and smallest are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.op import Op
from frazil.tensor.constants import Array, TensorLike, as_tensor
from frazil.tensor.lengths import Lengths
from frazil.tensor.reshaping import ravel


@dataclass(frozen=True, eq=False)
class Nonzero(Op):
    """The positions of the elements that are not zero: an int64 vector for each dimension.

    How many there are only the values tell.
    """

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

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        return [None]


def nonzero(x: TensorLike) -> tuple[Variable, ...]:
    """Return the positions of the elements that are not zero.

    Parameters
    ----------
    x : tensor_like
        A tensor with one dimension or more.

    Returns
    -------
    tuple of Variable
        An int64 vector for each dimension, as :func:`numpy.nonzero` gives. Their length is known
        only when the values are.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> rows, columns = ft.nonzero([[0, 5], [7, 0]])
    >>> rows.eval(), columns.eval()
    (array([0, 1]), array([1, 0]))
    """
    return tuple(Nonzero().make_node(as_tensor(x)).outputs)


def flatnonzero(x: TensorLike) -> Variable:
    """Return the positions, in the flattened tensor, of the elements that are not zero.

    Parameters
    ----------
    x : tensor_like
        Any tensor.

    Returns
    -------
    Variable
        An int64 vector, as :func:`numpy.flatnonzero` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.flatnonzero([[0, 5], [7, 0]]).eval()
    array([1, 2])
    """
    return nonzero(ravel(x))[0]
