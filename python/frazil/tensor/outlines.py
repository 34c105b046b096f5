"""Shapes that tensors have together, and tensors that have a shape."""

from __future__ import annotations

from collections.abc import Iterable

import numpy.typing as npt

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import empty
from frazil.tensor.lengths import LengthLike, Lengths, as_lengths, lengths, literal, static_length


def empty_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return a new tensor of the shape of ``x`` whose elements may be anything.

    Parameters
    ----------
    x : tensor_like
        Gives the shape, and the dtype unless that is given.
    dtype : dtype_like, optional
        Data type of the result.

    Returns
    -------
    Variable
        Each call gives another variable, as by :func:`empty`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.empty_like(ft.tensor("x", shape=(2, 3))).type.shape
    (2, 3)
    """
    x = as_tensor(x)
    return empty(lengths(x), dtype=x.dtype if dtype is None else dtype)


def broadcast_shapes(*shapes: LengthLike | Iterable[LengthLike]) -> Lengths:
    """Return the shape to which tensors of some shapes broadcast.

    Parameters
    ----------
    *shapes : int, 0-d integer variable, or a sequence of them
        One or more shapes. A length broadcasts where it is 1, written as such; lengths that are
        variables are taken to be equal to what they meet.

    Returns
    -------
    tuple of Variable
        Lengths, as :func:`shape` gives: constants where they are known.

    Examples
    --------
    >>> import frazil.tensor as ft
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
