"""Systems of equations with matrices of any kind, inverses and determinants."""

from __future__ import annotations

from functools import cache

from frazil import _core, scalar
from frazil._core import FrozenFunctionGraph, TensorType, Variable
from frazil.op import Op
from frazil.tensor.constants import TensorLike, as_tensor
from frazil.tensor.diagonals import diagonal, eye
from frazil.tensor.linalg.cholesky import cho_solve, cholesky
from frazil.tensor.linalg.lu import LUFactor, Solve
from frazil.tensor.linalg.matrices import as_floating, check_square, floating
from frazil.tensor.linalg.triangular import solve_triangular
from frazil.tensor.ranges import arange
from frazil.tensor.reductions import prod, sum

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

    Returns
    -------
    Variable
        Of the shape of ``b``. Equal matrices are factored once, however many systems, inverses and
        determinants there are of them.

    Raises
    ------
    numpy.linalg.LinAlgError
        During a call, if the matrix is singular, or not positive definite though it should be.

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
    kind = _KINDS[assume_a]
    if kind == "gen":
        solution: Variable = Solve("T" if transposed else "N")(a, *LUFactor()(a), b)
        return solution
    if kind == "pos":
        return cho_solve((cholesky(a, lower), lower), b)
    trans = "T" if transposed else "N"
    return solve_triangular(a, b, trans=trans, lower=kind == "lower triangular")


def inv(a: TensorLike) -> Variable:
    """Return the inverse of a square matrix.

    Parameters
    ----------
    a : tensor_like
        A square matrix. For the product of an inverse and something, :func:`solve` is faster and
        more precise.

    Returns
    -------
    Variable
        A matrix of the shape of ``a``, and of its dtype if that is floating, else float64.

    Raises
    ------
    numpy.linalg.LinAlgError
        During a call, if the matrix is singular.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).eval()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    a = as_floating(as_tensor(a))
    check_square(a, "inv")
    return solve(a, eye(a.shape[0], dtype=a.dtype))


def det(a: TensorLike) -> Variable:
    """Return the determinant of a square matrix.

    Parameters
    ----------
    a : tensor_like
        A square matrix. Where it is singular, its determinant has no gradient: asking for it raises
        numpy.linalg.LinAlgError during a call.

    Returns
    -------
    Variable
        Without dimensions, of the dtype of ``a`` if that is floating, else float64.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.det([[1.0, 2.0], [3.0, 4.0]]).eval()
    array(-2.)
    """
    factors, pivots = LUFactor()(as_floating(as_tensor(a)))
    return prod(diagonal(factors)) * _parity(pivots, factors.dtype)


def slogdet(x: TensorLike) -> tuple[Variable, Variable]:
    """Return the sign and the logarithm of the absolute value of a determinant.

    Parameters
    ----------
    x : tensor_like
        A square matrix.

    Returns
    -------
    sign : Variable
        1, -1, or 0 if the matrix is singular.
    logabsdet : Variable
        The logarithm, -inf if the matrix is singular. Its gradient is the inverse, transposed, from
        the same factors; for a singular matrix it raises numpy.linalg.LinAlgError during a call.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> sign, logarithm = ft.linalg.slogdet([[0.0, 2.0], [2.0, 0.0]])
    >>> sign.eval(), ft.exp(logarithm).eval()
    (array(-1.), array(4.))
    """
    matrix = as_floating(as_tensor(x))
    factors, pivots = LUFactor()(matrix)
    sign = prod(_core.elemwise(scalar.sign, diagonal(factors))) * _parity(pivots, factors.dtype)
    return sign, _logarithm(factors.dtype)(matrix, factors, pivots)


@cache
def _logarithm(dtype: str) -> Op:
    """Return the op of a matrix, its factors and pivots that gives the logarithm of the size of its
    determinant, whose gradient goes to the matrix at once: its inverse, transposed.
    """
    from frazil.op_from_graph import OpFromGraph

    square = TensorType(dtype, (None, None))
    matrix, factors, pivots = square(), square(), TensorType("int32", (None,))()
    pivot = _core.elemwise(scalar.abs, diagonal(factors))
    value = sum(_core.elemwise(scalar.log, pivot))
    g = value.type()
    inverse = Solve("T")(matrix, factors, pivots, eye(matrix.shape[0], dtype=dtype))
    operands = [matrix, factors, pivots]
    name = "logarithm of a determinant"
    pullback = OpFromGraph(
        FrozenFunctionGraph([*operands, value.type(), g], [g * inverse]),
        inline=True,
        name=f"gradient of the {name}",
    )
    return OpFromGraph(FrozenFunctionGraph(operands, [value]), True, pullback, (0,), name=name)


def _parity(pivots: Variable, dtype: str) -> Variable:
    """Return -1 if an odd number of rows changed places, else 1."""
    moved = _core.elemwise(scalar.neq, pivots, arange(pivots.shape[0]))
    minus, one = as_tensor(-1, dtype), as_tensor(1, dtype)
    return prod(_core.elemwise(scalar.where, moved, minus, one))
