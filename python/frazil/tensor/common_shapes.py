"""Shapes that tensors have together, and tensors that have a shape."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import empty
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    as_lengths,
    length,
    lengths,
    literal,
    static_length,
)


@described
def empty_like(
    x: TensorLike,
    dtype: npt.DTypeLike | None = None,
    *,
    shape: LengthLike | Iterable[LengthLike] | None = None,
) -> Variable:
    """Return a new tensor like ``x`` whose elements may be anything.

    x (tensor_like): Gives the shape and the dtype unless these are given.
    dtype (dtype_like): Data type of the result.
    shape (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): Shape of the
        result; default: that of ``x``.
    returns: Each call gives another variable, as by :func:`empty`.

    >>> ft.empty_like(ft.tensor("x", shape=(2, 3))).type.shape
    (2, 3)
    """
    x = as_tensor(x)
    wanted = lengths(x) if shape is None else shape
    return empty(wanted, dtype=x.dtype if dtype is None else dtype)


@described
def broadcast_shapes(*shapes: LengthLike | Iterable[LengthLike]) -> Lengths:
    """Return the shape to which tensors of some shapes broadcast.

    shapes (int, 0-d integer variable, or a sequence of them): One or more shapes. A length
        broadcasts where it is 1, written as such; lengths that are variables are taken to be equal
        to what they meet.
    returns (tuple of Variable): Lengths, as :func:`shape` gives: constants where they are known.

    >>> [int(n.data) for n in ft.broadcast_shapes((3, 1), (2,))]
    [3, 2]
    """
    aligned = [as_lengths(shape) for shape in shapes]
    ndim = max(map(len, aligned), default=0)
    rows = [(*[literal(1)] * (ndim - len(shape)), *shape) for shape in aligned]
    return tuple(_together(column) for column in zip(*rows, strict=True))


def _together(column: tuple[Variable, ...]) -> Variable:
    others = [n for n in column if static_length(n) != 1]
    known = [n for n in others if static_length(n) is not None]
    if len({static_length(n) for n in known}) > 1:
        raise ValueError(
            f"lengths {', '.join(str(static_length(n)) for n in known)} do not broadcast"
        )
    return (known or others or list(column))[0]


@described
def broadcast_shape(*arrays: Any, arrays_are_shapes: builtins.bool = False) -> Lengths:
    """Return the shape to which tensors broadcast.

    arrays (tensor_like, or shape): The tensors, or their shapes.
    arrays_are_shapes (bool): Whether shapes are given, as :func:`broadcast_shapes` takes them.
    returns (tuple of Variable): Lengths, as :func:`shape` gives: constants where they are known.

    >>> [int(n.data) for n in ft.broadcast_shape(ft.zeros((3, 1)), ft.zeros(2))]
    [3, 2]
    """
    return broadcast_shapes(
        *(arrays if arrays_are_shapes else (lengths(as_tensor(x)) for x in arrays))
    )


@described
def fill(a: TensorLike, b: TensorLike) -> Variable:
    """Return ``b``, broadcast against ``a``.

    a (tensor_like): Gives the shape, together with ``b``.
    b (tensor_like): Gives the elements and the dtype.
    returns: As ``numpy.broadcast_arrays(a, b)[1]`` is.
    example: [1.0, 2.0], 3 -> [3, 3]
    """
    # The values of `a` do not matter, and bool promotes to any dtype.
    return elemwise(scalar.second, as_tensor(as_tensor(a), "bool"), as_tensor(b))


@described
def get_vector_length(v: TensorLike) -> int:
    """Return the length of a vector, which its type or its graph must tell.

    v (tensor_like): A vector.
    returns (int): The number of its elements.
    raises TypeError: If it is no vector.
    raises ValueError: If only a run tells the length.

    >>> ft.get_vector_length(ft.matrix("x").shape), ft.get_vector_length([1.0, 2.0, 3.0])
    (2, 3)
    """
    x = as_tensor(v)
    if x.ndim != 1:
        raise TypeError(f"only vectors have one length; given {x.type}")
    count = static_length(length(x, 0))
    if count is None:
        raise ValueError(f"only a run tells the length of {x}; declare it by ft.specify_shape")
    return count
