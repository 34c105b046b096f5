"""Systems of equations with matrices that have elements in a few diagonals only."""

from __future__ import annotations

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros
from frazil.tensor.diagonals import tril, triu
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate, stack
from frazil.tensor.lengths import length, lengths
from frazil.tensor.linalg.failure import OnError
from frazil.tensor.linalg.matrices import (
    check_matrices,
    check_square,
    floating,
    solution_type,
)
from frazil.tensor.linalg.matrix_system import MatrixSystem, Trans, check_trans
from frazil.tensor.linalg.right_sides import matching, times_transposed
from frazil.tensor.linalg.stacks import unbroadcast_front
from frazil.tensor.reductions import sum

Diagonals = dict[int, Array]
"""Diagonals of a matrix by how far above the main one they are."""


@dataclass(frozen=True, eq=False)
class SolveBanded(MatrixSystem):
    """The solution ``x`` of ``a x = b``, or of ``a' x = b`` where ``trans`` is ``"T"``.

    ``bands`` says in how many diagonals below and above its main one the matrix has elements;
    others are not read. None: a call finds out. If the operand is ``packed``, its rows are these
    diagonals, the highest first, each element in its column; else it is the matrix. ``b`` is a
    vector or a matrix. All may be stacks, whose dimensions in front broadcast. If a matrix is
    singular, a call raises numpy.linalg.LinAlgError, or with ``on_error="nan"`` gives NaN.
    """

    bands: tuple[int, int] | None
    packed: bool
    trans: Trans
    on_error: OnError = "raise"

    def make_node(self, a: Variable, b: Variable) -> FrozenApply:
        check_trans(self.trans)
        if self.bands is None and self.packed:
            raise ValueError("of a packed matrix the bands must be known")
        if self.bands is not None and min(self.bands) < 0:
            raise ValueError(f"the numbers of bands must not be negative; given {self.bands}")
        self.check_on_error()
        check_matrices(a, "SolveBanded")
        if self.packed:
            rows, size = a.type.shape[-2:]
            if rows not in (None, self.rows):
                raise ValueError(
                    f"SolveBanded takes {self.rows} diagonals for the bands {self.bands}; given "
                    f"{a.type}"
                )
        else:
            size = check_square(a, "SolveBanded")
        return FrozenApply(self, [a, b], [solution_type("SolveBanded", (a, b), (2,), size)])

    @property
    def rows(self) -> int:
        """The number of diagonals, if it is known."""
        below, above = self.bands or (0, 0)
        return below + above + 1

    def check_matrix(self, a: Array, node: FrozenApply) -> None:
        if not self.packed:
            super().check_matrix(a, node)
        elif a.shape[-2] != self.rows:
            raise ValueError(f"{self}: {self.rows} diagonals are needed; given {a.shape[-2]}")

    def solved(self, a: Array, b: Array) -> tuple[Array, ...]:
        if not b.size:
            return (b.copy(),)
        from scipy.linalg.lapack import get_lapack_funcs

        diagonals = self._diagonals(a)
        if self.trans == "T":
            diagonals = {-k: diagonal for k, diagonal in diagonals.items()}
        below, above, size = -min(diagonals), max(diagonals), a.shape[-1]
        packed: Array = np.zeros((2 * below + above + 1, size), a.dtype)
        for k, diagonal in diagonals.items():
            packed[below + above - k, max(k, 0) : size + min(k, 0)] = diagonal
        (gbsv,) = get_lapack_funcs(("gbsv",), (a, b))
        _, _, x, status = gbsv(below, above, packed, b.reshape(size, -1), overwrite_ab=True)
        if status > 0:
            message = f"the matrix is singular: pivot {status - 1} of its factorisation is zero"
            return self.fail(b, f"{self}: {message}")
        return (np.ascontiguousarray(x.reshape(b.shape)),)

    def _diagonals(self, a: Array) -> Diagonals:
        """Return the diagonals of one matrix."""
        size = a.shape[-1]
        bands = self.bands
        if bands is None:
            from scipy.linalg import bandwidth

            bands = bandwidth(a)
        below, above = (min(count, size - 1) for count in bands)
        if not self.packed:
            return {k: np.diagonal(a, k) for k in range(-below, above + 1)}
        top = bands[1]
        return {k: a[top - k, max(k, 0) : size + min(k, 0)] for k in range(-below, above + 1)}

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (a, b), (x,), (g,) = inputs, outputs, output_gradients
        g_b = SolveBanded(self.bands, self.packed, self.other_trans, self.on_error)(a, g)
        left, right = self.factors_of_gradient(x, g_b)
        if self.packed and self.bands is not None:
            g_a = -_diagonals_of_product(left, right, self.bands)
        else:
            g_a = -times_transposed(left, right)
            if self.bands is not None:
                below, above = self.bands
                g_a = triu(tril(g_a, above), -below)
        return [unbroadcast_front(g_a, a), unbroadcast_front(g_b, b)]


def _diagonals_of_product(left: Variable, right: Variable, bands: tuple[int, int]) -> Variable:
    """Return diagonals of ``left`` times ``right`` transposed, as a packed operand has them."""
    below, above = bands
    vector = left.ndim == 1
    front = lengths(left)[:-2]
    behind = () if vector else (length(left, left.ndim - 1),)
    axis = left.ndim - 1 if vector else left.ndim - 2
    ends = [zeros((*front, count, *behind), left.dtype) for count in (above, below)]
    padded = concatenate([ends[0], left, ends[1]], axis)
    size, rows = length(left, axis), []
    for row in range(below + above + 1):
        part = slice(row, row + size)
        index = part if vector else (..., part, slice(None))
        products = get_item(padded, index) * right
        rows.append(products if vector else sum(products, -1))
    return stack(rows, -2)


@described
def solve_banded(
    l_and_u: tuple[int, int],
    ab: TensorLike,
    b: TensorLike,
    *,
    b_ndim: int | None = None,
    on_error: OnError = "raise",
) -> Variable:
    """Return the solution ``x`` of ``a @ x == b``, where ``a`` has elements in a few diagonals.

    l_and_u (tuple of two int): The numbers of diagonals below the main one, and above it, that have
        elements.
    ab (tensor_like): The diagonals, of shape ``(..., l + u + 1, m)``: ``ab[u + i - j, j]`` is
        ``a[i, j]``. What has no place in the matrix is not read.
    b (tensor_like): The right side: a vector, or matrices of shape ``(..., m, n)``. The dimensions
        in front broadcast.
    b_ndim ({1, 2}): Whether ``b`` has vectors of shape ``(..., m)`` or matrices. By default it has
        matrices unless it is one vector.
    on_error ({"raise", "nan"}): The effect of a singular matrix: an error, or a solution all of
        NaN, whose gradients are NaN, too.
    returns: Of the shape of ``b``, with the dimensions in front that both broadcast to, as
        :func:`scipy.linalg.solve_banded` gives.
    raises numpy.linalg.LinAlgError: During a call, if a matrix is singular and ``on_error`` is
        "raise".

    >>> ab = [[0.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    >>> ft.linalg.solve_banded((0, 1), ab, [5.0, 6.0, 4.0]).eval()
    array([1.5, 2. , 2. ])
    """
    below, above = l_and_u
    diagonals, right = as_tensor(ab), as_tensor(b)
    dtype = _core.promote(floating(diagonals.dtype), floating(right.dtype))
    op = SolveBanded((int(below), int(above)), True, "N", on_error)
    system = matching([as_tensor(diagonals, dtype)], [2], as_tensor(right, dtype), b_ndim)
    return system.solution(op(*system.operands))
