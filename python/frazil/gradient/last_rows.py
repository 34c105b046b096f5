"""Gradients of the last rows of a scan's stacks, as gradients of its last states.

The last row of the stack of a state is the last state. A backward scan that starts from its
gradient has no sequence of rows that are zero but for one.
"""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Variable
from frazil.gradient.kinds import is_continuous, is_zero
from frazil.scalar.constants import constant
from frazil.scalar.elemwise import Elemwise
from frazil.scan.op import Scan
from frazil.tensor.basic_indexing import IncSubtensor
from frazil.tensor.broadcasting import broadcast_like
from frazil.tensor.lengths import static_length


def last_rows_apart(
    op: Scan, inputs: Sequence[Variable], output_gradients: Sequence[Variable]
) -> tuple[list[Variable], int]:
    """Return gradients of a scan's outputs that pull back to the same.

    Parameters
    ----------
    op : Scan
        The node that computes the outputs.
    inputs : sequence of Variable
        Its inputs.
    output_gradients : sequence of Variable
        The gradients of its outputs.

    Returns
    -------
    gradients : list of Variable
        Gradients of the last rows of states' stacks are added to the gradients of last states.
    min_steps : int
        The least number of steps: 1 if there must be a last row.
    """
    gradients = list(output_gradients)
    if op.truncate_gradient == 0:
        return gradients, 0
    known = static_length(inputs[0])
    min_steps = 0
    for at, row in enumerate(op.stacked):
        state = next((k for k, y in enumerate(op.next_states) if y is row), None)
        stack = op.n_states + at
        if state is None or not is_continuous(row):
            continue
        last, rest = _divided(gradients[stack], known, first=op.backwards)
        if not last:
            continue
        initial = inputs[1 + op.n_sequences + state]
        own = gradients[state]
        for g in last:
            spread = broadcast_like(g, initial)
            own = spread if is_zero(own) else own + spread
        gradients[state] = own
        gradients[stack] = _sum_of(rest, gradients[stack])
        min_steps = 0 if known else 1
    return gradients, min_steps


def _divided(
    gradient: Variable, steps: int | None, *, first: bool
) -> tuple[list[Variable], list[Variable]]:
    """The gradients of the last row, or the first, and the others: ``gradient`` is their sum."""
    last: list[Variable] = []
    rest: list[Variable] = []
    pending = [gradient]
    while pending:
        g = pending.pop()
        node = g.owner
        if node is None or is_zero(g):
            rest.append(g)
        elif isinstance(node.op, Elemwise) and node.op.scalar_op.table_name == "add":
            pending += reversed(node.inputs)
        elif isinstance(node.op, IncSubtensor) and _is_of_row(node.op, steps, first=first):
            last.append(node.inputs[1])
            pending.append(node.inputs[0])
        else:
            rest.append(g)
    return last, rest


def _is_of_row(op: IncSubtensor, steps: int | None, *, first: bool) -> bool:
    """Whether it adds to the last row, or the first."""
    if op.set or len(op.template) != 1 or not isinstance(op.template[0], int):
        return False
    at = op.template[0]
    if steps is not None and at < 0:
        at += steps
    return at == (0 if first else -1 if steps is None else steps - 1)


def _sum_of(gradients: Sequence[Variable], like: Variable) -> Variable:
    """The sum of gradients that are not zero, in the shape of ``like``."""
    total: Variable | None = None
    for g in gradients:
        if not is_zero(g):
            total = g if total is None else total + g
    return constant(0, like.dtype) if total is None else broadcast_like(total, like)
