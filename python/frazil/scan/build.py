"""``fz.scan``: runs the user's function once and builds a Scan from its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Any

import frazil._core as _core
from frazil._core import Constant, FrozenFunctionGraph, SharedVariable, TensorType, Variable
from frazil.graph.collection import is_mapping
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.inner.inner_graph import clone_nodes
from frazil.inner.sinking import sink_outputs
from frazil.random.streams import built_once
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.scan.arguments import (
    Carried,
    NonSequences,
    OutputsInfo,
    Sequences,
    Tap,
    listed,
    read_outputs_info,
    read_sequences,
)
from frazil.scan.initial_dtypes import infer_initial_dtypes
from frazil.scan.op import Scan
from frazil.tensor.buffers import Distinct
from frazil.tensor.checks import Check, checked
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import as_length, length, minimum, static_length


@dataclass(frozen=True)
class until:
    """Ends a :func:`scan` early: a step returns it beside its outputs.

    Parameters
    ----------
    condition : tensor_like
        A bool without dimensions; the first step in which it holds is the last one.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> powers, _ = fz.scan(lambda p: (2 * p, fz.until(p > 20)), outputs_info=[1], n_steps=100)
    >>> powers.eval()
    array([ 2,  4,  8, 16, 32, 64])
    """

    condition: TensorLike


@described
def scan(
    fn: Callable[..., object],
    sequences: Sequences = None,
    outputs_info: OutputsInfo = None,
    non_sequences: NonSequences = None,
    n_steps: int | Variable | None = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    name: str | None = None,
    strict: bool = False,
    return_list: bool = False,
    return_updates: bool = True,
) -> Any:
    """Apply a function step by step, each time to the outputs of earlier steps.

    Common forms are :func:`frazil.map`, :func:`frazil.reduce`, :func:`frazil.foldl` and
    :func:`frazil.foldr`; see also :func:`frazil.scan_checkpoints`.

    fn (callable): It is called with variables: the elements of the sequences (one for each tap),
        the outputs of earlier steps (one for each tap), then ``non_sequences``. It returns the
        outputs of a step; also, or instead, a dict of updates of shared variables, and
        :class:`until`. Any other variable that it uses has the same value in all steps.
    sequences (tensor_like or dict, or list of them): Each step reads one element along the first
        axis. With ``dict(input=x, taps=[-1, 0])`` it reads several, at these distances from its
        own.
    outputs_info (tensor_like, dict or None, or list of them): The value of each output before the
        first step, or None if no step reads the output. With ``dict(initial=x, taps=[-2, -1])`` a
        step reads outputs of several earlier steps; the initial value then has a row for each of
        these, the oldest first. A Python number takes the dtype of the steps' output; to find it,
        ``fn`` may be called again.
    non_sequences (tensor_like or list of them): Further arguments of ``fn``, the same in each step.
    n_steps (int or 0-d integer variable): The number of steps. Default: as many as the shortest
        sequence has elements.
    truncate_gradient (int): Gradients go back through at most so many of the last steps; -1:
        through all.
    go_backwards (bool): Go along the sequences from their last elements to the first.
    name (str): A name for messages.
    strict (bool): Raise if a step uses a variable that is not among the arguments.
    return_list (bool): Return a list of outputs even if there is only one.
    return_updates (bool): Return the updates, too.
    returns outputs (Variable, list of Variable or None): Each output of all steps, stacked along a
        new first axis.
    returns updates (dict of SharedVariable to Variable): The new values of shared variables, for
        :func:`frazil.function`; left out with ``return_updates=False``.
    raises TypeError: If an output does not have the type of its initial value.
    raises ValueError: If the number of steps is unknown, or ``fn`` returns more or fewer outputs
        than ``outputs_info`` has entries.
    raises MissingInputError: If ``strict`` and a step uses a variable that is no argument.

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> k, x = ft.iscalar("k"), ft.vector("x")
    >>> powers, _ = fz.scan(lambda p, x: p * x, outputs_info=ft.ones_like(x), non_sequences=x,
    ...                     n_steps=k)
    >>> fz.function([x, k], powers)([2.0, 3.0], 3)
    array([[ 2.,  3.],
           [ 4.,  9.],
           [ 8., 27.]])

    The Fibonacci numbers; each needs the two before it:

    >>> start = ft.constant([0, 1])
    >>> numbers, _ = fz.scan(lambda a, b: a + b,
    ...                      outputs_info=dict(initial=start, taps=[-2, -1]), n_steps=6)
    >>> numbers.eval()
    array([ 1,  2,  3,  5,  8, 13])
    """
    outputs, _, updates = build_scan(
        fn,
        sequences,
        outputs_info,
        non_sequences,
        n_steps,
        truncate_gradient,
        go_backwards,
        strict,
        name,
    )
    result: Any = outputs if return_list or len(outputs) > 1 else outputs[0] if outputs else None
    return (result, updates) if return_updates else result


def build_scan(
    fn: Callable[..., object],
    sequences: Sequences,
    outputs_info: OutputsInfo,
    non_sequences: NonSequences,
    n_steps: int | Variable | None,
    truncate_gradient: int,
    go_backwards: bool,
    strict: bool,
    name: str | None,
) -> tuple[list[Variable], list[Variable | None], dict[SharedVariable, Variable]]:
    """Return the stacked outputs, the last value of each carried output, and the updates.

    If there are no steps, the last value is the initial one.
    """
    if isinstance(truncate_gradient, bool) or not (
        index(truncate_gradient) == -1 or truncate_gradient > 0
    ):
        raise ValueError(
            "truncate_gradient must be a positive number of steps, or -1 for all, given "
            f"{truncate_gradient!r}"
        )
    taps = read_sequences(sequences, go_backwards=go_backwards)
    carried = read_outputs_info(outputs_info)
    fixed = [as_tensor(x) for x in listed(non_sequences)]
    initial = [x for one in carried if one is not None for x in one.initial]
    with in_container_of([*(tap.rows for tap in taps), *initial, *fixed]):
        steps = _number_of_steps(taps, n_steps)
        counted = [length(tap.rows, 0) for tap in taps]
        taps = [Tap(_first(tap.rows, steps), tap.lag, tap.name) for tap in taps]
        called = infer_initial_dtypes(carried, lambda own: _Call.of(fn, taps, own, fixed))
        step = _Step.of(called, fixed)
        if strict:
            step.check_strict(fixed)
        unread = [] if n_steps is None else step.unread(counted)
        known = static_length(steps) is not None
        enough = [n >= steps for n in unread if not (known and static_length(n) is not None)]
        return step.apply_scan(taps, steps, enough, truncate_gradient, name)


def last_states(lasts: Sequence[Variable | None]) -> list[Variable]:
    """Return the last states that :func:`build_scan` gave, of a scan that stacks nothing.

    Batches of such scans may end after different numbers of steps.
    """
    found = [x for x in lasts if x is not None]
    if not found:
        return []
    node = found[0].owner
    assert node is not None
    assert isinstance(node.op, Scan)
    scan, outputs = node.op, node.op.fgraph.outputs
    kept = [*outputs[: scan.n_states], *(outputs[-1:] if scan.until else ())]
    op = replace(scan, fgraph=FrozenFunctionGraph(scan.fgraph.inputs, kept))
    made = op.make_node(*node.inputs).outputs
    return [made[node.outputs.index(x)] for x in found]


def _number_of_steps(taps: Sequence[Tap], n_steps: int | Variable | None) -> Variable:
    if n_steps is not None:
        steps = as_length(n_steps)
        static = static_length(steps)
        if static is not None and static < 0:
            raise ValueError(f"the number of steps cannot be negative, given {static}")
        return steps
    if not taps:
        raise ValueError("the number of steps of the scan is unknown: pass n_steps, or sequences")
    steps = length(taps[0].rows, 0)
    for tap in taps[1:]:
        steps = minimum(steps, length(tap.rows, 0))
    return steps


def _first(rows: Variable, steps: Variable) -> Variable:
    """The rows of the first steps."""
    own = length(rows, 0)
    if own is steps:
        return rows
    given, wanted = static_length(own), static_length(steps)
    if given is not None and wanted is not None and given < wanted:
        raise ValueError(f"a sequence has {given} elements for {wanted} steps")
    return rows[:steps]


@dataclass(frozen=True)
class _Signature:
    """The arguments of a step and its results."""

    carried: Sequence[Carried | None]
    elements: Sequence[Variable]
    lagged: Sequence[Sequence[Variable]]
    """For each carried output variables for its value one step ago, two steps ago, ..."""
    outputs: Sequence[Variable]
    updates: Mapping[SharedVariable, Variable]
    condition: Variable | None


@dataclass(frozen=True)
class _Call(_Signature):
    """A call of the user's function: the variables that it took, and those that it returned."""

    before: int
    """A tag that is greater than the tags of all nodes from before the call."""

    @staticmethod
    def of(
        fn: Callable[..., object],
        taps: Sequence[Tap],
        carried: Sequence[Carried | None],
        fixed: Sequence[Variable],
    ) -> _Call:
        elements = [tap.element() for tap in taps]
        lagged: list[list[Variable]] = []
        earlier: list[Variable] = []
        for one in carried:
            if one is None:
                lagged.append([])
                continue
            own = [x.type(f"{one.name}[t-{lag}]") for lag, x in enumerate(one.initial, 1)]
            lagged.append(own)
            earlier += [own[lag - 1] for lag in one.taps]
        before = Distinct()(_core.constant(0)).owner.distinct
        with built_once():
            returned = fn(*elements, *earlier, *fixed)
        outputs, updates, condition = _read_returned(returned)
        if carried and len(carried) != len(outputs):
            raise ValueError(
                f"a step returns {len(outputs)} outputs, and outputs_info has {len(carried)} "
                "entries; give one for each output, None if no step reads it"
            )
        if not carried:
            carried, lagged = [None] * len(outputs), [[] for _ in outputs]
        return _Call(carried, elements, lagged, outputs, updates, condition, before)


