"""Factorizations and systems of equations, computed by LAPACK."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, Variable
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.link.toolchain import blas
from frazil.tensor.linalg import (
    QR,
    SVD,
    Cholesky,
    CholeskyGradient,
    Eigenvalues,
    Eigh,
    LUFactor,
    LUSolve,
    PivotedLU,
    PseudoInverse,
    SingularValues,
    Solve,
    SolveBanded,
    SolveTriangular,
)
from frazil.tensor.linalg.matrices import core_of
from frazil.tensor.linalg.stacks import inferred_front


@lower_node.register
def _(op: Cholesky, node: FrozenApply, lowering: Lowering) -> None:
    blas.install_lapack()
    slot = lowering.builder.cholesky(lowering.slot(node.inputs[0]), op.lower, op.on_error)
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: CholeskyGradient, node: FrozenApply, lowering: Lowering) -> None:
    blas.install_lapack()
    factor, g = (lowering.slot(x) for x in node.inputs)
    lowering.set_slot(node.outputs[0], lowering.builder.cholesky_gradient(factor, g))


@lower_node.register
def _(op: SolveTriangular, node: FrozenApply, lowering: Lowering) -> None:
    blas.install()
    a, b = operands_in_front(node.inputs, (2, core_of(*node.inputs[::-1])), lowering)
    transposed = op.trans == "T"
    slot = lowering.builder.solve_triangular(
        a, b, op.lower, transposed, op.unit_diagonal, op.on_error
    )
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: SolveBanded, node: FrozenApply, lowering: Lowering) -> None:
    blas.install_lapack()
    a, b = operands_in_front(node.inputs, (2, core_of(*node.inputs[::-1])), lowering)
    slot = lowering.builder.band_solve(a, b, op.bands, op.packed, op.trans == "T", op.on_error)
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(op: LUFactor | PivotedLU, node: FrozenApply, lowering: Lowering) -> None:
    blas.install_lapack()
    builder, matrix = lowering.builder, lowering.slot(node.inputs[0])
    slots = builder.lu(matrix) if isinstance(op, LUFactor) else builder.lu_of_any(matrix)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)


@lower_node.register
def _(op: LUSolve | Solve, node: FrozenApply, lowering: Lowering) -> None:
    blas.install()
    factors, pivots, b = operands_in_front(node.inputs[-3:], op.cores(node), lowering)
    slot = lowering.builder.lu_solve(factors, pivots, b, op.trans == "T", op.on_error)
    lowering.set_slot(node.outputs[0], slot)


@lower_node.register
def _(
    op: QR | SVD | SingularValues | Eigh | Eigenvalues, node: FrozenApply, lowering: Lowering
) -> None:
    blas.install_lapack()
    slots = lowering.builder.decompose(lowering.slot(node.inputs[0]), op.kind, op.on_error)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)


@lower_node.register
def _(op: PseudoInverse, node: FrozenApply, lowering: Lowering) -> None:
    slot = lowering.builder.expand_dims(lowering.slot(node.inputs[1]), [])
    lowering.set_slot(node.outputs[0], slot)


def operands_in_front(
    operands: Sequence[Variable], cores: Sequence[int], lowering: Lowering
) -> list[int]:
    """Return slots of operands that are broadcast to equal lengths in front of their matrices."""
    shapes = [lowering.shapes.lengths(x) for x in operands]
    front = inferred_front(operands, shapes, cores)
    slots = []
    for x, shape, core in zip(operands, shapes, cores, strict=True):
        target = (*front, *shape[x.ndim - core :])
        lowering.require_broadcast(x, target)
        slot = lowering.slot(x)
        if any(x.broadcastable[: x.ndim - core]):
            slot = lowering.builder.broadcast_to(slot, lowering.sizes(target))
        slots.append(slot)
    return slots
