"""Compiling graphs to functions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import index
from time import perf_counter
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from frazil import _core
from frazil._core import FrozenFunctionGraph, Program, SharedVariable, Variable
from frazil.compile.argument import convert
from frazil.compile.mode import find_linker
from frazil.tensor.constants import TensorLike, as_tensor

Outputs: TypeAlias = TensorLike | Sequence[TensorLike] | Mapping[str, TensorLike] | None
Pairs: TypeAlias = Mapping[Any, TensorLike] | Iterable[tuple[Any, TensorLike]]

# Equal graphs compile once, for as long as a function uses the program.
_programs: WeakValueDictionary[Hashable, Program] = WeakValueDictionary()


class Function(_core.Function):
    """A compiled function; :func:`function` makes one.

    Attributes
    ----------
    fgraph : FrozenFunctionGraph
        The graph that it computes: inputs, then shared variables; outputs, then updates.
    inputs : tuple of Variable
        The variables that the graph's inputs were made of: parameters, then shared variables.
    program : Program
        The instructions that a call runs.
    mode : str
        The linker that made it.
    name : str or None
        The name given to it.
    threads : int
        The threads that a call uses at most.
    compile_time : float
        Seconds from the graph to the program.
    """

    fgraph: FrozenFunctionGraph
    inputs: tuple[Variable, ...]
    program: Program
    mode: str
    name: str | None
    compile_time: float

    def explain(self) -> str:
        """The program, an instruction a line."""
        return "\n".join(self.program.instructions)

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<frazil.Function{name}, mode {self.mode!r}, graph {self.fgraph.digest[:12]}>"


def function(
    inputs: Sequence[Variable],
    outputs: Outputs = None,
    mode: str | None = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
    name: str | None = None,
    on_unused_input: str = "raise",
    threads: int | None = None,
) -> Function:
    """Compile a graph to a function of arrays.

    Parameters
    ----------
    inputs : sequence of Variable
        The function's parameters, in order; those with names may be passed by keyword.
    outputs : Variable, or sequence or dict of them, optional
        What a call returns: an array, a list of arrays or a dict of arrays. Anything that can
        become a tensor will do.
    mode : {"c", "numba", "py"}, optional
        The linker. Default: ``c`` where there is a C compiler, else ``numba`` where it is
        installed, else ``py``.
    updates : dict or pairs of SharedVariable to tensor, optional
        New values of shared variables, stored after all outputs are computed: all of them, or none
        if the call fails.
    givens : dict or pairs of Variable to tensor, optional
        Substitutions made in the graph first, all at once.
    name : str, optional
        A name for messages.
    on_unused_input : {"raise", "warn", "ignore"}
        What to do about an input that nothing needs.
    threads : int, optional
        How many threads a call uses at most, to share the elements of large arrays; results do not
        depend on it. Default: what the environment variable ``OMP_NUM_THREADS`` says, else as many
        as the process may run at once. BLAS has threads of its own, which follow the same variable.

    Returns
    -------
    Function
        Its calls take arrays (or what converts to them without loss) of the inputs' types, return
        fresh arrays, release the GIL while they compute, and may run in many threads at once.

    Raises
    ------
    MissingInputError
        If the graph needs a variable that is not among the inputs.
    TypeError
        If an input is no variable, or an update does not fit its shared variable.
    ValueError
        If there is nothing that needs one of the inputs, or no positive number of threads.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> total = fz.shared(0.0, name="total")
    >>> f = fz.function([x], x * 2, updates={total: total + x.sum()})
    >>> f([1.0, 2.0])
    array([2., 4.])
    >>> total.get_value()
    array(3.)
    """
    if threads is not None and (isinstance(threads, bool) or index(threads) < 1):
        raise ValueError(f"threads must be a positive number or None, given {threads!r}")
    inputs = _checked_inputs(inputs)
    form, results = _flattened(outputs)
    stores = _checked_updates(updates)
    wanted = results + [value for _, value in stores]
    if givens is not None:
        pairs = givens.items() if isinstance(givens, Mapping) else givens
        replacements = {old: as_tensor(new, old.dtype) for old, new in pairs}
        wanted = _core.graph_replace(wanted, replacements)
    roots = _core.root_inputs(wanted)
    shared = [x for x in roots if isinstance(x, SharedVariable) and x not in inputs]
    _report_unused([x for x in inputs if x not in roots], on_unused_input)
    graph = FrozenFunctionGraph([*inputs, *shared], wanted)
    linker = find_linker(mode)
    start = perf_counter()
    program = _programs.get((graph, linker.name))
    if program is None:
        program = linker.compile(graph)
        _programs[graph, linker.name] = program
    made = Function(
        program,
        [(x.name, x.type) for x in inputs],
        shared,
        [(cell, len(results) + at) for at, (cell, _) in enumerate(stores)],
        form,
        convert,
        threads,
    )
    made.fgraph = graph
    made.inputs = (*inputs, *shared)
    made.program = program
    made.mode = linker.name
    made.name = name
    made.compile_time = perf_counter() - start
    return made


def _checked_inputs(inputs: Any) -> list[Variable]:
    if isinstance(inputs, Variable) or not isinstance(inputs, Iterable):
        raise TypeError("inputs must be a list of variables, as in fz.function([x], y)")
    checked = list(inputs)
    for position, x in enumerate(checked):
        if not isinstance(x, Variable):
            raise TypeError(f"input {position} must be a Variable, given {type(x).__name__}")
        if isinstance(x, SharedVariable):
            raise TypeError(
                f"input {position}, {x}, is a shared variable: its value is its own. Give it "
                "another value for one function with givens={shared: input}"
            )
    return checked


def _flattened(outputs: Any) -> tuple[Any, list[Variable]]:
    """The form in which results are returned, and the results."""
    if outputs is None:
        return None, []
    if isinstance(outputs, Mapping):
        return tuple(outputs), [as_tensor(output) for output in outputs.values()]
    if isinstance(outputs, list | tuple):
        return None, [as_tensor(output) for output in outputs]
    return "single", [as_tensor(outputs)]


def _checked_updates(updates: Pairs | None) -> list[tuple[SharedVariable, Variable]]:
    if updates is None:
        return []
    pairs = updates.items() if isinstance(updates, Mapping) else updates
    checked: dict[SharedVariable, Variable] = {}
    for cell, value in pairs:
        if not isinstance(cell, SharedVariable):
            raise TypeError(f"an update's key must be a shared variable, given {cell!r}")
        if cell in checked:
            raise ValueError(f"{cell} has two updates; a call stores one value")
        new = as_tensor(value, cell.dtype) if not isinstance(value, Variable) else value
        if not cell.type.accepts(new.type):
            raise TypeError(
                f"the update of {cell} must have type {cell.type}, given {new.type}; cast or "
                "reshape it"
            )
        checked[cell] = new
    return list(checked.items())


def _report_unused(unused: Sequence[Variable], action: str) -> None:
    if action not in ("raise", "warn", "ignore"):
        raise ValueError(f"on_unused_input must be 'raise', 'warn' or 'ignore', given {action!r}")
    if not unused or action == "ignore":
        return
    message = (
        f"no output needs {', '.join(map(str, unused))}; drop it from the inputs, or pass "
        "on_unused_input='ignore'"
    )
    if action == "raise":
        raise ValueError(message)
    warnings.warn(message, stacklevel=3)
