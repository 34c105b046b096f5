"""One compiled form of a Python function, and how a trace becomes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from frazil._core import FrozenFunctionGraph, Guards, MissingInputError, Variable
from frazil.compile.function import Function, function
from frazil.compile.mode import Mode
from frazil.graph.answers import strangers
from frazil.graph.op import Array
from frazil.jit.captures import CapturingTrace, Watch
from frazil.jit.forms import told_arguments, told_result
from frazil.jit.given import Given, can_be_written, plain_tree, write_back
from frazil.jit.identity import is_one_of
from frazil.jit.leaks import replace_leaked
from frazil.jit.progress import Calls
from frazil.jit.pytree import (
    CircularContainerError,
    Node,
    Structure,
    flatten,
    parts_of,
    unflatten,
)
from frazil.jit.specialization import Specialization, holds_repeated
from frazil.jit.trace import Trace
from frazil.jit.traced import TracedArray, TracedLength, is_traced, plain
from frazil.jit.walk import Check

_VALUES = (int, float, complex, bool, str, bytes, type(None), type(...), range, slice, np.dtype)


class Entry:
    """One compiled form of a function, or the reasons why there is none."""

    def __init__(
        self,
        compiled: Function | None,
        arrays: Sequence[int],
        pins: Sequence[tuple[int, int, int]],
        results: Results,
        checks: Sequence[Check],
        told: Sequence[str],
    ) -> None:
        self.compiled = compiled
        self.guards = Guards(checks)
        self.told = list(told)
        self.expected = [check[3] for check in checks]
        self.pins = tuple(pins)
        self.arguments: tuple[str, ...] = ()
        self.form: tuple[Any, ...] | None = None
        """As Rust takes it; None if calls are looked up in Python."""
        self.distinct: frozenset[int] | None = None
        """If no argument may be another one: the ids of captured objects, which none may be."""
        self.has_effects = False
        """Whether it makes callbacks."""
        self.is_watched = False
        """Whether these may change what the function reads."""
        self._arrays = tuple(arrays)
        self._results = results
        self._checks = checks

    def lifted(self, leaves: Sequence[Any]) -> list[Any] | None:
        """The captured arrays that it reads; None if it is not right for this call."""
        if all(leaves[at].shape[axis] == length for at, axis, length in self.pins):
            return self.guards.arrays()
        return None

    def differs_in_arrays(self, other: Entry) -> bool:
        """Whether captured arrays, or their elements, are all that tells it from one made now."""
        if self.compiled is None or other.compiled is None or self.pins != other.pins:
            return False
        if self.compiled.fgraph is not other.compiled.fgraph or self.told != other.told:
            return False
        rest = [check for check in self._checks if not _is_of_array(check)]
        return Guards(rest).first_failure() is None

    def calls(self, leaves: Sequence[Any], lifted: Sequence[Any], earlier: int = 0) -> Calls:
        """The callbacks of a call with these arrays, of which some were made before."""
        if not self.is_watched:
            return Calls(earlier)
        arrays = [*[leaves[at] for at in self._arrays], *lifted]
        before = [array.tobytes() for array in arrays]

        def changed() -> str | None:
            failed = self.guards.first_failure()
            if failed is not None:
                return self.told[failed]
            now = self.guards.arrays()
            if now is None or any(one is not own for one, own in zip(now, lifted, strict=True)):
                return "a captured array"
            if any(array.tobytes() != own for array, own in zip(arrays, before, strict=True)):
                return "an array that the function computes with"
            return None

        return Calls(earlier, changed)

    def __call__(self, leaves: Sequence[object], lifted: Sequence[object]) -> Any:
        computed: Sequence[Any] = ()
        if self.compiled is not None:
            computed = self.compiled(*[leaves[at] for at in self._arrays], *lifted)
        return self._results.assemble(computed, leaves)


def _is_of_array(check: Check) -> bool:
    """Whether a check is about a captured array."""
    place, _, _, expected = check
    return place in ("layout", "bytes") or any(type(x) is np.ndarray for x in expected)


class Results:
    """The return value of a function: computed arrays, arguments themselves, and other values."""

    def __init__(
        self,
        leaves: Sequence[Any],
        structure: Structure,
        trace: Trace,
        arguments: Mapping[int, int],
        captured: Mapping[int, object],
    ) -> None:
        """Take what was returned; ``arguments`` has the leaf of each object by its id."""
        self.structure = structure
        self.reasons: list[str] = []
        self._steps: list[tuple[str, Any]] = []
        numbers: dict[Variable, int] = {}
        for leaf in leaves:
            if id(leaf) in arguments:
                self._steps.append(("argument", arguments[id(leaf)]))
            elif is_traced(leaf) and leaf._trace is trace:
                kind = "length" if type(leaf) is TracedLength else "array"
                kind = "number" if kind == "array" and not leaf.ndim else kind
                at = numbers.setdefault(leaf._variable, len(numbers))
                self._steps.append((kind, at))
            else:
                self._steps.append(self._constant(leaf, captured))
        # The last node that does something runs after all others that do.
        self.variables: list[Variable] = [*numbers, *trace.effects[-1:]]

    def _constant(self, leaf: Any, captured: Mapping[int, object]) -> tuple[str, object]:
        """A value that no array tells: itself, or a copy if each call makes it anew."""
        kind = type(leaf)
        if (
            id(leaf) in captured
            or is_one_of(kind, _VALUES)
            or isinstance(leaf, np.generic | np.dtype | type)
        ):
            return "value", leaf
        if kind is np.ndarray or (is_one_of(kind, (set, bytearray)) and all(map(_is_value, leaf))):
            return "copy", leaf
        if kind is frozenset and all(map(_is_value, leaf)):
            return "value", leaf
        self.reasons.append(f"it returns a new {kind.__qualname__}")
        return "value", leaf

    def told(self, called: Specialization) -> tuple[Any, ...] | None:
        """The return value, for Rust."""
        return told_result(self.structure, self._steps, called)

    def assemble(self, computed: Sequence[object], leaves: Sequence[object]) -> object:
        """Return them for other arguments, in new containers."""
        made = []
        for kind, value in self._steps:
            if kind == "array":
                made.append(computed[value])
            elif kind == "number":
                made.append(computed[value][()])
            elif kind == "length":
                made.append(computed[value].item())
            elif kind == "argument":
                made.append(leaves[value])
            else:
                made.append(value if kind == "value" else value.copy())
        return unflatten(self.structure, made)


def evaluated(value: object) -> object:
    """The return value of plain Python, with the arrays that its variables compute."""
    try:
        leaves, structure = flatten(value)
    except CircularContainerError:
        return value
    if not any(isinstance(leaf, Variable) for leaf in leaves):
        return value
    made = [leaf.eval()[()] if isinstance(leaf, Variable) else leaf for leaf in leaves]
    return unflatten(structure, made)


def _is_value(value: object) -> bool:
    return is_one_of(type(value), _VALUES)


class Run:
    """One run of a function on traced arrays."""

    def __init__(
        self,
        fn: Callable[..., object],
        called: Specialization,
        names: Sequence[str],
        keywords: Sequence[str],
        arguments: Sequence[object],
        watch: Watch,
        static_shapes: bool = False,
    ) -> None:
        self._called, self._watch, self._keywords = called, watch, list(keywords)
        self.trace = CapturingTrace(watch)
        leaves = list(called.leaves)
        self._arguments: dict[Variable, int] = {}
        objects: dict[int, int] = {}
        for at, leaf in enumerate(called.leaves):
            if at in called.arrays:
                variable = self.trace.add_input(leaf, names[at], static_shapes)
                self._arguments[variable] = at
                leaves[at] = TracedArray(self.trace, variable, type(leaf) is np.ndarray)
            if at in called.arrays or type(leaf) not in _VALUES:
                objects[id(leaves[at])] = at
        args, kwargs = _rebuilt(called.structures, leaves, list(keywords))
        given = Given((*args, *kwargs.values()), arguments)
        captured = watch.snapshot.seen
        self._given, self._objects = given, objects
        self._kept = leaves  # so that the identities in objects stay those of these
        with self.trace.running():
            with watch.running():
                try:
                    returned = fn(*args, **kwargs)
                except Exception as error:
                    raise self._settled(error) from error.__cause__
            if self.trace.refused is not None:
                raise self.trace.refused
            met: set[int] = set()
            self.leaves, structure = flatten(
                returned, lambda value: id(value) in captured or _is_repeated(value, met)
            )
            self._returned = returned
            self.leaves = [_as_traced(self.trace, leaf) for leaf in self.leaves]
            self.results = Results(self.leaves, structure, self.trace, objects, captured)
        self.reasons = [*self.trace.reasons, *watch.reasons, *self.results.reasons]
        self._changed = given.changed()
        self.changed_arguments = bool(self._changed)
        if self._changed:
            self.reasons.append("it changes a container that it was given")

    def why_not_written(self, given: Sequence[object]) -> str | None:
        """Why the caller's arguments cannot be changed as the copies were; None if they can."""
        if not can_be_written(self._changed):
            return "it changes an object of a registered class that it was given"
        if self._changed and holds_repeated(given, (), arrays=False):
            return "it changes a container that it was given twice"
        return None

    def _settled(self, error: Exception) -> Exception:
        """The error that leaves the function, or why it took a way that plain Python does not."""
        self.trace.close()
        replace_leaked(self.trace, self._plain_leaf, self._watch.snapshot.holders())
        error.args = plain_tree(error.args, self._plain_leaf, {})
        refused = self.trace.refused
        return error if refused is None or refused is error else refused

    def _graph(self) -> tuple[list[Variable], list[Variable]]:
        inputs = [*self._arguments, *self._watch.lifted_inputs()]
        return inputs, self.trace.settled(self.results.variables)

    def computes_as(self, entry: Entry) -> bool:
        """Whether a compiled form computes what this run did, so that it would fail again."""
        if entry.compiled is None or not self.results.variables:
            return False
        return FrozenFunctionGraph(*self._graph()) is entry.compiled.fgraph

    def entry(self, mode: Mode) -> Entry:
        """The compiled form."""
        compiled = None
        if self.results.variables:
            inputs, outputs = self._graph()
            try:
                compiled = function(inputs, outputs, mode, on_unused_input="ignore")
            except MissingInputError as error:
                raise _of_a_graph(strangers(outputs, inputs)) from error
        pins = [
            (self._arguments[x], axis, length)
            for (x, axis), length in self.trace.pins.items()
            if x in self._arguments
        ]
        checks, told = self._watch.guards({x for x, _ in self.trace.pins})
        entry = Entry(compiled, self._called.arrays, pins, self.results, checks, told)
        arguments = told_arguments(self._called, self._keywords, pins)
        result = self.results.told(self._called)
        snapshot = self._watch.snapshot
        distinct_from = None
        if snapshot.tells_identity:
            entry.distinct = frozenset(snapshot.seen)
            lifted_ids = self._watch.lifted
            distinct_from = [
                own.array for key, own in snapshot.arrays.items() if key not in lifted_ids
            ]
            numbers = any(isinstance(leaf, np.generic) for leaf in self._called.leaves)
            if numbers or any(isinstance(own, Node) for own in self._called.structures):
                arguments = None  # they are looked up in Python
        entry.has_effects = bool(self.trace.effects)
        entry.is_watched = bool(self._watch.callbacks)
        if entry.has_effects:
            arguments = None  # Python keeps count of the callbacks
        if arguments is not None and result is not None:
            entry.form = (*arguments, entry.guards, compiled, result, distinct_from)
        return entry

    def lifted_inputs(self) -> list[Array]:
        """The values of the captured arrays that the compiled form reads, in its order."""
        values = {own.variable: own.array for own in self.trace.inputs}
        return [values[x] for x in self._watch.lifted_inputs()]

    def plain_result(self) -> object:
        """The return value that plain Python would give, if the trace stands for this call only.

        Arrays that the function left elsewhere become plain, too.
        """
        made = self._given.originals()
        write_back(self._changed, self._plain_leaf, made, self._watch.snapshot.seen)
        leaves = {id(leaf) for leaf in self.leaves}
        result = plain_tree(self._returned, self._plain_leaf, made, leaves)
        replace_leaked(self.trace, self._plain_leaf, self._watch.snapshot.holders())
        return result

    def _plain_leaf(self, leaf: object) -> object:
        if isinstance(leaf, Variable):
            leaf = TracedArray(self.trace, leaf)
        at = self._objects.get(id(leaf))
        return plain(leaf) if at is None else self._called.leaves[at]


