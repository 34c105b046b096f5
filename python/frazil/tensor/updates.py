"""Ops whose first output is a new state of an operand, and may be computed in its memory."""

from __future__ import annotations

from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor
from frazil.tensor.basic_indexing import IncSubtensor
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.linalg import Cholesky, CholeskyGradient, SolveTriangular


@singledispatch
def updated_operand(op: Op) -> int | None:
    """The position of the operand whose new state the op's first output is; None: of none."""
    return None


@updated_operand.register
def _(op: IncSubtensor | AdvancedIncSubtensor | Gemm | Gemv | Ger | Cholesky) -> int:
    return 0


@updated_operand.register
def _(op: CholeskyGradient | SolveTriangular) -> int:
    return 1
