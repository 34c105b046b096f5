"""Functions that take matrices apart."""

from __future__ import annotations

from typing import Literal, overload

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.linalg.decompositions import (
    QR,
    SVD,
    Eig,
    Eigenvalues,
    Eigh,
    SingularValues,
)
from frazil.tensor.linalg.failure import OnError
from frazil.tensor.linalg.matrices import as_floating


@overload
def qr(
    a: TensorLike, mode: Literal["reduced", "complete"] = "reduced"
) -> tuple[Variable, Variable]: ...


@overload
def qr(a: TensorLike, mode: Literal["r"]) -> Variable: ...


@described
def qr(
    a: TensorLike, mode: Literal["reduced", "complete", "r"] = "reduced"
) -> Variable | tuple[Variable, Variable]:
    """Return orthogonal columns ``q`` and an upper triangle ``r`` with ``q @ r == a``.

    a (tensor_like): Matrices of shape ``(..., m, n)``.
    mode ({"reduced", "complete", "r"}): The number of columns of ``q``: as many as there are rows
        or columns, whichever are fewer; as many as there are rows; or "r" for that alone. Columns
        beyond those of a matrix are any orthogonal ones. If a result depends on the choice, its
        gradient raises ValueError during a call.
    returns q, r: Of shapes ``(..., m, k)`` and ``(..., k, n)``, as :func:`numpy.linalg.qr` gives.
        Of a matrix whose columns depend on each other the gradient is not defined.

    >>> q, r = ft.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> ft.abs(r).eval().round(6)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"mode must be 'reduced', 'complete' or 'r'; given {mode!r}")
    results = QR(mode)(as_floating(as_tensor(a)))
    if mode == "r":
        triangle: Variable = results
        return triangle
    q, r = results
    return q, r


@overload
def svd(
    a: TensorLike,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    *,
    on_error: OnError = "raise",
) -> tuple[Variable, Variable, Variable]: ...


@overload
def svd(
    a: TensorLike, full_matrices: bool, compute_uv: Literal[False], *, on_error: OnError = "raise"
) -> Variable: ...


@described
def svd(
    a: TensorLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    *,
    on_error: OnError = "raise",
) -> Variable | tuple[Variable, Variable, Variable]:
    """Return orthogonal ``u`` and ``vt``, and ``s`` with ``u @ diag(s) @ vt == a``.

    a (tensor_like): Matrices of shape ``(..., m, n)``.
    full_matrices (bool): Give as many vectors as there are rows, and columns; else as many as there
        are values. The vectors beyond the values are any that are orthogonal to the others: where a
        result depends on which, its gradient raises ValueError during a call.
    compute_uv (bool): Give the vectors, too; else ``s`` alone.
    on_error ({"raise", "nan"}): The effect of elements that are not finite: an error, or NaN.
    returns u, s, vt: Of shapes ``(..., m, k)``, ``(..., k)`` in descending order, and ``(..., k,
        n)``, as :func:`numpy.linalg.svd` gives. Where values are equal, gradients of vectors leave
        out what is not defined.
    raises numpy.linalg.LinAlgError: During a call, if the values are not found and ``on_error`` is
        "raise".

    >>> u, s, vt = ft.linalg.svd([[0.0, 3.0], [2.0, 0.0]])
    >>> s.eval()
    array([3., 2.])
    """
    matrix = as_floating(as_tensor(a))
    if not compute_uv:
        return svdvals(matrix, on_error=on_error)
    u, s, vt = SVD(bool(full_matrices), on_error)(matrix)
    return u, s, vt


@described
def svdvals(x: TensorLike, *, on_error: OnError = "raise") -> Variable:
    """Return the singular values of matrices, in descending order.

    x (tensor_like): Matrices of shape ``(..., m, n)``.
    on_error ({"raise", "nan"}): The effect of elements that are not finite: an error, or NaN.
    returns: Of shape ``(..., min(m, n))``, as :func:`numpy.linalg.svdvals` gives.

    >>> ft.linalg.svdvals([[0.0, 3.0], [2.0, 0.0]]).eval()
    array([3., 2.])
    """
    values: Variable = SingularValues(on_error)(as_floating(as_tensor(x)))
    return values


@described
def eigh(
    a: TensorLike, UPLO: str = "L", *, on_error: OnError = "raise"
) -> tuple[Variable, Variable]:
    """Return the eigenvalues and eigenvectors of symmetric matrices.

    a (tensor_like): Square matrices of shape ``(..., m, m)``. One triangle of each is read.
        Gradients are of that triangle, too, as if the other one did not exist.
    UPLO ({"L", "U"}): The triangle that is read: the lower or the upper one.
    on_error ({"raise", "nan"}): The effect of elements that are not finite: an error, or NaN.
    returns w: The eigenvalues in ascending order, of shape ``(..., m)``.
    returns v: The eigenvectors in columns, of shape ``(..., m, m)``, as :func:`numpy.linalg.eigh`
        gives. Where values are equal, gradients of vectors leave out what is not defined.
    raises numpy.linalg.LinAlgError: During a call, if the values are not found and ``on_error`` is
        "raise".

    >>> w, v = ft.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
    >>> w.eval()
    array([1., 3.])
    """
    w, v = Eigh(_is_lower(UPLO), on_error)(as_floating(as_tensor(a)))
    return w, v


@described_like(eigh)
def eigvalsh(a: TensorLike, UPLO: str = "L", *, on_error: OnError = "raise") -> Variable:
    """Return the eigenvalues of symmetric matrices, in ascending order.

    returns: Of shape ``(..., m)``, as :func:`numpy.linalg.eigvalsh` gives.

    >>> ft.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).eval()
    array([1., 3.])
    """
    values: Variable = Eigenvalues(_is_lower(UPLO), on_error)(as_floating(as_tensor(a)))
    return values


@described
def eig(a: TensorLike, *, on_error: OnError = "raise") -> tuple[Variable, Variable]:
    """Return the eigenvalues and eigenvectors of square matrices of any kind.

    :func:`eigh` is for symmetric, or Hermitian, matrices.

    a (tensor_like): Square matrices of shape ``(..., m, m)``.
    on_error ({"raise", "nan"}): The effect of elements that are not finite: an error, or NaN.
    returns w: The eigenvalues, in no order, of shape ``(..., m)``. They are complex in
        every call; :func:`numpy.linalg.eig` gives real numbers where all are real.
    returns v: The eigenvectors in columns, complex and of length 1, of shape ``(..., m, m)``. A
        cost that depends on more than their directions has no gradient: the one returned takes them
        as not turning. Where values are equal, gradients of vectors leave out what is not defined.
    raises numpy.linalg.LinAlgError: During a call, if the values are not found and ``on_error`` is
        "raise".

    >>> w, v = ft.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    >>> ft.imag(w).eval().round(6)
    array([ 1., -1.])
    """
    w, v = Eig(on_error)(as_floating(as_tensor(a)))
    return w, v


@described_like(eig)
def eigvals(a: TensorLike, *, on_error: OnError = "raise") -> Variable:
    """Return the eigenvalues of square matrices of any kind, in no order.

    returns: Of shape ``(..., m)``, complex, also where a call finds real ones.

    >>> ft.linalg.eigvals([[2.0, 0.0], [0.0, 3.0]]).eval()
    array([2.+0.j, 3.+0.j])
    """
    return eig(a, on_error=on_error)[0]


def _is_lower(uplo: str) -> bool:
    if uplo not in ("L", "U"):
        raise ValueError(f"UPLO must be 'L' or 'U'; given {uplo!r}")
    return uplo == "L"
