"""Work moved out of a scan: before it (loop-invariant code motion) or after it, for all steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from typing import TypeAlias

import frazil._core as _core
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op
from frazil.inner.successors import Successors, with_type_of
from frazil.scalar.elemwise import Elemwise
from frazil.scan.body import ScanBody, ScanResults, State, ancestors, dependents, frontier
from frazil.scan.costs import is_function
from frazil.scan.step_shapes import StepShapes
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import DropDims, ExpandDims, expand_dims
from frazil.tensor.joining import Join
from frazil.tensor.lengths import Shape_i, length, lengths
from frazil.tensor.products import Dot, dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.transposition import Transpose, permute_dims

Rows: TypeAlias = Mapping[Variable, Variable]
"""Maps inner variables to outer ones."""


def hoist_invariants(body: ScanBody) -> None:
    """Move loop-invariant nodes before the scan."""
    _hoist_lengths(body)
    varying = dependents(body.outputs, body.varying)
    order = [node for node in _core.toposort(body.outputs) if node.outputs[0] not in varying]
    if not order:
        return
    fixed = {x for node in order for x in node.outputs}
    outer = Successors(body.non_sequences)
    for node in order:
        outer.apply(node)
    taken = {x: x.type(None) for x in frontier(body.outputs, fixed)}
    body.non_sequences.update((inner, outer[x]) for x, inner in taken.items())
    body.substitute(taken)


def _hoist_lengths(body: ScanBody) -> None:
    """Move lengths before the scan: states and elements of sequences keep their shapes."""
    outer = {state.inner: (state.initial, 0) for state in body.states}
    outer |= {x: (sequence, 1) for x, sequence in body.sequences.items()}
    taken: dict[Variable, Variable] = {}
    for node in _core.toposort(body.outputs):
        if isinstance(node.op, Shape_i) and node.inputs[0] in outer:
            of, shift = outer[node.inputs[0]]
            own = length(of, node.op.axis + shift)
            inner = own if isinstance(own, Constant) else own.type(None)
            taken[node.outputs[0]] = inner
            if inner is not own:
                body.non_sequences[inner] = own
    body.substitute(taken)


def hoist_sequence_work(body: ScanBody) -> None:
    """Move nodes before the scan that depend on sequences alone; they run for all steps at once.

    Only functions such as exp are worth the memory that rows of single numbers take: such a scan
    becomes one kernel. Of arrays, other elementwise nodes move too, unless the step then reads more
    memory than without them.
    """
    states = dependents(body.outputs, [state.inner for state in body.states])
    sequences = body.sequences
    rows: dict[Variable, Variable] = {}
    dear: set[Variable] = set()
    movable: set[Variable] = set()
    scalar = all(x.ndim == 0 for x in body.varying)
    for node in _core.toposort(body.outputs):
        y = node.outputs[0]
        if len(node.outputs) != 1 or y in states:
            continue
        # Of most scans no node moves, so that no sequence is checked.
        reads = [x for x in node.inputs if x in movable or x in sequences]
        if not reads or any(
            x not in movable
            and x not in sequences
            and x not in body.non_sequences
            and x.owner is not None
            for x in node.inputs
        ):
            continue
        rows.update((x, body.checked_sequence(x)) for x in reads if x not in rows)
        made = _stacked(node, rows, body.non_sequences)
        if made is not None:
            rows[y] = made
            movable.add(y)
            if _is_dear(node, scalar=scalar) or any(x in dear for x in node.inputs):
                dear.add(y)
    if not scalar and _read(body, movable) <= _read(body, dear):
        dear = movable
    taken = {x: x.type(None) for x in frontier(body.outputs, dear)}
    body.sequences.update((inner, rows[x]) for x, inner in taken.items())
    body.substitute(taken)


def _is_dear(node: FrozenApply, *, scalar: bool) -> bool:
    """Whether a node that runs for all steps at once is worth the memory of its rows."""
    return is_function(node) or not (scalar or isinstance(node.op, Elemwise))


def _read(body: ScanBody, moved: Collection[Variable]) -> int:
    """An estimate of the memory of sequences that a step reads once these nodes are moved."""
    return sum(map(_weight, frontier(body.outputs, {*body.sequences, *moved})))


def defer_stacked(body: ScanBody) -> Callable[[ScanResults], list[Variable]]:
    """Move nodes after the scan whose results are only stacked; they run for all steps at once.

    The scan stacks the inputs of these nodes instead, unless those take more memory.

    Returns
    -------
    callable
        Computes the wanted stacks from the results of the scan.
    """
    if body.conditions:
        # Sequences also have rows for steps that are never done.
        return lambda results: results.stacks
    wanted = list(body.stacked)
    later = _later(body)
    after = {node.outputs[0] for node in later}
    given = {*body.sequences, *body.non_sequences}
    reads = [x for node in later for x in node.inputs if not isinstance(x, Constant)]
    stacked = [x for x in (*wanted, *reads) if x not in after and x not in given]
    stacked = [x for x in stacked if not isinstance(x, Constant)]
    stacked = list(dict.fromkeys(stacked))
    if sum(map(_weight, stacked)) > sum(map(_weight, dict.fromkeys(wanted))):
        own = [x for x in wanted if x not in given and not isinstance(x, Constant)]
        later, stacked = [], list(dict.fromkeys(own))
    body.stacked = stacked
    needed = {*wanted, *(x for node in later for x in node.inputs)}
    sequences = {x: body.checked_sequence(x) for x in body.sequences if x in needed}
    non_sequences, n_steps = dict(body.non_sequences), body.n_steps

    def stacks(results: ScanResults) -> list[Variable]:
        rows = {**sequences, **dict(zip(stacked, results.stacks, strict=True))}
        for node in later:
            made = _stacked(node, rows, non_sequences)
            if made is None:
                raise AssertionError(
                    f"{node.op} has a form over rows by _has_rows, and none by over_rows"
                )
            rows[node.outputs[0]] = made
        return [
            rows[y] if y in rows else _repeated(non_sequences.get(y, y), n_steps) for y in wanted
        ]

    return stacks


def _repeated(x: Variable, n_steps: Variable) -> Variable:
    return broadcast_to(expand_dims(x, (0,)), (n_steps, *lengths(x)))


def _later(body: ScanBody) -> list[FrozenApply]:
    """The nodes that can run after the scan, in order."""
    inside = ancestors([*body.next_states, *body.conditions])
    varying = dependents(body.outputs, body.varying)
    scalar = all(x.ndim == 0 for x in body.varying)
    nodes = _core.toposort(body.outputs)
    order = [node for node in nodes if node.outputs[0] not in inside]
    # Most often no shape must be looked at.
    by_values = not all(_takes_operands_shape(node.op) for node in nodes)
    shapes = cache(partial(StepShapes.of, body))
    later: dict[Variable, FrozenApply] = {}
    for node in order:
        y = node.outputs[0]
        worth = not scalar or is_function(node) or any(x in later for x in node.inputs)
        if y in varying and len(node.outputs) == 1 and worth and _has_rows(node, varying):
            if by_values and _may_disagree(node, shapes):
                continue
            later[y] = node
    # A node that stays needs its inputs in the scan.
    for node in reversed(order):
        if node.outputs[0] not in later:
            for x in node.inputs:
                later.pop(x, None)
    return [node for node in order if node.outputs[0] in later]


def _takes_operands_shape(op: Op) -> bool:
    """Whether the shapes of operands tell that of the result, whatever their values are."""
    return isinstance(
        op, Elemwise | Dot | ExpandDims | DropDims | Join | Transpose | Reduce | Shape_i
    )


def _may_disagree(node: FrozenApply, shapes: Callable[[], StepShapes]) -> bool:
    """Whether stacks of the operands may have rows of different lengths if there are no steps.

    Where only values tell the length of an operand, its stack has another one then.
    """
    operands = {x for x in node.inputs if x.ndim}
    unknown = [x for x in operands if None in x.type.shape]
    return len(operands) > 1 and bool(unknown) and not all(map(shapes().is_told, unknown))


def _weight(x: Variable) -> int:
    """An estimate of the memory that a row takes."""
    return math.prod(16 if length is None else length for length in x.type.shape)


def defer_sums(
    body: ScanBody, lasts: Collection[int]
) -> dict[int, Callable[[ScanResults], Variable]]:
    """Move sums of outer products of vectors after the scan, as one product of matrices.

    Parameters
    ----------
    lasts : collection of int
        The positions of the states whose last values are wanted.

    Returns
    -------
    dict of int to callable
        By the position of each state that is gone from the scan: computes its last value from the
        results of the scan.
    """
    made: dict[int, Callable[[ScanResults], Variable]] = {}
    kept: list[State] = []
    for at, state in enumerate(body.states):
        vectors = _summed_outer(state)
        if vectors is None:
            kept.append(state)
            continue
        other_states = [own.next for own in body.states if own is not state]
        elsewhere = ancestors([*other_states, *body.stacked, *body.conditions])
        alone = at in lasts and state.inner not in elsewhere
        needed = ancestors(vectors)
        # A scan of so many steps at least must not vanish: it raises where there are fewer.
        stays = not body.min_steps or any(own.inner in needed for own in body.states)
        if not alone or state.inner in needed or not stays:
            kept.append(state)
            continue
        body.stacked += vectors
        made[at] = partial(_total, state.initial, len(body.stacked))
    body.states = kept
    return made


def _total(initial: Variable, end: int, results: ScanResults) -> Variable:
    left, right = results.stacks[end - 2 : end]
    return initial + dot(permute_dims(left), right)


def _summed_outer(state: State) -> list[Variable] | None:
    """The two vectors whose outer product each step adds to a state; None if it adds no such."""
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
    """Whether a node can run for all steps at once, if these variables have a row for each step."""
    if isinstance(node.op, Elemwise):
        return True
    if isinstance(node.op, Dot):
        a, b = node.inputs
        return (a in rows) != (b in rows) and _is_row_product(a in rows, a, b)
    if isinstance(node.op, Join):
        return all(x in rows for x in node.inputs)
    return isinstance(node.op, ExpandDims | DropDims | Transpose | Reduce)


@singledispatch
def over_rows(op: Op, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    """Return the results of a node in all steps, a row for each step; None if there is no rule.

    ``rows`` maps inner variables that vary to stacks of them, ``non_sequences`` maps the others to
    outer variables.
    """
    return None


def _stacked(node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    """The results of a node in all steps, with the lengths that its type states for one step."""
    made = over_rows(node.op, node, rows, non_sequences)
    if made is None:
        return None
    own = node.output_types[0]
    return with_type_of(made, TensorType(own.dtype, [None, *own.shape]))


@over_rows.register
def _(op: Elemwise, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    ndim = node.outputs[0].ndim
    operands = []
    for x in node.inputs:
        if x in rows:
            missing = ndim - x.ndim
            operands.append(expand_dims(rows[x], tuple(range(1, 1 + missing))))
        else:
            operands.append(non_sequences.get(x, x))
    made: Variable = op.make_node(*operands).outputs[0]
    return made


@over_rows.register
def _(op: Dot, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    a, b = node.inputs
    if (a in rows) == (b in rows) or not _is_row_product(a in rows, a, b):
        return None
    if a in rows:
        return dot(rows[a], non_sequences.get(b, b))
    return dot(rows[b], permute_dims(non_sequences.get(a, a)))


def _is_row_product(first_varies: bool, a: Variable, b: Variable) -> bool:
    """Whether it multiplies a vector that varies by a fixed matrix."""
    varying, fixed = (a, b) if first_varies else (b, a)
    return varying.ndim == 1 and fixed.ndim == 2


@over_rows.register
def _(op: ExpandDims, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    return expand_dims(rows[node.inputs[0]], tuple(axis + 1 for axis in op.axes))


@over_rows.register
def _(op: DropDims, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    made: Variable = DropDims(tuple(axis + 1 for axis in op.axes))(rows[node.inputs[0]])
    return made


@over_rows.register
def _(op: Transpose, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    made: Variable = Transpose((0, *(axis + 1 for axis in op.axes)))(rows[node.inputs[0]])
    return made


@over_rows.register
def _(op: Join, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    if not all(x in rows for x in node.inputs):
        return None
    made: Variable = Join(op.axis + 1)(*(rows[x] for x in node.inputs))
    return made


@over_rows.register
def _(op: Reduce, node: FrozenApply, rows: Rows, non_sequences: Rows) -> Variable | None:
    made: Variable = type(op)(tuple(axis + 1 for axis in op.axes))(rows[node.inputs[0]])
    return made