@dataclass(frozen=True)
class _Step(_Signature):
    """One step as a graph, over variables that stand for its arguments."""

    updated: Mapping[SharedVariable, Variable]
    """The variables that stand for shared variables with updates."""
    computed_once: frozenset[Variable]
    """Results of impure nodes from before the call: these run once, not in each step."""

    @staticmethod
    def of(called: _Call, fixed: Sequence[Variable]) -> _Step:
        carried, updates = called.carried, called.updates
        updated: dict[SharedVariable, Variable] = {x: x.type(x.name) for x in updates}
        ends = [] if called.condition is None else [called.condition]
        results, lagged = _widen_states([*called.outputs, *ends], carried, called.lagged)
        outputs, ends = results[: len(called.outputs)], results[len(called.outputs) :]
        news = [_as_update(new, x) for x, new in updates.items()]
        replaced = _core.graph_replace([*outputs, *news, *ends], list(updated.items()))
        computed_once = [
            y
            for node in _core.toposort(replaced)
            if not node.op.pure and (node.distinct or 0) < called.before
            for y in node.outputs
        ]
        # A node that only a branch needs must not run before the scan: no step may take the branch.
        replaced = sink_outputs(replaced, [*fixed, *computed_once])
        return _Step(
            carried,
            called.elements,
            lagged,
            replaced[: len(outputs)],
            dict(zip(updates, replaced[len(outputs) :], strict=False)),
            replaced[-1] if ends else None,
            updated,
            frozenset(computed_once),
        )

    @property
    def placeholders(self) -> list[Variable]:
        """The variables for elements and states, in the order of the inputs of a Scan's graph."""
        return [*self.elements, *(x for own in self.lagged for x in own), *self.updated.values()]

    @property
    def results(self) -> list[Variable]:
        """All variables that a step computes."""
        ends = [] if self.condition is None else [self.condition]
        return [*self.outputs, *self.updates.values(), *ends]

    def check_strict(self, fixed: Sequence[Variable]) -> None:
        """Raise if a step uses a variable that is no argument."""
        allowed = {*self.placeholders, *fixed}
        pending = list(self.results)
        seen: set[Variable] = set()
        while pending:
            x = pending.pop()
            if x in seen or x in allowed or isinstance(x, Constant):
                continue
            seen.add(x)
            if x.owner is None:
                raise _core.MissingInputError(
                    f"a step uses {x} of type {x.type}, which is not among its arguments; pass it "
                    "as one of non_sequences, or leave out strict=True"
                )
            pending += x.owner.inputs

    def unread(self, counted: Sequence[Variable]) -> list[Variable]:
        """The lengths of sequences that no step reads from."""
        read = {x for node in _core.toposort(self.results) for x in node.inputs}
        read.update(self.results)
        return [n for n, x in zip(counted, self.elements, strict=True) if x not in read]

    def apply_scan(
        self,
        taps: Sequence[Tap],
        steps: Variable,
        enough: Sequence[Variable],
        truncate_gradient: int,
        name: str | None,
    ) -> tuple[list[Variable], list[Variable | None], dict[SharedVariable, Variable]]:
        """The stacked outputs, the last value of each carried output, and the updates.

        ``enough`` are conditions that the run checks: no rule that leaves a sequence out may lose
        them.
        """
        placeholders = self.placeholders
        impure = [
            y
            for node in _core.toposort(self.results, list(self.computed_once))
            if not node.op.pure
            for y in node.outputs
        ]
        non_sequences = loop_invariants(self.results, placeholders, impure)
        nexts = [
            x
            for y, own in zip(self.outputs, self.lagged, strict=True)
            if own
            for x in (y, *own[:-1])
        ]
        nexts += self.updates.values()
        ends = [] if self.condition is None else [self.condition]
        op = Scan(
            FrozenFunctionGraph([*placeholders, *non_sequences], [*nexts, *self.outputs, *ends]),
            len(taps),
            len(nexts),
            until=bool(ends),
            truncate_gradient=truncate_gradient,
            name=name,
        )
        initial = [x for one in self.carried if one is not None for x in one.initial]
        fewer = Check("a sequence has fewer elements than the scan has steps")
        initial[:1] = [checked(x, enough, fewer) for x in initial[:1]]
        operands = [*(tap.rows for tap in taps), *initial, *self.updated, *non_sequences]
        made: Sequence[Variable] = op.make_node(steps, *operands).outputs
        if not initial:
            made = [checked(y, enough, fewer) for y in made]
        first = len(nexts) - len(self.updates)
        updates = dict(zip(self.updated, made[first : len(nexts)], strict=True))
        states = iter(made)
        lasts = [[next(states) for _ in own] for own in self.lagged]
        return (
            list(made[len(nexts) : len(nexts) + len(self.outputs)]),
            [own[0] if own else None for own in lasts],
            updates,
        )


