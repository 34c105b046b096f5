"""Systems of equations with matrices of any kind, and inverses."""

from __future__ import annotations

import frazil._core as _core
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.diagonals import tril, triu
from frazil.tensor.docstrings import described
from frazil.tensor.linalg.banded import SolveBanded
from frazil.tensor.linalg.cholesky import cho_solve, cholesky
from frazil.tensor.linalg.failure import OnError
from frazil.tensor.linalg.lu import LUFactor, Solve
from frazil.tensor.linalg.matrices import (
    as_floating,
    check_square,
    floating,
    identity_beside,
)
from frazil.tensor.linalg.matrix_system import Trans
from frazil.tensor.linalg.right_sides import matching
from frazil.tensor.linalg.triangular import solve_triangular
from frazil.tensor.realness import conj
from frazil.tensor.transposition import matrix_transpose

_KINDS = {
    "general": "gen",
    "symmetric": "sym",
    "hermitian": "her",
    "positive definite": "pos",
    **{kind: kind for kind in ("gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded")},
    **{kind: kind for kind in ("lower triangular", "upper triangular")},
}

_BANDS = {"diagonal": (0, 0), "tridiagonal": (1, 1), "banded": None}


@described
def solve(
    a: TensorLike,
    b: TensorLike,
    *,
    lower: bool = False,
    assume_a: str = "gen",
    transposed: bool = False,
    b_ndim: int | None = None,
    on_error: OnError = "raise",
) -> Variable:
    """Return the solution ``x`` of ``a @ x == b``, as :func:`scipy.linalg.solve`.

    a (tensor_like): Square matrices of shape ``(..., m, m)``.
    b (tensor_like): The right side: a vector, or matrices of shape ``(..., m, n)``. The dimensions
        in front broadcast.
    lower (bool): The triangle of a symmetric or Hermitian matrix that is read: the lower or the
        upper one. The gradient is of that triangle, too, as if the other one did not exist.
    assume_a (str): The known property of the matrix: none ("gen"), that it is symmetric ("sym"),
        that it is Hermitian ("her"), that it is positive definite, too ("pos"), or where its zeros
        are: "diagonal", "tridiagonal", "lower triangular", "upper triangular"; elements there are
        not read. "general", "symmetric", "hermitian" and "positive definite" are other words for
        the first four. Of a "banded" matrix a call finds out which diagonals have elements;
        :func:`solve_banded` takes those alone.
    transposed (bool): Solve ``a.T @ x == b``.
    b_ndim ({1, 2}): Whether ``b`` has vectors of shape ``(..., m)`` or matrices. By default it has
        matrices unless it is one vector.
    on_error ({"raise", "nan"}): The effect of a matrix that is singular, or not positive definite
        though it should be: an error, or a solution all of NaN, whose gradients are NaN, too.
        ``fz.Mode(on_error="nan")`` says so for all of a function.
    returns: Of the shape of ``b``, with the dimensions in front that both broadcast to. Equal
        matrices are factored once, however many systems, inverses and determinants there are of
        them.
    raises numpy.linalg.LinAlgError: During a call, if the matrix is singular or not as assumed, and
        ``on_error`` is "raise".

    >>> ft.linalg.solve([[1.0, 2.0], [3.0, 4.0]], [5.0, 11.0]).eval()
    array([1., 2.])
    """
    if assume_a not in _KINDS:
        raise ValueError(
            f"assume_a must be one of {', '.join(map(repr, _KINDS))}; given {assume_a!r}"
        )
    a, b = as_tensor(a), as_tensor(b)
    dtype = _core.promote(floating(a.dtype), floating(b.dtype))
    a, b = as_tensor(a, dtype), as_tensor(b, dtype)
    system = matching([a], [2], b, b_ndim)
    trans: Trans = "T" if transposed else "N"
    a, b = system.operands
    return system.solution(_solved(a, b, _KINDS[assume_a], lower, trans, on_error))


def _solved(
    a: Variable, b: Variable, kind: str, lower: bool, trans: Trans, on_error: OnError
) -> Variable:
    check_square(a, "solve")
    if kind in ("her", "pos") and trans == "T":
        a = conj(a)  # what the transpose of a Hermitian matrix is
    if kind == "pos":
        factor = cholesky(a, lower, on_error=on_error)
        return cho_solve((factor, lower), b, on_error=on_error)
    if kind in ("lower triangular", "upper triangular"):
        is_lower = kind == "lower triangular"
        return solve_triangular(a, b, trans=trans, lower=is_lower, on_error=on_error)
    if kind in _BANDS:
        in_bands: Variable = SolveBanded(_BANDS[kind], False, trans, on_error)(a, b)
        return in_bands
    if kind == "sym":
        a = _mirrored(a, lower)
    if kind == "her":
        a, trans = _mirrored(a, lower, conjugated=True), "N"
    solution: Variable = Solve(trans, on_error)(a, *LUFactor(on_error)(a), b)
    return solution


def _mirrored(a: Variable, lower: bool, *, conjugated: bool = False) -> Variable:
    """Return the symmetric or Hermitian matrix whose triangle ``a`` holds."""
    other = tril(a, -1) if lower else triu(a, 1)
    if not conjugated or not a.dtype.startswith("complex"):
        return (tril(a) if lower else triu(a)) + matrix_transpose(other)
    # Imaginary parts of the diagonal are not read, as in LAPACK.
    middle = triu(tril(a))
    return other + (middle + conj(middle)) / 2 + conj(matrix_transpose(other))


@described
def inv(a: TensorLike, *, on_error: OnError = "raise") -> Variable:
    """Return the inverse of a square matrix.

    a (tensor_like): Square matrices of shape ``(..., m, m)``. For the product of an inverse and
        something, :func:`solve` is faster and more precise.
    on_error ({"raise", "nan"}): The effect of a singular matrix: an error, or an inverse all of
        NaN.
    returns: Of the shape of ``a``, and of its dtype if that is floating, else float64.
    raises numpy.linalg.LinAlgError: During a call, if the matrix is singular and ``on_error`` is
        "raise".

    >>> ft.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).eval()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    a = as_floating(as_tensor(a))
    check_square(a, "inv")
    return solve(a, identity_beside(a), on_error=on_error)
