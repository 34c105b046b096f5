"""Linear algebra: of a matrix, or of each matrix of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy.typing as npt

import frazil.tensor as ft
from frazil.array_api.array import Array, lifted, lifted_all

__all__ = [
    *("cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm"),
    *("matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet"),
    *("solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm"),
]


def __dir__() -> list[str]:
    return __all__


class EighResult(NamedTuple):
    """The result of :func:`eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """The result of :func:`qr`."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """The result of :func:`slogdet`."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """The result of :func:`svd`."""

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return the lower triangular factor ``L`` of ``x = L @ L.mT``, or the upper one."""
    return lifted(ft.linalg.cholesky, x, lower=not upper)


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return the cross products of vectors of length 3 along an axis."""
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"vectors must have length 3; given shapes {x1.shape} and {x2.shape}")
    return lifted(ft.cross, x1, x2, axis=axis)


def det(x: Array, /) -> Array:
    """Return the determinant."""
    return lifted(ft.linalg.det, x)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Return the diagonal, or the one ``offset`` above it."""
    return lifted(ft.diagonal, x, offset, -2, -1)


def eigh(x: Array, /) -> EighResult:
    """Return eigenvalues in order and eigenvectors of a symmetric matrix."""
    return EighResult(*lifted_all(ft.linalg.eigh, x))


def eigvalsh(x: Array, /) -> Array:
    """Return the eigenvalues of a symmetric matrix, in order."""
    return lifted(ft.linalg.eigvalsh, x)


def inv(x: Array, /) -> Array:
    """Return the inverse."""
    return lifted(ft.linalg.inv, x)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Return the matrix product."""
    return lifted(ft.matmul, x1, x2)


def matrix_norm(
    x: Array, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> Array:
    """Return a norm of the matrix."""
    return lifted(ft.linalg.matrix_norm, x, keepdims=keepdims, ord=ord)


def matrix_power(x: Array, n: int, /) -> Array:
    """Return the product of ``n`` times ``x``."""
    return lifted(ft.linalg.matrix_power, x, n)


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Return how many singular values are larger than ``rtol`` times the largest."""
    return lifted(ft.linalg.matrix_rank, x, rtol=rtol)


def matrix_transpose(x: Array, /) -> Array:
    """Return ``x`` with its last two dimensions exchanged."""
    return lifted(ft.matrix_transpose, x)


def outer(x1: Array, x2: Array, /) -> Array:
    """Return the products of each element of one vector with each of another."""
    return lifted(ft.outer, x1, x2)


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Return the Moore-Penrose pseudoinverse."""
    return lifted(ft.linalg.pinv, x, rtol=rtol)


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return an orthogonal and an upper triangular factor."""
    return QRResult(*lifted_all(ft.linalg.qr, x, mode))


def slogdet(x: Array, /) -> SlogdetResult:
    """Return the sign of the determinant and the logarithm of its magnitude."""
    return SlogdetResult(*lifted_all(ft.linalg.slogdet, x))


def solve(x1: Array, x2: Array, /) -> Array:
    """Return ``x`` in ``x1 @ x = x2``; ``x2`` is one vector, or matrices."""
    return lifted(ft.linalg.solve, x1, x2, b_ndim=1 if x2.ndim == 1 else 2)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the factors ``U``, ``S``, ``Vh`` of ``x = U @ diag(S) @ Vh``."""
    return SVDResult(*lifted_all(ft.linalg.svd, x, full_matrices))


def svdvals(x: Array, /) -> Array:
    """Return the singular values, largest first."""
    return lifted(ft.linalg.svdvals, x)


def tensordot(
    x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """Return the products of elements, summed over axes of both."""
    return lifted(ft.tensordot, x1, x2, axes)


def trace(x: Array, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> Array:
    """Return the sum of a diagonal."""
    return lifted(lambda a: ft.sum(ft.diagonal(a, offset, -2, -1), axis=-1, dtype=dtype), x)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return the inner products of vectors along an axis."""
    return lifted(ft.vecdot, x1, x2, axis=axis)


def vector_norm(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """Return a norm of the vectors along axes."""
    return lifted(ft.linalg.vector_norm, x, axis=axis, keepdims=keepdims, ord=ord)