def loop_invariants(
    results: Sequence[Variable], varying: Sequence[Variable], impure: Sequence[Variable] = ()
) -> list[Variable]:
    """Return the loop-invariant variables that ``results`` need: they depend on no ``varying`` one.

    Of these only the last are returned, from which all others can be left out, and no constants.
    ``impure`` variables vary, too, whatever they are computed from.
    """
    changing = {*varying, *impure}
    order = _core.toposort(list(results), list(varying))
    for node in order:
        if any(x in changing for x in node.inputs):
            changing.update(node.outputs)
    met = [x for node in order if node.outputs[0] in changing for x in node.inputs]
    found = dict.fromkeys(x for x in (*met, *results) if x not in changing)
    return [x for x in found if not isinstance(x, Constant)]


def _read_returned(
    returned: object,
) -> tuple[list[Variable], dict[SharedVariable, Variable], Variable | None]:
    """The outputs, updates and condition that a step returned."""
    outputs: list[Variable] = []
    updates: dict[SharedVariable, Variable] = {}
    condition: Variable | None = None
    for part in _flattened(returned):
        if isinstance(part, until):
            if condition is not None:
                raise ValueError(
                    "a step returns two conditions on which the scan ends; return one fz.until, of "
                    "both: fz.until(ft.logical_or(a, b))"
                )
            condition = as_tensor(part.condition)
            if condition.ndim or condition.dtype != "bool":
                raise TypeError(
                    f"until takes a bool without dimensions, given {condition} of type "
                    f"{condition.type}"
                )
        elif is_mapping(part):
            for x, new in part.items():
                if not isinstance(x, SharedVariable):
                    raise TypeError(f"a step updates shared variables only, given {x!r}")
                updates[x] = as_tensor(new, x.dtype) if not isinstance(new, Variable) else new
        else:
            outputs.append(as_tensor(part))
    if not outputs and not updates:
        raise TypeError(
            "a step of a scan returns no output and no update, so there is nothing to compute; "
            "does its function lack a return?"
        )
    return outputs, updates, condition


