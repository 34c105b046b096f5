"""Linear algebra: factorisations of matrices, and systems of equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from frazil import _core, scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.op import Op
from frazil.tensor.axes import normalize_axes, normalize_axis
from frazil.tensor.constants import Array, TensorLike, as_tensor
from frazil.tensor.diagonals import tril, triu
from frazil.tensor.dims import squeeze
from frazil.tensor.lengths import Lengths
from frazil.tensor.products import dot, outer
from frazil.tensor.reductions import max, min, sum
from frazil.tensor.transposition import permute_dims

Trans = Literal["N", "T"]


@dataclass(frozen=True, eq=False)
class Cholesky(Op):
    """The lower (or upper) triangular factor of a symmetric positive definite matrix.

    Only the triangle on the side of the factor is read. Raises numpy.linalg.LinAlgError for a
    matrix that is not positive definite.
    """

    lower: bool

    def make_node(self, a: Variable) -> FrozenApply:
        static = _check_square(a, "Cholesky")
        return FrozenApply(self, [a], [TensorType(a.dtype, (static, static))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (a,) = inputs
        _check_square_value(a, node)
        if not a.size:
            return (a.copy(),)
        from scipy.linalg.lapack import get_lapack_funcs

        (potrf,) = get_lapack_funcs(("potrf",), (a,))
        factor, status = potrf(a, lower=self.lower, clean=True, overwrite_a=False)
        if status > 0:
            raise np.linalg.LinAlgError(
                f"{node.op}: the matrix is not positive definite: its leading minor of order "
                f"{status} is not"
            )
        return (np.ascontiguousarray(factor),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        (factor,), (g,) = outputs, output_gradients
        if self.lower:
            return [CholeskyGradient()(factor, g)]
        return [permute_dims(CholeskyGradient()(permute_dims(factor), permute_dims(g)))]


@dataclass(frozen=True, eq=False)
class CholeskyGradient(Op):
    """The gradient of a matrix, given its lower Cholesky factor and the gradient of that.

    As only the lower triangle of the matrix was read, all of the gradient is there. Of the
    operands, too, only the lower triangles are read.
    """

    def make_node(self, factor: Variable, g: Variable) -> FrozenApply:
        static = _check_square(factor, "CholeskyGradient")
        if g.ndim != 2 or g.dtype != factor.dtype:
            raise TypeError(
                f"the gradient of a factor of type {factor.type} must have the same type; "
                f"given {g.type}"
            )
        return FrozenApply(self, [factor, g], [TensorType(factor.dtype, (static, static))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        factor, g = (np.tril(x) for x in inputs)
        _check_square_value(factor, node)
        if factor.shape != g.shape:
            raise ValueError(f"{node.op}: shapes {factor.shape} and {g.shape} must be equal")
        if not g.size:
            return (g,)
        from scipy.linalg import solve_triangular

        def half(x: Array) -> Array:
            return (np.tril(x) + np.tril(x, -1)) / 2

        def solve(x: Array) -> Array:
            solution: Array = solve_triangular(factor, x, trans="T", lower=True, check_finite=False)
            return solution

        both = solve(solve(half(factor.T @ g)).T).T
        return (half(both + both.T),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        # Here, as a module of gradients knows those of tensors.
        from frazil.gradient import grad

        written_out = _cholesky_gradient(*inputs)
        known = {written_out: output_gradients[0]}
        return [*grad(None, inputs, consider_constant=inputs, known_grads=known)]


@dataclass(frozen=True, eq=False)
class SolveTriangular(Op):
    """The solution ``x`` of ``a x = b``, or of ``a' x = b`` where ``trans`` is ``"T"``, for a
    triangular matrix ``a``, of which the other triangle is not read (nor the diagonal, which is
    taken as ones, if ``unit_diagonal``). ``b`` is a vector or a matrix.

    Raises numpy.linalg.LinAlgError where the diagonal has a zero.
    """

    lower: bool
    trans: Trans
    unit_diagonal: bool

    def make_node(self, a: Variable, b: Variable) -> FrozenApply:
        if self.trans not in ("N", "T"):
            raise ValueError(f"trans must be 'N' or 'T'; given {self.trans!r}")
        static = _check_square(a, "SolveTriangular")
        if b.ndim not in (1, 2) or b.dtype != a.dtype:
            raise TypeError(
                f"the right side must be a vector or a matrix of dtype {a.dtype}; given {b.type}"
            )
        rows = b.type.shape[0]
        if static is not None and rows is not None and static != rows:
            raise ValueError(
                f"the right side must have as many rows as the matrix, {static}; given {b.type}"
            )
        shape = (rows if static is None else static, *b.type.shape[1:])
        return FrozenApply(self, [a, b], [TensorType(a.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        a, b = inputs
        _check_square_value(a, node)
        if len(a) != len(b):
            raise ValueError(f"{node.op}: the right side has {len(b)} rows, the matrix {len(a)}")
        if not b.size:
            return (b.copy(),)
        from scipy.linalg.lapack import get_lapack_funcs

        (trtrs,) = get_lapack_funcs(("trtrs",), (a, b))
        x, status = trtrs(
            a,
            b,
            lower=self.lower,
            trans=self.trans == "T",
            unitdiag=self.unit_diagonal,
            overwrite_b=False,
        )
        if status > 0:
            raise np.linalg.LinAlgError(
                f"{node.op}: the matrix is singular: element {status - 1} of its diagonal is zero"
            )
        return (np.ascontiguousarray(x.reshape(b.shape)),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[1],)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        (a, _), (x,), (g,) = inputs, outputs, output_gradients
        other: Trans = "N" if self.trans == "T" else "T"
        g_b = SolveTriangular(self.lower, other, self.unit_diagonal)(a, g)
        left, right = (g_b, x) if self.trans == "N" else (x, g_b)
        g_a = -outer(left, right) if x.ndim == 1 else -dot(left, permute_dims(right))
        skipped = 1 if self.unit_diagonal else 0
        g_a = tril(g_a, -skipped) if self.lower else triu(g_a, skipped)
        return [g_a, g_b]


def cholesky(x: TensorLike, lower: bool = True) -> Variable:
    """Return the triangular factor of a symmetric positive definite matrix.

    Parameters
    ----------
    x : tensor_like
        A square matrix, of which one triangle is read: the one that the factor has. Gradients
        are of that triangle, too, as if the other one did not exist.
    lower : bool, default True
        Return the lower triangular ``l`` with ``l @ l.T == x``; else the upper ``u`` with
        ``u.T @ u == x``.

    Returns
    -------
    Variable
        Of the dtype of ``x`` if that is floating, else float64; zeros in the other triangle.

    Raises
    ------
    numpy.linalg.LinAlgError
        During a call, if the matrix is not positive definite.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).eval()
    array([[2., 0.],
           [1., 2.]])
    """
    factor: Variable = Cholesky(bool(lower))(_as_floating(as_tensor(x)))
    return factor


def solve_triangular(
    a: TensorLike,
    b: TensorLike,
    *,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
) -> Variable:
    """Return the solution of a triangular system of equations.

    Parameters
    ----------
    a : tensor_like
        A square matrix, of which one triangle is read.
    b : tensor_like
        The right side, a vector or a matrix.
    trans : {0, 1, "N", "T"}, default 0
        Solve ``a @ x == b``, or ``a.T @ x == b`` for 1 and "T".
    lower : bool, default False
        Which triangle of ``a`` is read: the lower or, as in :func:`scipy.linalg.solve_triangular`
        by default, the upper.
    unit_diagonal : bool, default False
        Take the diagonal of ``a`` as ones, whatever it is.

    Returns
    -------
    Variable
        Of the shape of ``b``.

    Raises
    ------
    numpy.linalg.LinAlgError
        During a call, if the diagonal has a zero.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True).eval()
    array([1., 2.])
    """
    names: dict[int | str, Trans] = {0: "N", 1: "T", "N": "N", "T": "T"}
    if trans not in names:
        raise ValueError(f"trans must be 0, 1, 'N' or 'T'; given {trans!r}")
    a, b = as_tensor(a), as_tensor(b)
    dtype = _floating(_core.promote(a.dtype, b.dtype))
    op = SolveTriangular(bool(lower), names[trans], bool(unit_diagonal))
    solution: Variable = op(as_tensor(a, dtype), as_tensor(b, dtype))
    return solution


def cho_solve(
    c_and_lower: tuple[TensorLike, bool], b: TensorLike, *, b_ndim: int | None = None
) -> Variable:
    """Return the solution of a system of equations, given the Cholesky factor of its matrix.

    Parameters
    ----------
    c_and_lower : tuple of tensor_like and bool
        The factor, and whether it is the lower one, as for :func:`scipy.linalg.cho_solve`.
    b : tensor_like
        The right side, a vector or a matrix.
    b_ndim : int, optional
        The rank of ``b``, if it is to be checked.

    Returns
    -------
    Variable
        Of the shape of ``b``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> a = [[4.0, 2.0], [2.0, 5.0]]
    >>> ft.linalg.cho_solve((ft.linalg.cholesky(a), True), [8.0, 12.0]).eval()
    array([1., 2.])
    """
    factor, lower = c_and_lower
    b = as_tensor(b)
    if b_ndim is not None and b.ndim != b_ndim:
        raise ValueError(f"b_ndim={b_ndim}, but the right side is {b.type}")
    first, second = (0, 1) if lower else (1, 0)
    half = solve_triangular(factor, b, trans=first, lower=lower)
    return solve_triangular(factor, half, trans=second, lower=lower)


def norm(
    x: TensorLike,
    ord: float | str | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Variable:
    """Return a norm of vectors or of matrices.

    Parameters
    ----------
    x : tensor_like
        Any tensor; integers become float64.
    ord : number, inf, -inf, "fro" or None, default None
        Which norm, as for :func:`numpy.linalg.norm`: None is the root of the sum of squares. Of
        matrices those that need singular values (2, -2, "nuc") are not supported.
    axis : int or tuple of two int, optional
        The dimension of the vectors, or those of the matrices. Default: ``x`` is one vector or
        matrix, and where ``ord`` is None a tensor of any rank, whose elements are one vector.
    keepdims : bool, default False
        Keep the reduced dimensions, with length 1.

    Returns
    -------
    Variable
        The norm, in the dtype of ``x`` if that is floating.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.linalg.norm([3.0, 4.0]).eval()
    array(5.)
    >>> ft.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1).eval()
    array(6.)
    """
    x = _as_floating(as_tensor(x))
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim)
    if ord is None:
        return _root_of_squares(x, axes, keepdims)
    if axis is not None and isinstance(axis, Sequence):  # rows first, whatever their positions
        axes = tuple(normalize_axis(one, x.ndim) for one in axis)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError(
            f"the norm of order {ord!r} is one of vectors or matrices; given {x.type} and axis "
            f"{axis}. Name one axis, or two."
        )
    return _matrix_norm(x, ord, axes, keepdims)


def _root_of_squares(x: Variable, axes: Sequence[int], keepdims: bool) -> Variable:
    squares = _core.elemwise(scalar.sqr, x)
    return _core.elemwise(scalar.sqrt, sum(squares, axes, keepdims=keepdims))


def _vector_norm(x: Variable, ord: float | str, axis: int, keepdims: bool) -> Variable:
    if isinstance(ord, str):
        raise ValueError(f"the norm {ord!r} is one of matrices; given vectors along axis {axis}")
    if ord == 2:
        return _root_of_squares(x, (axis,), keepdims)
    if ord == 0:
        nonzero = _core.elemwise(scalar.neq, x, 0)
        return sum(as_tensor(nonzero, x.dtype), axis, keepdims=keepdims)
    size = _core.elemwise(scalar.abs, x)
    if ord == np.inf:
        return max(size, axis, keepdims=keepdims)
    if ord == -np.inf:
        return min(size, axis, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis, keepdims=keepdims)
    powers = _core.elemwise(scalar.pow, size, float(ord))
    return _core.elemwise(scalar.pow, sum(powers, axis, keepdims=keepdims), 1 / float(ord))


def _matrix_norm(x: Variable, ord: float | str, axes: Sequence[int], keepdims: bool) -> Variable:
    rows, columns = axes
    if ord == "fro":
        return _root_of_squares(x, sorted(axes), keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise NotImplementedError(
            f"the norm of order {ord!r} of matrices is not supported; "
            "None, 'fro', 1, -1, inf and -inf are"
        )
    order = float(ord)
    along, across = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = sum(_core.elemwise(scalar.abs, x), along, keepdims=True)
    extreme = (max if order > 0 else min)(sums, across, keepdims=True)
    return extreme if keepdims else squeeze(extreme, sorted(axes))


def _check_square(a: Variable, name: str) -> int | None:
    """Return the static length of a square matrix of floats; raise for anything else."""
    if a.ndim != 2 or a.type.numpy_dtype.kind != "f":
        raise TypeError(f"{name} takes a matrix of floats; given {a.type}")
    rows, columns = a.type.shape
    if rows is not None and columns is not None and rows != columns:
        raise ValueError(f"{name} takes a square matrix; given {a.type}")
    return rows if columns is None else columns


def _check_square_value(a: Array, node: FrozenApply) -> None:
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"{node.op} takes a square matrix; given one of shape {a.shape}")


def _cholesky_gradient(factor: Variable, g: Variable) -> Variable:
    """Return what :class:`CholeskyGradient` computes, by ops whose gradients are known."""
    # Iain Murray, "Differentiation of the Cholesky decomposition" (2016), in blocked form: with
    # a = l l', the gradient is l'^-1 phi(l' g) l^-1, phi taking the lower triangle with half of the
    # diagonal. As only one triangle of a is read, all of it goes there.
    half = _lower_half(dot(permute_dims(tril(factor)), tril(g)))
    solve = SolveTriangular(True, "T", False)
    # l'^-1 half l^-1, and then its symmetric part twice, as one triangle stands for both.
    both = permute_dims(solve(factor, permute_dims(solve(factor, half))))
    return _lower_half(both + permute_dims(both))


def _lower_half(x: Variable) -> Variable:
    """Return the lower triangle of a matrix with half of its diagonal."""
    return (tril(x) + tril(x, -1)) * 0.5


def _as_floating(x: Variable) -> Variable:
    return as_tensor(x, _floating(x.dtype))


def _floating(dtype: str) -> str:
    return dtype if np.dtype(dtype).kind == "f" else "float64"
