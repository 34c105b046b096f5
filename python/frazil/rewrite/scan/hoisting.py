"""What a loop need not do in each step: done before it, at once for all steps, or after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import partial, singledispatch
from typing import TypeAlias

import frazil._core as _core
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.op import Op
from frazil.inner.successors import Successors, as_told
from frazil.scalar.elemwise import Elemwise
from frazil.scan.body import Body, Results, State, depends, frontier, needs
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import DropDims, ExpandDims, expand_dims
from frazil.tensor.lengths import Shape_i, length, lengths
from frazil.tensor.products import Dot, dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.transposition import Transpose, permute_dims

Rows: TypeAlias = Mapping[Variable, Variable]
"""For inner variables what they stand for outside."""


def hoist_invariants(body: Body) -> None:
    """Compute before a loop what is the same in each of its steps."""
    _hoist_lengths(body)
    moves = depends(body.results, body.moving())
    order = [node for node in _core.toposort(body.results) if node.outputs[0] not in moves]
    if not order:
        return
    fixed = {x for node in order for x in node.outputs}
    outer = Successors(body.others)
    for node in order:
        outer.apply(node)
    taken: dict[Variable, Variable] = {}
    for x in frontier(body.results, fixed):
        inner = x.type(None)
        taken[x] = inner
        body.others[inner] = outer[x]
    body.substitute(taken)


def _hoist_lengths(body: Body) -> None:
    """A state keeps its shape, and so do the elements of a sequence."""
    outer = {state.inner: (state.start, 0) for state in body.states}
    outer |= {x: (sequence, 1) for x, sequence in body.sequences.items()}
    taken: dict[Variable, Variable] = {}
    for node in _core.toposort(body.results):
        if isinstance(node.op, Shape_i) and node.inputs[0] in outer:
            of, shift = outer[node.inputs[0]]
            own = length(of, node.op.axis + shift)
            inner = own if isinstance(own, Constant) else own.type(None)
            taken[node.outputs[0]] = inner
            if inner is not own:
                body.others[inner] = own
    body.substitute(taken)


def hoist_elements(body: Body) -> None:
    """Compute before a loop, for all steps at once, what follows from its sequences alone.

    In a loop over single numbers, which is one kernel, only functions are worth the memory.
    """
    states = depends(body.results, [state.inner for state in body.states])
    rows = body.checked_sequences()
    dear: set[Variable] = set()
    scalar = all(x.ndim == 0 for x in body.moving())
    for node in _core.toposort(body.results):
        y = node.outputs[0]
        if len(node.outputs) != 1 or y in states or not any(x in rows for x in node.inputs):
            continue
        if any(x not in rows and x not in body.others and x.owner is not None for x in node.inputs):
            continue
        made = _stacked(node, rows, body.others)
        if made is not None:
            rows[y] = made
            if not scalar or _is_function(node) or any(x in dear for x in node.inputs):
                dear.add(y)
    taken: dict[Variable, Variable] = {}
    for x in frontier(body.results, dear):
        inner = x.type(None)
        taken[x] = inner
        body.sequences[inner] = rows[x]
    body.substitute(taken)


def _is_function(node: FrozenApply) -> bool:
    return isinstance(node.op, Elemwise) and node.op.scalar_op.rule == "float"


def hoist_stacked(body: Body) -> Callable[[Results], list[Variable]]:
    """Compute after a loop, for all steps at once, what is only stacked.

    The loop stacks what that follows from instead, unless that is more.

    Returns
    -------
    callable
        What gives the stacks that were wanted, of what the loop gives.
    """
    if body.conditions:
        # Sequences and what is the same in all steps have rows for steps that are never done.
        return lambda results: results.stacks
    wanted = list(body.stacked)
    later = _later(body)
    after = {node.outputs[0] for node in later}
    given = {*body.sequences, *body.others}
    reads = [x for node in later for x in node.inputs if not isinstance(x, Constant)]
    stacked = [x for x in (*wanted, *reads) if x not in after and x not in given]
    stacked = [x for x in stacked if not isinstance(x, Constant)]
    stacked = list(dict.fromkeys(stacked))
    if sum(map(_weight, stacked)) > sum(map(_weight, dict.fromkeys(wanted))):
        moving = [x for x in wanted if x not in given and not isinstance(x, Constant)]
        later, stacked = [], list(dict.fromkeys(moving))
    body.stacked = stacked
    sequences, others, n_steps = body.checked_sequences(), dict(body.others), body.n_steps

    def stacks(results: Results) -> list[Variable]:
        rows = {**sequences, **dict(zip(stacked, results.stacks, strict=True))}
        for node in later:
            made = _stacked(node, rows, others)
            if made is None:
                raise AssertionError(f"{node.op} was found to go over rows, and does not")
            rows[node.outputs[0]] = made
        return [rows[y] if y in rows else _repeated(others.get(y, y), n_steps) for y in wanted]

    return stacks


def _repeated(x: Variable, n_steps: Variable) -> Variable:
    return broadcast_to(expand_dims(x, (0,)), (n_steps, *lengths(x)))


def _later(body: Body) -> list[FrozenApply]:
    """The nodes that can be applied after a loop, in order."""
    inside = needs([*body.nexts, *body.conditions])
    moves = depends(body.results, body.moving())
    scalar = all(x.ndim == 0 for x in body.moving())
    order = [node for node in _core.toposort(body.results) if node.outputs[0] not in inside]
    later: dict[Variable, FrozenApply] = {}
    for node in order:
        y = node.outputs[0]
        worth = not scalar or _is_function(node) or any(x in later for x in node.inputs)
        if y in moves and len(node.outputs) == 1 and worth and _has_rows(node, moves):
            later[y] = node
    # What a node that stays needs is there already.
    for node in reversed(order):
        if node.outputs[0] not in later:
            for x in node.inputs:
                later.pop(x, None)
    return [node for node in order if node.outputs[0] in later]


def _weight(x: Variable) -> int:
    """About how much memory a stack takes."""
    return math.prod(16 if length is None else length for length in x.type.shape)


def hoist_sums(body: Body, lasts: Collection[int]) -> dict[int, Callable[[Results], Variable]]:
    """Compute after a loop, as one product of matrices, the sums of products of vectors.

    Parameters
    ----------
    lasts : collection of int
        The positions of the states whose last values are wanted.

    Returns
    -------
    dict of int to callable
        For the positions of the states that the loop has lost, what gives their last values, of
        what the loop gives.
    """
    made: dict[int, Callable[[Results], Variable]] = {}
    kept: list[State] = []
    for at, state in enumerate(body.states):
        others = [own.next for own in body.states if own is not state]
        elsewhere = needs([*others, *body.stacked, *body.conditions])
        vectors = _summed_outer(state)
        alone = at in lasts and state.inner not in elsewhere
        if vectors is None or not alone or any(state.inner in needs([x]) for x in vectors):
            kept.append(state)
            continue
        body.stacked += vectors
        made[at] = partial(_total, state.start, len(body.stacked))
    body.states = kept
    return made


def _total(start: Variable, end: int, results: Results) -> Variable:
    left, right = results.stacks[end - 2 : end]
    return start + dot(permute_dims(left), right)


def _summed_outer(state: State) -> list[Variable] | None:
    """The vectors whose outer product each step adds to a state; None if it does not."""
    total = state.next.owner
    if total is None or not _is_elementwise(total, "add") or state.inner not in total.inputs:
        return None
    added = [x for x in total.inputs if x is not state.inner]
    if len(added) != 1 or added[0].type.dtype != state.inner.dtype or added[0].ndim != 2:
        return None
    product = added[0].owner
    if product is None or not _is_elementwise(product, "mul"):
        return None
    vectors: dict[int, Variable] = {}
    for x in product.inputs:
        spread = x.owner
        if spread is not None and isinstance(spread.op, ExpandDims) and len(spread.op.axes) == 1:
            vectors[1 - spread.op.axes[0]] = spread.inputs[0]
        elif x.ndim == 1:
            vectors[1] = x
    if set(vectors) != {0, 1} or any(x.ndim != 1 or 1 in x.type.shape for x in vectors.values()):
        return None
    if any(x.dtype != state.inner.dtype for x in vectors.values()):
        return None
    return [vectors[0], vectors[1]]


def _is_elementwise(node: FrozenApply, name: str) -> bool:
    return isinstance(node.op, Elemwise) and node.op.scalar_op.table_name == name


def _has_rows(node: FrozenApply, rows: set[Variable]) -> bool:
    """Whether a node can be applied to all rows at once, if these variables have rows."""
    if isinstance(node.op, Elemwise):
        return True
    if isinstance(node.op, Dot):
        a, b = node.inputs
        return (a in rows) != (b in rows) and _is_row_product(a in rows, a, b)
    return isinstance(node.op, ExpandDims | DropDims | Transpose | Reduce)


@singledispatch
def over_rows(op: Op, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    """Return what a node gives in all steps at once, one row a step; None if it has no such form.

    ``rows`` holds the stacks of inner variables, ``others`` what the rest stands for.
    """
    return None


def _stacked(node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    """What a node gives in all steps, in rows of the lengths that its type tells of a step."""
    made = over_rows(node.op, node, rows, others)
    if made is None:
        return None
    own = node.output_types[0]
    return as_told(made, TensorType(own.dtype, [None, *own.shape]))


@over_rows.register
def _(op: Elemwise, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    ndim = node.outputs[0].ndim
    operands = []
    for x in node.inputs:
        if x in rows:
            missing = ndim - x.ndim
            operands.append(expand_dims(rows[x], tuple(range(1, 1 + missing))))
        else:
            operands.append(others.get(x, x))
    made: Variable = op.make_node(*operands).outputs[0]
    return made


@over_rows.register
def _(op: Dot, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    a, b = node.inputs
    if (a in rows) == (b in rows) or not _is_row_product(a in rows, a, b):
        return None
    if a in rows:
        return dot(rows[a], others.get(b, b))
    return dot(rows[b], permute_dims(others.get(a, a)))


def _is_row_product(first_moves: bool, a: Variable, b: Variable) -> bool:
    """Whether a product of a vector for each step and a matrix: one product of matrices."""
    moving, fixed = (a, b) if first_moves else (b, a)
    return moving.ndim == 1 and fixed.ndim == 2


@over_rows.register
def _(op: ExpandDims, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    return expand_dims(rows[node.inputs[0]], tuple(axis + 1 for axis in op.axes))


@over_rows.register
def _(op: DropDims, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    made: Variable = DropDims(tuple(axis + 1 for axis in op.axes))(rows[node.inputs[0]])
    return made


@over_rows.register
def _(op: Transpose, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    made: Variable = Transpose((0, *(axis + 1 for axis in op.axes)))(rows[node.inputs[0]])
    return made


@over_rows.register
def _(op: Reduce, node: FrozenApply, rows: Rows, others: Rows) -> Variable | None:
    made: Variable = type(op)(tuple(axis + 1 for axis in op.axes))(rows[node.inputs[0]])
    return made
