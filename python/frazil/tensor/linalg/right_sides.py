"""Right sides of systems of equations: vectors and matrices, one or a stack of them."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Variable
from frazil.graph.dataclass import dataclass
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.linalg.stacks import in_front
from frazil.tensor.products import matmul, outer
from frazil.tensor.transposition import matrix_transpose


@dataclass(frozen=True)
class System:
    """Operands of an op that solves systems, the right side last.

    Attributes
    ----------
    operands : list of Variable
        With as many dimensions in front of their matrices.
    is_stack_of_vectors : bool
        The right side has a last dimension for the ops alone.
    """

    operands: list[Variable]
    is_stack_of_vectors: bool

    def solution(self, x: Variable) -> Variable:
        """Return what an op gave of the operands, in the shape of the right side as given."""
        return squeeze(x, -1) if self.is_stack_of_vectors else x


def matching(
    matrices: Sequence[Variable], cores: Sequence[int], b: Variable, b_ndim: int | None
) -> System:
    """Return the operands of a system: matrices (or vectors, of 1 dimension) and a right side.

    ``b_ndim`` says whether ``b`` has vectors, 1, or matrices, 2. By default it has matrices unless
    it is one vector.
    """
    if b.ndim == 0:
        raise TypeError(f"the right side must be a vector or a matrix; given {b.type}")
    if b_ndim not in (None, 1, 2) or b.ndim < (b_ndim or 1):
        raise ValueError(f"b_ndim={b_ndim}, but the right side is {b.type}")
    if b_ndim is None:
        b_ndim = min(b.ndim, 2)
    fronts = {x.ndim - core for x, core in zip(matrices, cores, strict=True)}
    if b.ndim == 1 and fronts == {0}:
        return System([*matrices, b], False)
    column = expand_dims(b, b.ndim) if b_ndim == 1 else b
    return System(in_front([*matrices, column], [*cores, 2]), b_ndim == 1)


def times_transposed(left: Variable, right: Variable) -> Variable:
    """Return ``left`` times ``right`` transposed, of two vectors or of matrices."""
    return outer(left, right) if left.ndim == 1 else matmul(left, matrix_transpose(right))