def _is_repeated(value: object, met: set[int]) -> bool:
    """Whether a container was met before, which a new one for each place would not tell."""
    if is_traced(value) or type(value) is tuple or parts_of(value) is None:
        return False
    before = len(met)
    met.add(id(value))
    return len(met) == before


def _as_traced(trace: Trace, leaf: object) -> object:
    """The result of functions on variables, as a traced array."""
    if not isinstance(leaf, Variable):
        return leaf
    trace.symbolic = True
    return TracedArray(trace, leaf)


def _rebuilt(
    structures: Sequence[Structure], leaves: Sequence[object], keywords: Sequence[str]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments of a call, in new containers."""
    rest = iter(leaves)
    made = [unflatten(structure, rest) for structure in structures]
    positional = len(structures) - len(keywords)
    return tuple(made[:positional]), dict(zip(keywords, made[positional:], strict=True))


def _of_a_graph(variables: Sequence[Variable]) -> TypeError:
    """The error for variables, other than those of the run, that results are computed from."""
    names = ", ".join(map(str, variables))
    return TypeError(
        f"a function of arrays was given {names} of a graph, or captured it. The plain function, "
        "without fz.jit, fz.vmap or fz.grad, makes graphs of variables; fz.vectorize(y, {x: "
        "batch}) is its batch, and fz.grad(cost, x) its gradient"
    )
