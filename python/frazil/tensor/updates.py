"""Which ops give a new state of one of their operands, so that they may be done in place."""

from __future__ import annotations

from functools import singledispatch

from frazil.graph.op import Op
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.indexing import IncSubtensor
from frazil.tensor.linalg import Cholesky, CholeskyGradient, SolveTriangular


@singledispatch
def updated_operand(op: Op) -> int | None:
    """The position of the operand that the op's first output is a new state of, if there is one."""
    return None


@updated_operand.register(IncSubtensor)
@updated_operand.register(AdvancedIncSubtensor)
@updated_operand.register(Gemm)
@updated_operand.register(Gemv)
@updated_operand.register(Ger)
@updated_operand.register(Cholesky)
def _(op: Op) -> int:
    return 0


@updated_operand.register(CholeskyGradient)
@updated_operand.register(SolveTriangular)
def _(op: Op) -> int:
    return 1
