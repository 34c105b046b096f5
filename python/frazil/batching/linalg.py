"""Batch rules of ops on matrices: they take stacks, so a batch is one more axis in front."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.batching.registry import (
    Operand,
    Operands,
    batch_size,
    batched,
    rule_of,
)
from frazil.tensor import linalg
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.linalg.determinants import LogAbsDet
from frazil.tensor.transposition import matrix_transpose


@rule_of(
    linalg.Cholesky,
    linalg.CholeskyGradient,
    linalg.PivotedLU,
    linalg.LUFactor,
    LogAbsDet,
    linalg.QR,
    linalg.SVD,
    linalg.SingularValues,
    linalg.Eig,
    linalg.Eigh,
    linalg.Eigenvalues,
    linalg.PseudoInverse,
    linalg.Expm,
)
def _stacks(node: FrozenApply, operands: Operands) -> list[Operand]:
    size = batch_size(operands)
    return batched(*node.op.make_node(*(x.spread(size) for x in operands)).outputs)


@rule_of(linalg.SolveSylvester, linalg.SolveRiccati)
def _equations(node: FrozenApply, operands: Operands) -> list[Operand]:
    values = [x.value if x.batched else expand_dims(x.value, 0) for x in operands]
    return batched(*node.op.make_node(*values).outputs)


@rule_of(linalg.SolveTriangular, linalg.SolveBanded, linalg.LUSolve, linalg.Solve)
def _systems(node: FrozenApply, operands: Operands) -> list[Operand]:
    values: Sequence[Variable] = [
        x.value if x.batched else expand_dims(x.value, 0) for x in operands
    ]
    vector = operands[-1].ndim == 1
    if vector and not any(x.batched for x in operands[:-1]):  # One call solves all of them.
        *matrices, right = (x.value for x in operands)
        (solution,) = node.op.make_node(*matrices, matrix_transpose(right)).outputs
        return batched(matrix_transpose(solution))
    if vector:  # A stack has matrices on its right side.
        values = [*values[:-1], expand_dims(values[-1], 2)]
    (solution,) = node.op.make_node(*values).outputs
    return batched(squeeze(solution, -1) if vector else solution)
