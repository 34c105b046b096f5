"""Batch rules of products of vectors and matrices."""

from __future__ import annotations

from frazil._core import FrozenApply, Variable
from frazil.batching.registry import Operand, Operands, batched, rule_of
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.products import BatchedDot, Dot, matmul
from frazil.tensor.transposition import swapaxes


@rule_of(Dot)
def _dot(node: FrozenApply, operands: Operands) -> list[Operand]:
    a, b = operands
    if a.batched and b.batched:
        return batched(_pairs(a, b))
    if a.batched:
        return batched(matmul(a.value, b.value))
    # The batch stays in front if the left operand has it.
    left = b.value if b.ndim == 1 else swapaxes(b.value, -1, -2)
    right = a.value if a.ndim == 1 else swapaxes(a.value, -1, -2)
    product = matmul(left, right)
    if a.ndim == 2 and b.ndim == 2:
        product = swapaxes(product, -1, -2)
    return batched(product)


def _pairs(a: Operand, b: Operand) -> Variable:
    """Return the product of each element of one batch with the element of the other."""
    left = expand_dims(a.value, 1) if a.ndim == 1 else a.value
    right = expand_dims(b.value, 2) if b.ndim == 1 else b.value
    product: Variable = BatchedDot()(left, right)
    dropped = [*([1] if a.ndim == 1 else []), *([2] if b.ndim == 1 else [])]
    return squeeze(product, dropped) if dropped else product


@rule_of(BatchedDot)
def _batched_dot(node: FrozenApply, operands: Operands) -> list[Operand]:
    left, right = (x.value if x.batched else expand_dims(x.value, 0) for x in operands)
    return batched(BatchedDot()(left, right))
