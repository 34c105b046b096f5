"""Checks of matrices and right sides, and the dtypes and types of results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.op import Array
from frazil.scalar.constants import as_tensor
from frazil.scalar.float16 import STORED
from frazil.tensor.diagonals import eye
from frazil.tensor.dims import expand_dims
from frazil.tensor.linalg.stacks import static_front
from frazil.tensor.realness import conj
from frazil.tensor.transposition import matrix_transpose


def check_square(a: Variable, name: str) -> int | None:
    """Return the static length of square matrices of numbers; raise for anything else."""
    check_matrices(a, name)
    rows, columns = a.type.shape[-2:]
    if rows is not None and columns is not None and rows != columns:
        raise np.linalg.LinAlgError(f"{name} takes a square matrix; given {a.type}")
    return rows if columns is None else columns


def check_matrices(a: Variable, name: str) -> None:
    """Raise unless ``a`` is a matrix of floats or complex numbers, or a stack of them."""
    wanted = f"{name} takes a matrix of floats, or a stack of them; given {a.type}"
    if a.ndim < 2:
        raise np.linalg.LinAlgError(wanted)
    if a.type.numpy_dtype.kind not in "fc":
        raise TypeError(wanted)


def check_square_value(a: Array, node: FrozenApply) -> None:
    """Raise for matrices that are not square."""
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(
            f"{node.op} takes a square matrix; given one of shape {a.shape}"
        )


def core_of(b: Variable, a: Variable) -> int:
    """Return whether the right side ``b`` is one vector, 1, or has matrices, 2.

    Only one matrix ``a`` has a vector beside it: elsewhere a last dimension of length 1 stands for
    one.
    """
    return 1 if b.ndim == 1 and a.ndim == 2 else 2


def solution_type(
    name: str, operands: Sequence[Variable], cores: Sequence[int], rows: int | None
) -> TensorType:
    """Return the type of a system's solution; ``rows`` are the rows of its matrix, if known.

    The operands are that matrix, or its factors and their pivots, and the right side.
    """
    a, b = operands[0], operands[-1]
    core = core_of(b, a)
    if b.dtype != a.dtype or b.ndim < core:
        raise TypeError(
            f"the right side must be a vector or a matrix of dtype {a.dtype}; given {b.type}"
        )
    front = static_front(name, operands, [*cores, core])
    own = b.type.shape[-core]
    if rows is not None and own is not None and rows != own:
        raise ValueError(
            f"the right side must have as many rows as the matrix, {rows}; given {b.type}"
        )
    shape = (*front, own if rows is None else rows, *b.type.shape[b.ndim - core + 1 :])
    return TensorType(b.dtype, shape)


def check_rows(a: Array, b: Array, node: FrozenApply, core: int) -> None:
    """Raise unless the right side ``b`` has as many rows as the matrix."""
    if a.shape[-1] != b.shape[-core]:
        raise ValueError(
            f"{node.op}: the right side has {b.shape[-core]} rows, the matrix {a.shape[-1]}"
        )


def identity_beside(a: Variable) -> Variable:
    """Return the identity of the size of square matrices, with as many dimensions in front."""
    identity = eye(a.shape[-1], dtype=a.dtype)
    return expand_dims(identity, tuple(range(a.ndim - 2)))


def adjoint(x: Variable) -> Variable:
    """Return matrices transposed and, of complex numbers, conjugated."""
    return matrix_transpose(conj(x))


def real_dtype(x: Variable) -> str:
    """Return the dtype of sizes of the elements."""
    return np.zeros(0, x.dtype).real.dtype.name


def as_floating(x: Variable) -> Variable:
    """Return ``x`` in its dtype if that is one of linear algebra, else in float64."""
    return as_tensor(x, floating(x.dtype))


def as_fractional(x: Variable) -> Variable:
    """Return ``x`` in its dtype if that is floating or complex, else in float64."""
    return x if x.type.numpy_dtype.kind in "fc" else as_tensor(x, "float64")


def floating(dtype: str) -> str:
    """Return ``dtype`` if it is floating, or complex, else float64.

    Raises
    ------
    TypeError
        For float16, as in NumPy: there are no routines for it.
    """
    if dtype == STORED:
        raise TypeError(
            f"array type {dtype} is unsupported in linalg; cast it, as in x.astype('float32')"
        )
    return dtype if np.dtype(dtype).kind in "fc" else "float64"