def _flattened(returned: Any) -> list[Any]:
    """Outputs, dicts of updates and conditions, without the lists that a step may put them in."""
    parts = [] if returned is None else list(returned) if _is_list(returned) else [returned]
    flat: list[Any] = []
    for part in parts:
        nested = _is_list(part) and len(parts) <= 3
        if nested and part and all(_is_update(pair) for pair in part):
            flat.append(dict(part))
        elif nested:
            flat += part
        else:
            flat.append(part)
    return flat


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _is_update(pair: Any) -> bool:
    return _is_list(pair) and len(pair) == 2 and isinstance(pair[0], SharedVariable)


def _widen_states(
    results: list[Variable],
    carried: Sequence[Carried | None],
    lagged: Sequence[Sequence[Variable]],
) -> tuple[list[Variable], Sequence[Sequence[Variable]]]:
    """The results and the lagged variables, with types that a state keeps from step to step.

    A length that the type of the initial value states and that of the output does not is left open;
    the run checks it.
    """
    while True:
        wider: dict[Variable, Variable] = {}
        for y, one, own in zip(results, carried, lagged, strict=False):
            if one is None or own[0].type.accepts(y.type):
                continue
            shared = _common_type(own[0].type, y.type)
            if shared is None:
                raise TypeError(
                    _type_change(one.name, own[0], y, "the initial value in outputs_info")
                )
            wider.update({x: shared(x.name) for x in own})
        if not wider:
            return results, lagged
        lagged = [[wider.get(x, x) for x in own] for own in lagged]
        order = _core.toposort(results, list(wider))
        results = clone_nodes(results, order, wider)


