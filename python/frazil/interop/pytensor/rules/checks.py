"""Rules for checks: a call tests their conditions at its end, and raises their exceptions."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pytensor.raise_op import CheckAndRaise

from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.interop.pytensor.translation import Results, Translation, cast, rule
from frazil.tensor import assert_

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp


@dataclass(frozen=True, eq=False)
class Checked(Op):
    """Its first operand, if all others are true; the check within a loop or a branch.

    Parameters
    ----------
    error : bytes
        The class of the exception, pickled.
    message : str
        The message.
    """

    error: bytes
    message: str
    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

    def make_node(self, x: Variable, *conditions: Variable) -> FrozenApply:
        """The application of the op: a result of the type of ``x``."""
        return FrozenApply(self, [x, *conditions], [x.type])

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[tuple[Variable, ...]]
    ) -> tuple[tuple[Variable, ...] | None, ...]:
        """The shape of ``x``."""
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        """The gradient of ``x``; conditions have none."""
        return [*output_gradients, *[None] * (len(inputs) - 1)]

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """``x``, or the exception."""
        if not all(inputs[1:]):
            raise pickle.loads(self.error)(self.message)
        return (inputs[0],)


@rule(CheckAndRaise)
def _check(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    x, *conditions = node.inputs
    if node in t.idle:
        return t[x]
    return checked(op, t[x], [cast(t[c], "bool") for c in conditions], t)


def checked(
    op: CheckAndRaise, x: Variable, conditions: Sequence[Variable], t: Translation
) -> Variable:
    """``x``, in a graph whose calls raise what ``op`` says unless all conditions hold."""
    if not t.local:
        t.checks += [(c, op) for c in conditions]
        return x
    if op.exc_type is AssertionError:
        return assert_(x, *conditions, msg=op.msg)
    made: Variable = Checked(pickle.dumps(op.exc_type), op.msg)(x, *conditions)
    return made
