"""Batch rules of Fourier transforms, whose dimension is counted from the last."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.batching.registry import Operand, Operands, batched, rule_of
from frazil.tensor.fft.cosines import RealTransform
from frazil.tensor.fft.operations import Fourier, InverseRealFourier, RealFourier


@rule_of(Fourier, RealFourier, InverseRealFourier, RealTransform)
def _transforms(node: FrozenApply, operands: Operands) -> list[Operand] | None:
    x, *lengths = operands
    if any(n.batched for n in lengths):
        return None  # results of several lengths are no batch
    return batched(*node.op.make_node(x.value, *(n.value for n in lengths)).outputs)
