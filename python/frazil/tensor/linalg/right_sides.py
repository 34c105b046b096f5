"""Right sides of systems of equations: vectors and matrices, one or a stack of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

from frazil._core import Variable
from frazil.graph.dataclass import dataclass
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.lengths import shape
from frazil.tensor.linalg.stacks import in_front
from frazil.tensor.products import matmul, outer
from frazil.tensor.reshaping import reshape
from frazil.tensor.transposition import matrix_transpose


@dataclass(frozen=True)
class System:
    """Operands of an op that solves systems, the right side last."""

    operands: list[Variable]
    """With as many dimensions in front of their matrices."""
    is_stack_of_vectors: bool
    """The right side has a last dimension for the ops alone."""
    front: tuple[Variable | int, ...] | None = None
    """The dimensions in front of vectors that are columns of one right side here."""

    def solution(self, x: Variable) -> Variable:
        """Return the result of an op, in the shape of the right side as the user gave it."""
        if self.front is None:
            return squeeze(x, -1) if self.is_stack_of_vectors else x
        rows = matrix_transpose(x)
        if len(self.front) > 1:
            rows = reshape(rows, (*self.front, shape(x)[0]))
        return rows if self.is_stack_of_vectors else expand_dims(rows, rows.ndim)


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
    if all(
        n == 1
        for x, core in zip(matrices, cores, strict=True)
        for n in x.type.shape[: x.ndim - core]
    ) and (b.ndim > b_ndim and (b_ndim == 1 or b.type.shape[-1] == 1)):
        return _of_one_matrix(matrices, cores, b, b_ndim)
    column = expand_dims(b, b.ndim) if b_ndim == 1 else b
    return System(in_front([*matrices, column], [*cores, 2]), b_ndim == 1)


def _of_one_matrix(
    matrices: Sequence[Variable], cores: Sequence[int], b: Variable, b_ndim: int
) -> System:
    """Return a system whose vectors are the columns of one right side: one call solves it."""
    alone = [
        squeeze(x, tuple(range(x.ndim - core))) if x.ndim > core else x
        for x, core in zip(matrices, cores, strict=True)
    ]
    vectors = b if b_ndim == 1 else squeeze(b, -1)
    *own, length = shape(vectors)
    most = max(x.ndim - core for x, core in zip(matrices, cores, strict=True))
    front: list[Variable | int] = [*[1] * (most - len(own)), *own]
    rows = vectors if vectors.ndim == 2 else reshape(vectors, (reduce(mul, front), length))
    return System([*alone, matrix_transpose(rows)], b_ndim == 1, tuple(front))


def times_transposed(left: Variable, right: Variable) -> Variable:
    """Return ``left`` times ``right`` transposed, of two vectors or of matrices."""
    return outer(left, right) if left.ndim == 1 else matmul(left, matrix_transpose(right))
