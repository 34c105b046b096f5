"""Rules for products of matrices, for factors, and for systems of equations."""

from __future__ import annotations

from typing import Any

from pytensor.tensor import math as ptm

import frazil.tensor as ft
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.translation import Results, Translation, cast, rule


@rule(ptm.Dot)
def _dot(op: Any, node: Any, t: Translation) -> Results:
    dtype = node.outputs[0].type.dtype
    return ft.dot(*(cast(x, dtype) for x in t.operands(node)))


@rule(*classes("BatchedDot"))
def _batched_dot(op: Any, node: Any, t: Translation) -> Results:
    dtype = node.outputs[0].type.dtype
    return ft.matmul(*(cast(x, dtype) for x in t.operands(node)))


@rule(*classes("Cholesky"))
def _cholesky(op: Any, node: Any, t: Translation) -> Results:
    return ft.linalg.cholesky(t[node.inputs[0]], lower=op.lower, on_error="nan")


@rule(*classes("SolveTriangular"))
def _solve_triangular(op: Any, node: Any, t: Translation) -> Results:
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
def _cho_solve(op: Any, node: Any, t: Translation) -> Results:
    a, b = t.operands(node)
    return ft.linalg.cho_solve((a, op.lower), b, b_ndim=op.b_ndim, on_error="nan")


@rule(*classes("Solve"))
def _solve(op: Any, node: Any, t: Translation) -> Results:
    a, b = t.operands(node)
    if op.assume_a in ("sym", "her"):
        half, rest = (ft.tril(a), ft.tril(a, -1)) if op.lower else (ft.triu(a), ft.triu(a, 1))
        whole = half + ft.matrix_transpose(rest)
        return ft.linalg.solve(whole, b, b_ndim=op.b_ndim, on_error="nan")
    if op.assume_a not in ("gen", "pos"):
        return performed(node, t)
    return ft.linalg.solve(
        a, b, lower=op.lower, assume_a=op.assume_a, b_ndim=op.b_ndim, on_error="nan"
    )


@rule(*classes("MatrixInverse"))
def _inverse(op: Any, node: Any, t: Translation) -> Results:
    return ft.linalg.inv(t[node.inputs[0]])


@rule(*classes("Det"))
def _det(op: Any, node: Any, t: Translation) -> Results:
    return ft.linalg.det(t[node.inputs[0]])


@rule(*classes("SLogDet"))
def _slogdet(op: Any, node: Any, t: Translation) -> Results:
    return list(ft.linalg.slogdet(t[node.inputs[0]]))


@rule(*classes("LUFactor"))
def _lu_factor(op: Any, node: Any, t: Translation) -> Results:
    return [
        cast(own, theirs.type.dtype)
        for own, theirs in zip(ft.linalg.lu_factor(t[node.inputs[0]]), node.outputs, strict=True)
    ]
