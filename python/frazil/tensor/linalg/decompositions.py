"""Matrices taken apart: orthogonal factors, singular values and eigenvalues, with their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import as_tensor
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.checks import Check
from frazil.tensor.diagonals import diagonal, eye, tril, triu
from frazil.tensor.dims import expand_dims
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import Lengths, length, literal, minimum, static_length
from frazil.tensor.linalg.failure import MayFail, OnError
from frazil.tensor.linalg.lu import LUFactor, Solve
from frazil.tensor.linalg.matrices import (
    adjoint,
    check_matrices,
    check_square,
    check_square_value,
    real_dtype,
)
from frazil.tensor.linalg.stacks import for_each
from frazil.tensor.linalg.triangular import SolveTriangular
from frazil.tensor.moments import squared_sizes
from frazil.tensor.products import matmul
from frazil.tensor.realness import conj, imag, real
from frazil.tensor.reductions import sum
from frazil.tensor.transposition import matrix_transpose

Dims = Sequence["int | None"]


class Decomposition(MayFail):
    """Decompositions of matrices, by LAPACK.

    A matrix with elements that are not finite has no singular values and no eigenvalues: a call
    raises numpy.linalg.LinAlgError, or with ``on_error="nan"`` gives NaN. Derivatives of complex
    matrices are written for conjugated gradients, which are directions of ascent.
    """

    takes_complex = True
    real_results: ClassVar[tuple[int, ...]] = ()
    """The results that are real if the matrix is complex."""

    @property
    def kind(self) -> str:
        """Its name in the runtime."""
        raise NotImplementedError

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        """Return the shapes of the results for a matrix of so many rows and columns."""
        raise NotImplementedError

    def dtypes_of(self, a: Variable, count: int) -> list[str]:
        """Return the dtypes of the results."""
        return [real_dtype(a) if at in self.real_results else a.dtype for at in range(count)]

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        """Return the results for one matrix."""
        raise NotImplementedError

    def check_matrix(self, a: Variable) -> None:
        """Raise unless ``a`` can be taken apart."""
        check_matrices(a, type(self).__name__)

    def make_node(self, a: Variable) -> FrozenApply:
        self.check_on_error()
        self.check_matrix(a)
        front = a.type.shape[:-2]
        shapes = self.shapes_of(length(a, a.ndim - 2), length(a, a.ndim - 1))
        types = [
            TensorType(dtype, (*front, *(static_length(one) for one in shape)))
            for shape, dtype in zip(shapes, self.dtypes_of(a, len(shapes)), strict=True)
        ]
        return FrozenApply(self, [a], types)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (a,) = inputs
        shapes = self.shapes_of(literal(a.shape[-2]), literal(a.shape[-1]))
        results = [
            (tuple(int(n.data) for n in shape if isinstance(n, Constant)), y.dtype)
            for shape, y in zip(shapes, node.outputs, strict=True)
        ]

        def apart(one: Array) -> tuple[Array, ...]:
            try:
                return self.of_matrix(one)
            except np.linalg.LinAlgError as error:
                if self.on_error == "raise":
                    raise np.linalg.LinAlgError(f"{self}: {error}") from None
                return tuple(np.full(shape, np.nan, dtype) for shape, dtype in results)

        return for_each(apart, node, inputs, (2,), results)

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, ...]:
        *front, rows, columns = input_shapes[0]
        return tuple((*front, *shape) for shape in self.shapes_of(rows, columns))


@dataclass(frozen=True, eq=False)
class QR(Decomposition):
    """Orthogonal columns and a triangle whose product is the matrix, or that triangle alone."""

    mode: Literal["reduced", "complete", "r"]
    on_error: OnError = "raise"

    @property
    def kind(self) -> str:
        return {"reduced": "qr", "complete": "complete qr", "r": "r"}[self.mode]

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        fewer = minimum(rows, columns)
        if self.mode == "r":
            return ((fewer, columns),)
        own = rows if self.mode == "complete" else fewer
        return (rows, own), (own, columns)

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        if self.mode == "r":
            return (np.asarray(np.linalg.qr(a, "r")),)
        return tuple(np.linalg.qr(a, self.mode))

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (a,), gradients = inputs, conjugated(output_gradients)
        if self.mode == "r":
            q, r = QR("reduced", self.on_error)(a)
            return [conj(_pulled_qr(a, q, r, None, gradients[0]))]
        (q, r), (g_q, g_r) = outputs, gradients
        if self.mode == "complete":
            fewer = minimum(length(a, a.ndim - 2), length(a, a.ndim - 1))
            q, g_q = _first_vectors(q, g_q, fewer, "qr(mode='complete')")
            rows = (..., slice(None, fewer), slice(None))
            r, g_r = get_item(r, rows), get_item(g_r, rows)
        return [conj(_pulled_qr(a, q, r, None if is_zero(g_q) else g_q, g_r))]


def _pulled_qr(
    a: Variable, q: Variable, r: Variable, g_q: Variable | None, g_r: Variable
) -> Variable:
    """Return the gradient of ``a``, given the gradients of its factors; ``q`` is not complete."""
    # The first columns of a wide matrix have the factors q and u, and the others are q v.
    fewer = minimum(length(a, a.ndim - 2), length(a, a.ndim - 1))
    columns = (..., slice(None, fewer))
    u, g_u = get_item(r, columns), get_item(g_r, columns)
    rest = (..., slice(fewer, None))
    others, g_v = get_item(a, rest), get_item(g_r, rest)
    g_all = matmul(others, adjoint(g_v))
    g_q = g_all if g_q is None else g_q + g_all
    inner = matmul(u, adjoint(g_u)) - matmul(adjoint(g_q), q)
    symmetric = tril(inner) + adjoint(tril(inner, -1))
    if u.type.numpy_dtype.kind == "c":  # the diagonal of the triangle is real
        symmetric = symmetric - _diagonal(imag(diagonal(inner, 0, -2, -1)) * 1j)
    left = g_q + matmul(q, symmetric)
    solve = SolveTriangular(False, "N", False)
    g_first = matrix_transpose(solve(conj(u), matrix_transpose(left)))
    return concatenate([g_first, matmul(q, g_v)], -1)


def _first_vectors(
    vectors: Variable, g: Variable, count: Variable, name: str
) -> tuple[Variable, Variable]:
    """Return the first ``count`` of orthogonal columns, and what is equal to ``g`` for them alone.

    The others are any columns orthogonal to those, and turn with them. A result that depends on the
    choice of the others has no derivative: a call raises ValueError.
    """
    if static_length(count) is not None and static_length(count) == vectors.type.shape[-1]:
        return vectors, g
    first, rest = (..., slice(None, count)), (..., slice(count, None))
    kept, others = get_item(vectors, first), get_item(vectors, rest)
    if is_zero(g):
        return kept, get_item(g, first)
    g_others = get_item(g, rest)
    inner = matmul(adjoint(others), g_others)
    turn = inner - adjoint(inner)
    # Rounding is far below the fourth root of the precision; what depends on the choice is not.
    bound = sum(squared_sizes(g_others)) * float(np.sqrt(np.finfo(g.dtype).eps))
    chosen = _core.elemwise(scalar.gt, sum(squared_sizes(turn)), bound)
    message = (
        f"the gradient of {name}: the vectors beyond those of the matrix are any that are "
        "orthogonal to them, and the result depends on which. Use of them what is the same for all "
        "choices, as v @ v.T, or leave them out"
    )
    g_others = Check(message)(g_others, _core.elemwise(scalar.invert, chosen))
    return kept, get_item(g, first) - matmul(others, matmul(adjoint(g_others), kept))


@dataclass(frozen=True, eq=False)
class SVD(Decomposition):
    """Singular vectors in columns, singular values in descending order, other vectors in rows."""

    full_matrices: bool
    on_error: OnError = "raise"
    real_results: ClassVar[tuple[int, ...]] = (1,)

    @property
    def kind(self) -> str:
        return "full svd" if self.full_matrices else "svd"

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        fewer = minimum(rows, columns)
        if self.full_matrices:
            return (rows, rows), (fewer,), (columns, columns)
        return (rows, fewer), (fewer,), (fewer, columns)

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        _check_finite(a, "singular values")
        return tuple(np.linalg.svd(a, self.full_matrices))

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        g_u, g_s, g_vt = conjugated(output_gradients)
        u, s, vt = outputs
        if self.full_matrices:
            fewer, name = length(s, s.ndim - 1), "svd(full_matrices=True)"
            u, g_u = _first_vectors(u, g_u, fewer, name)
            v, g_v = _first_vectors(adjoint(vt), adjoint(g_vt), fewer, name)
            vt, g_vt = adjoint(v), adjoint(g_v)
        if is_zero(g_u) and is_zero(g_vt):
            return [conj(matmul(u * expand_dims(g_s, -2), vt))]
        return [conj(_pulled_svd(u, s, vt, g_u, g_s, g_vt))]


def _pulled_svd(
    u: Variable, s: Variable, vt: Variable, g_u: Variable, g_s: Variable, g_vt: Variable
) -> Variable:
    """Return the gradient of a matrix, given the gradients of its singular values and vectors."""
    v, g_v, ut = adjoint(vt), adjoint(g_vt), adjoint(u)
    row, column = expand_dims(s, -2), expand_dims(s, -1)
    gaps = _inverse_or_zero((row - column) * (row + column))
    inverse = _inverse_or_zero(row)
    of_u, of_v = matmul(ut, g_u), matmul(vt, g_v)
    middle = gaps * (of_u - adjoint(of_u)) * row
    middle = middle + column * (gaps * (of_v - adjoint(of_v)))
    middle = middle + _diagonal(g_s)
    if u.type.numpy_dtype.kind == "c":
        # A vector and its counterpart turn together: what does not depend on that turns by half.
        turns = (imag(diagonal(one, 0, -2, -1)) for one in (of_u, of_v))
        middle = middle + _diagonal((next(turns) - next(turns)) * _inverse_or_zero(s) * 0.5j)
    result = matmul(matmul(u, middle), vt)
    beyond_u = matmul(g_u * inverse - matmul(u, of_u * inverse), vt)
    beyond_v = g_v * inverse - matmul(v, of_v * inverse)
    return result + beyond_u + matmul(u, adjoint(beyond_v))


@dataclass(frozen=True, eq=False)
class SingularValues(Decomposition):
    """Singular values in descending order."""

    on_error: OnError = "raise"
    real_results: ClassVar[tuple[int, ...]] = (0,)

    @property
    def kind(self) -> str:
        return "singular values"

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        return ((minimum(rows, columns),),)

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        _check_finite(a, "singular values")
        return (np.linalg.svd(a, compute_uv=False),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        u, _, vt = SVD(False, self.on_error)(inputs[0])
        return [conj(matmul(u * expand_dims(output_gradients[0], -2), vt))]


@dataclass(frozen=True, eq=False)
class OfSymmetric(Decomposition):
    """A decomposition that reads one triangle of a symmetric matrix, and has a gradient there.

    Complex ones are Hermitian: the diagonal counts as real.
    """

    lower: bool
    on_error: OnError = "raise"
    real_results: ClassVar[tuple[int, ...]] = (0,)
    work: ClassVar[str]

    @property
    def kind(self) -> str:
        return f"{'lower' if self.lower else 'upper'} {self.work}"

    def check_matrix(self, a: Variable) -> None:
        check_square(a, type(self).__name__)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        check_square_value(inputs[0], node)
        return super().perform(node, inputs)

    def symmetric(self, a: Array) -> Array:
        """Return the symmetric matrix whose triangle ``a`` holds."""
        half = np.tril(a) if self.lower else np.triu(a)
        _check_finite(half, "eigenvalues")
        return half

    def folded(self, g: Variable) -> Variable:
        """Return the gradient of a triangle, given the gradient of the symmetric matrix."""
        both = g + adjoint(g)
        half = tril(both) if self.lower else triu(both)
        return half - _diagonal(real(diagonal(g, 0, -2, -1)))


@dataclass(frozen=True, eq=False)
class Eigh(OfSymmetric):
    """The eigenvalues of a symmetric matrix in ascending order, and its eigenvectors in columns."""

    work = "eigh"

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        return (rows,), (rows, columns)

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.eigh(self.symmetric(a), "L" if self.lower else "U"))

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (w, v), (g_w, g_v) = outputs, conjugated(output_gradients)
        inner = _diagonal(g_w)
        if not is_zero(g_v):
            gaps = _inverse_or_zero(expand_dims(w, -2) - expand_dims(w, -1))
            inner = inner + gaps * matmul(adjoint(v), g_v)
        inner = as_tensor(inner, v.dtype)
        return [conj(self.folded(matmul(matmul(v, inner), adjoint(v))))]


@dataclass(frozen=True, eq=False)
class Eigenvalues(OfSymmetric):
    """The eigenvalues of a symmetric matrix in ascending order."""

    work = "eigenvalues"

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        return ((rows,),)

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        return (np.linalg.eigvalsh(self.symmetric(a), "L" if self.lower else "U"),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        _, v = Eigh(self.lower, self.on_error)(inputs[0])
        inner = v * expand_dims(output_gradients[0], -2)
        return [conj(self.folded(matmul(inner, adjoint(v))))]


@dataclass(frozen=True, eq=False)
class Eig(Decomposition):
    """The eigenvalues of a square matrix in some order, and its eigenvectors in columns.

    Both are complex, also where the matrix is real. The vectors have length 1.
    """

    on_error: OnError = "raise"

    @property
    def kind(self) -> str:
        return "eig"

    def shapes_of(self, rows: Variable, columns: Variable) -> tuple[Lengths, ...]:
        return (rows,), (rows, columns)

    def dtypes_of(self, a: Variable, count: int) -> list[str]:
        return [_core.promote(a.dtype, "complex64")] * count

    def check_matrix(self, a: Variable) -> None:
        check_square(a, "Eig")

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        check_square_value(inputs[0], node)
        return super().perform(node, inputs)

    def of_matrix(self, a: Array) -> tuple[Array, ...]:
        _check_finite(a, "eigenvalues")
        wide = a.astype(np.result_type(a, np.complex64))
        return tuple(np.linalg.eig(wide))

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (a,), (w, v), (g_w, g_v) = inputs, outputs, conjugated(output_gradients)
        inner, back = _diagonal(g_w), adjoint(v)
        if not is_zero(g_v):
            of_v = matmul(back, g_v)
            along = expand_dims(as_tensor(real(diagonal(of_v, 0, -2, -1)), v.dtype), -2)
            gaps = _inverse_or_zero(conj(expand_dims(w, -2) - expand_dims(w, -1)))
            inner = inner + gaps * (of_v - matmul(back, v * along))
        solved = conj(
            Solve("N", self.on_error)(back, *LUFactor(self.on_error)(back), matmul(inner, back))
        )
        return [solved if a.type.numpy_dtype.kind == "c" else real(solved)]


def conjugated(gradients: Sequence[Variable]) -> list[Variable]:
    """Return directions of ascent for gradients by complex results."""
    return [g if is_zero(g) else conj(g) for g in gradients]


def is_zero(g: Variable) -> bool:
    """Return whether a gradient belongs to an output that nothing depends on."""
    while g.owner is not None and isinstance(g.owner.op, BroadcastTo):
        g = g.owner.inputs[0]
    return isinstance(g, Constant) and not np.any(np.asarray(g.data))


def _check_finite(a: Array, what: str) -> None:
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError(
            f"{what} did not converge. Check whether the matrix has elements that are not finite"
        )


def _inverse_or_zero(x: Variable) -> Variable:
    """Return 1 over the elements of ``x``, and 0 for those that are zero."""
    zero = _core.elemwise(scalar.eq, x, 0)
    one = as_tensor(1, x.dtype)
    inverse = one / _core.elemwise(scalar.where, zero, one, x)
    return _core.elemwise(scalar.where, zero, as_tensor(0, x.dtype), inverse)


def _diagonal(x: Variable) -> Variable:
    """Return matrices with ``x`` as their diagonals."""
    return expand_dims(x, -1) * eye(x.shape[-1], dtype=x.dtype)
