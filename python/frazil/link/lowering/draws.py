"""Draws of random numbers."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.graph.op import Op
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.link.toolchain import draws
from frazil.random.draw import Draw, Drawing


def reason_against(op: Drawing) -> str | None:
    """Why an op draws by a call of Python; None if it does not."""
    if isinstance(op, Draw):
        return draws.reason_against(op.distribution, op.dtype)
    return op.by_python


@lower_node.register
def _(op: Draw, node: FrozenApply, lowering: Lowering) -> None:
    if reason_against(op) is not None:
        lower_node.dispatch(Op)(op, node, lowering)
        return
    draws.install()
    count = op.arity
    state, parameters, lengths = (
        node.inputs[0],
        node.inputs[1 : 1 + count],
        node.inputs[1 + count :],
    )
    batch = lengths[:-1] if op.signature.has_rows else lengths
    for x, is_row in zip(parameters, op.signature.takes_rows, strict=True):
        lowering.require_broadcast(x, lengths if is_row else batch)
    slots = lowering.builder.draw(
        op.distribution,
        op.dtype,
        lowering.slot(state),
        [lowering.slot(x) for x in parameters],
        lowering.sizes(lengths),
    )
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.set_slot(output, slot)
