"""Which memory the steps of a loop may use up."""

from __future__ import annotations

from typing import Any

from frazil.link.contract import in_place_contract
from frazil.loop.op import Scan


@in_place_contract
def scan_in_place(linker: Any, op: Scan) -> tuple[int, ...]:
    """The positions of the inner inputs whose memory a step may use up."""
    raise AssertionError("never called")


def own_states(op: Scan) -> tuple[int, ...]:
    """Return the inner inputs that are states of which nothing but the next step has need."""
    handed_on = {*op.next_states, *op.stacked}
    return tuple(
        op.n_sequences + at
        for at, (state, new) in enumerate(zip(op.states, op.next_states, strict=True))
        if state not in handed_on
        and new not in op.stacked
        and new not in op.fgraph.inputs
        and op.next_states.count(new) == 1
    )
