"""Exponentials of matrices, and the equations of Sylvester, Lyapunov and Riccati."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.call_site import called_function
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import Lengths, length, lengths, multiply
from frazil.tensor.linalg.general import inv, solve
from frazil.tensor.linalg.matrices import (
    as_floating,
    check_square,
    check_square_value,
    floating,
    identity_beside,
)
from frazil.tensor.linalg.stacks import (
    for_each,
    in_front,
    inferred_front,
    static_front,
    unbroadcast_front,
)
from frazil.tensor.products import matmul
from frazil.tensor.realness import conj
from frazil.tensor.reshaping import reshape
from frazil.tensor.transposition import matrix_transpose


@dataclass(frozen=True, eq=False)
class Expm(Op):
    """The exponentials of square matrices.

    A call of Python: how often a scaled matrix is squared, and how many terms serve, only its
    values tell, and SciPy's choice of both is what makes the result precise.
    """

    takes_complex = True

    def make_node(self, a: Variable) -> FrozenApply:
        static = check_square(a, "expm")
        return FrozenApply(self, [a], [TensorType(a.dtype, (*a.type.shape[:-2], static, static))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (a,) = inputs
        check_square_value(a, node)
        if not a.size:
            return (a.copy(),)
        from scipy.linalg import expm

        return (np.asarray(expm(a), a.dtype),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # The exponential of [[a', g], [0, a']] has the wanted derivative in the place of g.
        (a,), (g,) = inputs, output_gradients
        size = length(a, a.ndim - 1)
        at = matrix_transpose(a)
        blocks = concatenate(
            [concatenate([at, g], -1), concatenate([at * 0, at], -1)],
            -2,
        )
        first, second = slice(None, size), slice(size, None)
        return [get_item(Expm()(blocks), (..., first, second))]


@described
def expm(A: TensorLike) -> Variable:
    """Return the exponentials of square matrices: the sums of their powers over factorials.

    A (tensor_like): Square matrices of shape ``(..., m, m)``.
    returns: Of the shape of ``A``, as :func:`scipy.linalg.expm` gives.

    >>> ft.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).eval()
    array([[1., 1.],
           [0., 1.]])
    """
    result: Variable = Expm()(as_floating(as_tensor(A)))
    return result


class Equation(Op):
    """An equation of matrices that SciPy solves, or of stacks of them, whose fronts broadcast.

    A call of Python: the solution goes by the Schur form of matrices, for which the runtime has
    nothing. The operands have one dtype and one rank.
    """

    def front(self, *operands: Variable) -> tuple[int | None, ...]:
        """Return what is known of the lengths in front; raise unless the operands fit."""
        name, dtype = type(self).__name__, operands[0].dtype
        for x in operands:
            if x.ndim < 2 or x.dtype != dtype or np.dtype(dtype).kind not in "fc":
                given = ", ".join(str(one.type) for one in operands)
                raise TypeError(f"{name} takes matrices of floats of one dtype; given {given}")
        return static_front(name, operands, [2] * len(operands))

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        like = inputs[self.like]
        results = [(like.shape[-2:], like.dtype.name)]
        return for_each(partial(self.solved, node), node, inputs, [2] * len(inputs), results)

    def solved(self, node: FrozenApply, *matrices: Array) -> tuple[Array, ...]:
        """Return the solution for one matrix of each operand."""
        raise NotImplementedError

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        front = inferred_front(node.inputs, input_shapes, [2] * len(input_shapes))
        return ((*front, *input_shapes[self.like][-2:]),)

    @property
    def like(self) -> int:
        """The operand that has the shape of the solution."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SolveSylvester(Equation):
    """The solution ``x`` of ``a x + x b = q``. A call of Python: see :class:`Equation`."""

    takes_complex = True

    @property
    def like(self) -> int:
        return 2

    def make_node(self, a: Variable, b: Variable, q: Variable) -> FrozenApply:
        front = self.front(a, b, q)
        check_square(a, "solve_sylvester")
        check_square(b, "solve_sylvester")
        return FrozenApply(self, [a, b, q], [TensorType(q.dtype, (*front, *q.type.shape[-2:]))])

    def solved(self, node: FrozenApply, *matrices: Array) -> tuple[Array, ...]:
        a, b, q = matrices
        for square in (a, b):
            check_square_value(square, node)
        if q.shape != (len(a), len(b)):
            raise ValueError(
                f"{node.op}: matrices of shapes {a.shape} and {b.shape} have a solution of shape "
                f"{(len(a), len(b))}; the right side has shape {q.shape}"
            )
        if not q.size:
            return (q.copy(),)
        from scipy.linalg import solve_sylvester

        return (np.ascontiguousarray(solve_sylvester(a, b, q)).astype(q.dtype),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (a, b, _), (x,), (g,) = inputs, outputs, output_gradients
        xt = matrix_transpose(x)
        g_q = SolveSylvester()(matrix_transpose(a), matrix_transpose(b), g)
        of_each = (-matmul(g_q, xt), -matmul(xt, g_q), g_q)
        return [unbroadcast_front(own, at) for own, at in zip(of_each, inputs, strict=True)]


@dataclass(frozen=True, eq=False)
class SolveRiccati(Equation):
    """The solution ``x`` of an algebraic Riccati equation of ``a``, ``b``, ``q`` and ``r``.

    In continuous time ``a' x + x a - x b r^-1 b' x + q = 0``, in discrete time
    ``a' x a - x - (a' x b) (r + b' x b)^-1 (b' x a) + q = 0``. A call of Python: see
    :class:`Equation`.
    """

    discrete: bool

    @property
    def like(self) -> int:
        return 0

    def make_node(self, a: Variable, b: Variable, q: Variable, r: Variable) -> FrozenApply:
        front = self.front(a, b, q, r)
        static = check_square(a, type(self).__name__)
        return FrozenApply(self, [a, b, q, r], [TensorType(a.dtype, (*front, static, static))])

    def solved(self, node: FrozenApply, *matrices: Array) -> tuple[Array, ...]:
        from scipy.linalg import solve_continuous_are, solve_discrete_are

        solve_are = solve_discrete_are if self.discrete else solve_continuous_are
        return (np.ascontiguousarray(solve_are(*matrices)).astype(matrices[0].dtype),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # With the feedback k and the closed loop c = a - b k, a small change of the left side e
        # changes x by the solution of a Lyapunov equation in c'; its adjoint is one in c.
        (a, b, _, r), (x,), (g,) = inputs, outputs, output_gradients
        g, bt = (g + matrix_transpose(g)) * 0.5, matrix_transpose(b)
        if self.discrete:
            k = solve(r + matmul(bt, matmul(x, b)), matmul(bt, matmul(x, a)))
            loop = a - matmul(b, k)
            s = solve_discrete_lyapunov(loop, g)
            along = 2 * matmul(matmul(x, loop), s)
        else:
            k = solve(r, matmul(bt, x))
            loop = a - matmul(b, k)
            s = solve_continuous_lyapunov(loop, -g)
            along = 2 * matmul(x, s)
        kt = matrix_transpose(k)
        of_each = (along, -matmul(along, kt), s, matmul(k, matmul(s, kt)))
        return [unbroadcast_front(own, at) for own, at in zip(of_each, inputs, strict=True)]


@described
def solve_sylvester(A: TensorLike, B: TensorLike, Q: TensorLike) -> Variable:
    """Return the solution ``x`` of ``A @ x + x @ B == Q``.

    A, B (tensor_like): Square matrices of shapes ``(..., m, m)`` and ``(..., n, n)``. No eigenvalue
        of ``A`` may be that of ``-B``.
    Q (tensor_like): Matrices of shape ``(..., m, n)``. The dimensions in front broadcast.
    returns: Of shape ``(..., m, n)``, as :func:`scipy.linalg.solve_sylvester` gives.
    example: [[2.0]], [[3.0]], [[10.0]] -> [[2.]]
    """
    result: Variable = SolveSylvester()(*in_front(_floats(A, B, Q), (2, 2, 2)))
    return result


@described
def solve_continuous_lyapunov(A: TensorLike, Q: TensorLike) -> Variable:
    """Return the solution ``x`` of ``A @ x + x @ A.T.conj() == Q``.

    A, Q (tensor_like): Square matrices of shape ``(..., m, m)``. The dimensions in front broadcast.
    returns: Of shape ``(..., m, m)``, as :func:`scipy.linalg.solve_continuous_lyapunov` gives.
    example: [[2.0]], [[8.0]] -> [[2.]]
    """
    a, q = _floats(A, Q)
    return solve_sylvester(a, conj(matrix_transpose(a)), q)


@described
def solve_discrete_lyapunov(
    A: TensorLike, Q: TensorLike, method: Literal["direct", "bilinear"] = "bilinear"
) -> Variable:
    """Return the solution ``x`` of ``A @ x @ A.T.conj() - x + Q == 0``.

    A, Q (tensor_like): Square matrices of shape ``(..., m, m)``. The dimensions in front broadcast.
    method ({"direct", "bilinear"}): Solve a system with a row for each element of ``x``, or a
        continuous equation that has the same solution; that needs far less memory, and no
        eigenvalue of ``A`` may be -1.
    returns: Of shape ``(..., m, m)``, as :func:`scipy.linalg.solve_discrete_lyapunov` gives.
    example: [[0.5]], [[3.0]] -> [[4.]]
    """
    if method not in ("direct", "bilinear"):
        raise ValueError(f"method must be 'direct' or 'bilinear'; given {method!r}")
    a, q = _floats(A, Q)
    check_square(a, "solve_discrete_lyapunov")
    if method == "direct":
        return _directly(a, q)
    at, one = conj(matrix_transpose(a)), identity_beside(a)
    inverse = inv(at + one)
    b = matmul(at - one, inverse)
    c = 2 * matmul(matmul(inv(a + one), q), inverse)
    return solve_continuous_lyapunov(conj(matrix_transpose(b)), -c)


def _directly(a: Variable, q: Variable) -> Variable:
    """Return the solution of the discrete equation, by a system with a row for each element."""
    count = multiply(length(a, a.ndim - 1), length(a, a.ndim - 1))
    every = slice(None)
    rows, columns = (..., every, None, every, None), (..., None, every, None, every)
    products = get_item(a, rows) * get_item(conj(a), columns)
    system = reshape(products, (*lengths(a)[:-2], count, count))
    left = identity_beside(system) - system
    x = solve(left, reshape(q, (*lengths(q)[:-2], count)), b_ndim=1)
    return reshape(x, (*lengths(x)[:-1], *lengths(q)[-2:]))


@described
def solve_continuous_are(A: TensorLike, B: TensorLike, Q: TensorLike, R: TensorLike) -> Variable:
    """Return the solution ``x`` of the Riccati equation of continuous time.

    It is ``A.T @ x + x @ A - x @ B @ inv(R) @ B.T @ x + Q == 0``.

    A (tensor_like): Square matrices of shape ``(..., m, m)``.
    B (tensor_like): Matrices of shape ``(..., m, n)``.
    Q (tensor_like): Symmetric matrices of shape ``(..., m, m)``.
    R (tensor_like): Symmetric matrices of shape ``(..., n, n)``. The dimensions in front broadcast.
    returns: Of shape ``(..., m, m)``, as :func:`scipy.linalg.solve_continuous_are` gives.
    raises numpy.linalg.LinAlgError: During a call, if there is no finite solution.
    example: [[0.0]], [[1.0]], [[4.0]], [[1.0]] -> [[2.]]
    """
    result: Variable = SolveRiccati(False)(*in_front(_floats(A, B, Q, R), (2, 2, 2, 2)))
    return result


@described_like(solve_continuous_are)
def solve_discrete_are(A: TensorLike, B: TensorLike, Q: TensorLike, R: TensorLike) -> Variable:
    """Return the solution ``x`` of the Riccati equation of discrete time.

    It is ``A.T @ x @ A - x - A.T @ x @ B @ inv(R + B.T @ x @ B) @ B.T @ x @ A + Q == 0``.

    returns: Of shape ``(..., m, m)``, as :func:`scipy.linalg.solve_discrete_are` gives.
    raises numpy.linalg.LinAlgError: During a call, if there is no finite solution.
    example: [[0.0]], [[1.0]], [[4.0]], [[1.0]] -> [[4.]]
    """
    result: Variable = SolveRiccati(True)(*in_front(_floats(A, B, Q, R), (2, 2, 2, 2)))
    return result


def _floats(*operands: TensorLike) -> list[Variable]:
    """Return operands in the floating dtype that all promote to."""
    variables = [as_tensor(x) for x in operands]
    dtype = floating(variables[0].dtype)
    for x in variables[1:]:
        dtype = _core.promote(dtype, floating(x.dtype))
    if any(x.ndim < 2 for x in variables):
        given = ", ".join(str(x.type) for x in variables)
        raise np.linalg.LinAlgError(f"{called_function()} takes matrices; given {given}")
    return [as_tensor(x, dtype) for x in variables]
