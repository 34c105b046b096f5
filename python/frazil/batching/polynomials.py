"""The batch rule of polynomials: their coefficients, and where they are taken, may be batches."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.batching.registry import (
    Operand,
    Operands,
    batch_size,
    batched,
    rule_of,
)
from frazil.tensor.dims import expand_dims
from frazil.tensor.polynomials import PolynomialValues
from frazil.tensor.transposition import moveaxis


@rule_of(PolynomialValues)
def _values(node: FrozenApply, operands: Operands) -> list[Operand]:
    p, x = operands
    places, coefficients = x.spread(batch_size(operands)), p.value
    if p.batched:
        missing = x.ndim + 1 - p.ndim
        rows = moveaxis(coefficients, 0, 1)
        coefficients = expand_dims(rows, tuple(range(2, 2 + missing)))
    return batched(*node.op.make_node(coefficients, places).outputs)