def _common_type(a: TensorType, b: TensorType) -> TensorType | None:
    """The type that accepts values of both types; None if there is none."""
    if a.dtype != b.dtype or a.ndim != b.ndim:
        return None
    lengths = list(zip(a.shape, b.shape, strict=True))
    if any(None not in pair and pair[0] != pair[1] for pair in lengths):
        return None
    return TensorType(a.dtype, [m if m == n else None for m, n in lengths])


def _as_update(new: Variable, shared: SharedVariable) -> Variable:
    if shared.type.accepts(new.type):
        return new
    raise TypeError(_type_change(f"the shared variable {shared.name or shared}", shared, new, "it"))


def _type_change(name: str, before: Variable, after: Variable, what: str) -> str:
    """The message for a state whose type a step changes."""
    if before.dtype != after.dtype:
        kept, way = "dtype", f"cast {what} to {after.dtype}, or what the step returns to"
        way = f"{way} {before.dtype}"
    elif before.ndim != after.ndim:
        kept, way = "rank", f"give {what} {_dims(after)}, or what the step returns {_dims(before)}"
    else:
        kept, way = "shape", f"give {what} the shape that the step returns, or the other way round"
    return (
        f"{name} starts with type {before.type} and has type {after.type} after a step; a state "
        f"keeps its {kept}: {way}"
    )


def _dims(x: Variable) -> str:
    return "1 dimension" if x.ndim == 1 else f"{x.ndim} dimensions"
