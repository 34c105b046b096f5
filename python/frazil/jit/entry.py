"""One compiled form of a Python function, and how a trace becomes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frazil._core import Variable
from frazil.compile.function import Function, function
from frazil.compile.mode import Mode
from frazil.jit.pytree import Structure, flatten, unflatten
from frazil.jit.specialization import Specialization
from frazil.jit.trace import Trace
from frazil.jit.traced import TracedArray, TracedLength, is_traced, plain


class Entry:
    """One compiled form of a function."""

    def __init__(
        self,
        compiled: Function | None,
        arrays: Sequence[int],
        pins: Sequence[tuple[int, int, int]],
        results: Results,
    ) -> None:
        self.compiled = compiled
        self._arrays = tuple(arrays)
        self._pins = tuple(pins)
        self._results = results

    def holds(self, leaves: Sequence[Any]) -> bool:
        """Whether the compiled form is right for arguments of its specialization."""
        return all(leaves[at].shape[axis] == length for at, axis, length in self._pins)

    def __call__(self, leaves: Sequence[Any]) -> Any:
        computed = (
            [] if self.compiled is None else self.compiled(*[leaves[at] for at in self._arrays])
        )
        return self._results.assemble(computed, leaves)


class Results:
    """What a function returned: computed arrays, arguments themselves, and other values."""

    def __init__(self, returned: Any, trace: Trace, arguments: dict[Variable, int]) -> None:
        leaves, self.structure = flatten(returned)
        traced = list(dict.fromkeys(id(leaf) for leaf in leaves if is_traced(leaf)))
        self._computed: list[TracedArray] = []
        self._steps: list[tuple[str, Any]] = []
        numbers: dict[Variable, int] = {}
        del traced
        for leaf in leaves:
            if not is_traced(leaf) or leaf._trace is not trace:
                self._steps.append(("value", plain(leaf)))
            elif leaf._variable in arguments:
                self._steps.append(("argument", arguments[leaf._variable]))
            else:
                kind = "length" if type(leaf) is TracedLength else "array"
                kind = "number" if kind == "array" and not leaf.ndim else kind
                at = numbers.setdefault(leaf._variable, len(numbers))
                self._steps.append((kind, at))
        self.variables: list[Variable] = list(numbers)

    def assemble(self, computed: Sequence[Any], leaves: Sequence[Any]) -> Any:
        """Return them for other arguments, in new containers."""
        made = []
        for kind, value in self._steps:
            if kind == "array":
                made.append(computed[value])
            elif kind == "number":
                made.append(computed[value][()])
            elif kind == "length":
                made.append(computed[value].item())
            else:
                made.append(leaves[value] if kind == "argument" else value)
        return unflatten(self.structure, made)


def run_traced(
    trace: Trace,
    fn: Callable[..., Any],
    called: Specialization,
    names: Sequence[str],
    keywords: Sequence[str],
    mode: Mode,
) -> tuple[Entry, Any]:
    """Run ``fn`` on traced arrays; return its compiled form, and what it returns."""
    leaves = list(called.leaves)
    arguments: dict[Variable, int] = {}
    for at in called.arrays:
        variable = trace.add_input(leaves[at], names[at])
        arguments[variable] = at
        leaves[at] = TracedArray(trace, variable, type(leaves[at]) is np.ndarray)
    args, kwargs = _rebuilt(called.structures, leaves, list(keywords))
    with trace.running():
        returned = fn(*args, **kwargs)
        results = Results(returned, trace, arguments)
    compiled = None
    if results.variables:
        inputs = [own.variable for own in trace.inputs]
        outputs = trace.settled(results.variables)
        compiled = function(inputs, outputs, mode, on_unused_input="ignore")
    pins = [(arguments[x], axis, length) for (x, axis), length in trace.pins.items()]
    entry = Entry(compiled, called.arrays, pins, results)
    return entry, entry(called.leaves)


def _rebuilt(
    structures: Sequence[Structure], leaves: Sequence[Any], keywords: Sequence[str]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, in new containers."""
    rest = iter(leaves)
    made = [unflatten(structure, rest) for structure in structures]
    positional = len(structures) - len(keywords)
    return tuple(made[:positional]), dict(zip(keywords, made[positional:], strict=True))
