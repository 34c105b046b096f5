"""Checks of matrices, and the dtype of what is computed of them."""

from __future__ import annotations

import numpy as np

from frazil._core import FrozenApply, Variable
from frazil.graph.op import Array
from frazil.scalar.constants import as_tensor


def check_square(a: Variable, name: str) -> int | None:
    """Return the static length of a square matrix of floats; raise for anything else."""
    if a.ndim != 2 or a.type.numpy_dtype.kind != "f":
        raise TypeError(f"{name} takes a matrix of floats; given {a.type}")
    rows, columns = a.type.shape
    if rows is not None and columns is not None and rows != columns:
        raise ValueError(f"{name} takes a square matrix; given {a.type}")
    return rows if columns is None else columns


def check_square_value(a: Array, node: FrozenApply) -> None:
    """Raise for a matrix that is not square."""
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"{node.op} takes a square matrix; given one of shape {a.shape}")


def as_floating(x: Variable) -> Variable:
    """Return ``x`` in its dtype if that is floating, else in float64."""
    return as_tensor(x, floating(x.dtype))


def floating(dtype: str) -> str:
    """Return ``dtype`` if it is floating, else float64."""
    return dtype if np.dtype(dtype).kind == "f" else "float64"
