"""Rules for products of matrices, for factors, and for systems of equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytensor.tensor import math as ptm

import frazil.tensor as ft
from frazil._core import Variable
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.translation import Results, Translation, cast, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp


@rule(ptm.Dot)
def _dot(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    dtype = node.outputs[0].type.dtype
    return ft.dot(*(cast(x, dtype) for x in t.operands(node)))


@rule(*classes("BatchedDot"))
def _batched_dot(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    dtype = node.outputs[0].type.dtype
    return ft.matmul(*(cast(x, dtype) for x in t.operands(node)))


@rule(*classes("Cholesky"))
def _cholesky(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.linalg.cholesky(t[node.inputs[0]], lower=op.lower, on_error="nan")


@rule(*classes("SolveTriangular"))
def _solve_triangular(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    a, b = t.operands(node)
    return ft.linalg.solve_triangular(
        a,
        b,
        lower=op.lower,
        unit_diagonal=op.unit_diagonal,
        b_ndim=op.b_ndim,
        on_error="nan",
    )


@rule(*classes("CholeskySolve"))
def _cho_solve(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    a, b = t.operands(node)
    return ft.linalg.cho_solve((a, op.lower), b, b_ndim=op.b_ndim, on_error="nan")


@rule(*classes("Solve"))
def _solve(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    a, b = t.operands(node)
    if op.assume_a in ("sym", "her"):
        whole = _whole(a, op.lower, ft.conj if op.assume_a == "her" else ft.as_tensor)
        return ft.linalg.solve(whole, b, b_ndim=op.b_ndim, on_error="nan")
    if op.assume_a not in ("gen", "pos", "diagonal", "tridiagonal", "banded"):
        return performed(node, t)
    return ft.linalg.solve(
        a, b, lower=op.lower, assume_a=op.assume_a, b_ndim=op.b_ndim, on_error="nan"
    )


@rule(*classes("MatrixInverse"))
def _inverse(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.linalg.inv(t[node.inputs[0]])


@rule(*classes("Det"))
def _det(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return ft.linalg.det(t[node.inputs[0]])


@rule(*classes("SLogDet"))
def _slogdet(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return list(ft.linalg.slogdet(t[node.inputs[0]]))


@rule(*classes("LUFactor"))
def _lu_factor(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return _typed(list(ft.linalg.lu_factor(t[node.inputs[0]])), node)


@rule(*classes("SVD"))
def _svd(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x = t[node.inputs[0]]
    if not op.compute_uv:
        return _typed([ft.linalg.svdvals(x)], node)
    return _typed(list(ft.linalg.svd(x, op.full_matrices)), node)


@rule(*classes("QR"))
def _qr(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    if op.pivoting or op.mode == "raw":
        return performed(node, t)
    x = t[node.inputs[0]]
    found = ft.linalg.qr(x, "reduced") if op.mode == "economic" else ft.linalg.qr(x, "complete")
    return _typed(list(found[1:] if op.mode == "r" else found), node)


@rule(*classes("Eigh"))
def _eigh(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    if len(node.inputs) > 1:  # of two matrices
        return performed(node, t)
    return _typed(list(ft.linalg.eigh(t[node.inputs[0]], "L" if _reads_lower(op) else "U")), node)


def _reads_lower(op: PyTensorOp) -> bool:
    """Whether an op reads the lower triangle; PyTensor's versions say it in two ways."""
    lower = getattr(op, "lower", None)
    return op.UPLO == "L" if lower is None else bool(lower)


@rule(*classes("Eigvalsh"))
def _eigvalsh(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    a, *others = t.operands(node)
    if others:
        return _typed([ft.linalg.eigvalsh(_of_one_matrix(op, a, *others), "L")], node)
    return _typed([ft.linalg.eigvalsh(a, "L" if op.lower else "U")], node)


def _of_one_matrix(op: PyTensorOp, a: Variable, b: Variable) -> Variable:
    """The matrix whose eigenvalues are those of ``a`` with regard to ``b``; both have one half."""
    factor = ft.linalg.cholesky(b, lower=op.lower)
    lower = factor if op.lower else _adjoint(factor)
    rows = ft.linalg.solve_triangular(lower, _whole(a, op.lower, ft.conj), lower=True)
    return ft.linalg.solve_triangular(lower, _adjoint(rows), lower=True)


def _whole(a: Variable, lower: bool, mirrored: Callable[[Variable], Variable]) -> Variable:
    """The matrix with one half of ``a``; the other half is ``mirrored`` of it, transposed."""
    half, rest = (ft.tril(a), ft.tril(a, -1)) if lower else (ft.triu(a), ft.triu(a, 1))
    return half + ft.matrix_transpose(mirrored(rest))


def _adjoint(a: Variable) -> Variable:
    return ft.matrix_transpose(ft.conj(a))


@rule(*classes("EighGrad"))
def _eigh_gradient(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    """The gradient of a triangle, infinite or NaN where eigenvalues are equal, as PyTensor's is."""
    _, w, v, g_w, g_v = t.operands(node)
    vt = ft.matrix_transpose(v)
    same = ft.eye(ft.shape(w)[0], dtype="bool")
    gaps = ft.where(same, 1, ft.expand_dims(w, 0) - ft.expand_dims(w, 1))
    inner = ft.where(same, ft.expand_dims(g_w, 0), ft.matmul(vt, g_v) / gaps)
    return _typed([_folded(ft.matmul(ft.matmul(v, inner), vt), _reads_lower(op))], node)


def _folded(g: Variable, lower: bool) -> Variable:
    """The gradient of a triangle, given that of the matrix."""
    half, rest = (ft.tril(g), ft.triu(g, 1)) if lower else (ft.triu(g), ft.tril(g, -1))
    return half + ft.matrix_transpose(rest)


@rule(*classes("MatrixPinv"))
def _pinv(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return _typed([ft.linalg.pinv(t[node.inputs[0]], hermitian=op.hermitian)], node)


@rule(*classes("Expm"))
def _expm(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return _typed([ft.linalg.expm(t[node.inputs[0]])], node)


@rule(*classes("Eig"))
def _eig(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return _typed(list(ft.linalg.eig(t[node.inputs[0]])), node)


@rule(*classes("BlockDiagonal"))
def _block_diagonal(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return _typed([ft.linalg.block_diag(*t.operands(node))], node)


def _typed(found: list[Variable], node: Apply) -> list[Variable]:
    return [cast(x, out.type.dtype) for x, out in zip(found, node.outputs, strict=True)]
