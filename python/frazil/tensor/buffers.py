"""Copies that share memory with no other tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths


@dataclass(frozen=True, eq=False)
class Distinct(Op):
    """``x`` in a buffer of its own: each application is another node."""

    takes_complex = True

    distinct: ClassVar[bool] = True

    def make_node(self, x: Variable) -> FrozenApply:
        return FrozenApply(self, [x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (inputs[0].copy(),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [output_gradients[0]]


@described
def distinct(x: TensorLike) -> Variable:
    """Return ``x`` in a buffer of its own, which no other expression shares.

    x (tensor_like): The tensor to copy.
    returns: Equal to ``x`` in every element. Each call gives another variable: two of them never
        merge, and neither shares memory with ``x``.

    >>> x = ft.vector("x")
    >>> ft.exp(x) is ft.exp(x), ft.distinct(x) is ft.distinct(x)
    (True, False)
    >>> ft.distinct(x).eval({x: [1.0, 2.0]})
    array([1., 2.])
    """
    result: Variable = Distinct()(as_tensor(x))
    return result
