"""Systems of equations with matrices of any kind, and inverses."""

from __future__ import annotations

import frazil._core as _core
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.diagonals import eye
from frazil.tensor.linalg.cholesky import cho_solve, cholesky
from frazil.tensor.linalg.failure import OnError
from frazil.tensor.linalg.lu import LUFactor, Solve
from frazil.tensor.linalg.matrices import as_floating, check_square, floating
from frazil.tensor.linalg.triangular import Trans, solve_triangular

_KINDS = {
    "general": "gen",
    "positive definite": "pos",
    **{kind: kind for kind in ("gen", "pos", "lower triangular", "upper triangular")},
}


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

    Parameters
    ----------
    a : tensor_like
        A square matrix.
    b : tensor_like
        The right side, a vector or a matrix.
    lower : bool, default False
        Which triangle of a positive definite matrix is read: the lower or the upper one. The
        gradient is of that triangle, too, as if the other one did not exist.
    assume_a : {"gen", "pos", "lower triangular", "upper triangular"}, default "gen"
        What is known of the matrix: nothing, that it is symmetric and positive definite, or where
        its zeros are. "general" and "positive definite" are other words for the first two.
    transposed : bool, default False
        Solve ``a.T @ x == b``.
    b_ndim : int, optional
        The rank of ``b``, if it is to be checked.
    on_error : {"raise", "nan"}, default "raise"
        What becomes of a matrix that is singular, or not positive definite though it should be: an
        error, or a solution all of NaN, whose gradients are NaN, too. ``fz.Mode(on_error="nan")``
        says so for all of a function.

    Returns
    -------
    Variable
        Of the shape of ``b``. Equal matrices are factored once, however many systems, inverses and
        determinants there are of them.

    Raises
    ------
    numpy.linalg.LinAlgError
        During a call, if the matrix is singular or not as assumed, and ``on_error`` is "raise".

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.solve([[1.0, 2.0], [3.0, 4.0]], [5.0, 11.0]).eval()
    array([1., 2.])
    """
    if assume_a not in _KINDS:
        raise ValueError(
            f"assume_a must be one of {', '.join(map(repr, _KINDS))}; given {assume_a!r}"
        )
    a, b = as_tensor(a), as_tensor(b)
    if b_ndim is not None and b.ndim != b_ndim:
        raise ValueError(f"b_ndim={b_ndim}, but the right side is {b.type}")
    dtype = _core.promote(floating(a.dtype), floating(b.dtype))
    a, b = as_tensor(a, dtype), as_tensor(b, dtype)
    return _solved(a, b, _KINDS[assume_a], lower, "T" if transposed else "N", on_error)


def _solved(
    a: Variable, b: Variable, kind: str, lower: bool, trans: Trans, on_error: OnError
) -> Variable:
    if kind == "gen":
        solution: Variable = Solve(trans, on_error)(a, *LUFactor(on_error)(a), b)
        return solution
    if kind == "pos":
        return cho_solve((cholesky(a, lower, on_error=on_error), lower), b, on_error=on_error)
    is_lower = kind == "lower triangular"
    return solve_triangular(a, b, trans=trans, lower=is_lower, on_error=on_error)


def inv(a: TensorLike, *, on_error: OnError = "raise") -> Variable:
    """Return the inverse of a square matrix.

    Parameters
    ----------
    a : tensor_like
        A square matrix. For the product of an inverse and something, :func:`solve` is faster and
        more precise.
    on_error : {"raise", "nan"}, default "raise"
        What becomes of a singular matrix: an error, or an inverse all of NaN.

    Returns
    -------
    Variable
        A matrix of the shape of ``a``, and of its dtype if that is floating, else float64.

    Raises
    ------
    numpy.linalg.LinAlgError
        During a call, if the matrix is singular and ``on_error`` is "raise".

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).eval()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    a = as_floating(as_tensor(a))
    check_square(a, "inv")
    return solve(a, eye(a.shape[0], dtype=a.dtype), on_error=on_error)
