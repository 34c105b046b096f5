"""Checks of matrices and right sides, and the dtypes and types of results."""

from __future__ import annotations

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
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


def solution_type(a: Variable, rows: int | None, b: Variable) -> TensorType:
    """Return the type of a system's solution; ``rows`` is what is known of those of its matrix."""
    if b.ndim not in (1, 2) or b.dtype != a.dtype:
        raise TypeError(
            f"the right side must be a vector or a matrix of dtype {a.dtype}; given {b.type}"
        )
    own = b.type.shape[0]
    if rows is not None and own is not None and rows != own:
        raise ValueError(
            f"the right side must have as many rows as the matrix, {rows}; given {b.type}"
        )
    return TensorType(b.dtype, (own if rows is None else rows, *b.type.shape[1:]))


def check_rows(a: Array, b: Array, node: FrozenApply) -> None:
    """Raise unless the right side ``b`` has as many rows as the matrix."""
    if len(a) != len(b):
        raise ValueError(f"{node.op}: the right side has {len(b)} rows, the matrix {len(a)}")


def as_floating(x: Variable) -> Variable:
    """Return ``x`` in its dtype if that is floating, else in float64."""
    return as_tensor(x, floating(x.dtype))


def floating(dtype: str) -> str:
    """Return ``dtype`` if it is floating, else float64."""
    return dtype if np.dtype(dtype).kind == "f" else "float64"
