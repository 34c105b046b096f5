"""Compiling graphs to functions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from time import perf_counter
from typing import Any, TypeAlias

import frazil._core as _core
from frazil._core import CFunction, FrozenFunctionGraph, Program, SharedVariable, Variable
from frazil.compile.argument import convert
from frazil.compile.blueprint import Blueprint, from_state
from frazil.compile.explanation import Explanation, explain
from frazil.compile.fallback import find_best_program
from frazil.compile.generators import states_left
from frazil.compile.memory import MemoryPlan, memory_plan
from frazil.compile.mode import ModeLike, as_mode, find_linker
from frazil.compile.programs import Compiled, find_program
from frazil.compile.shapes import shapes_of_inputs
from frazil.compile.specification import In, Out
from frazil.graph.call_site import users_level
from frazil.graph.collection import is_mapping
from frazil.link.linkers.c_first import reason_in_graph
from frazil.scalar.constants import TensorLike, as_tensor

Result: TypeAlias = TensorLike | Out
Outputs: TypeAlias = Result | Sequence[Result] | Mapping[str, Result] | None
Pairs: TypeAlias = Mapping[Any, TensorLike] | Iterable[tuple[Any, TensorLike]]


class Function(_core.Function):
    """A compiled function; :func:`function` makes one.

    A pickle holds the graph, and shared variables with their values; loading it compiles it
    again, or finds it in the cache. ``copy.deepcopy`` too gives a function with shared variables
    of its own, ``copy.copy`` one with the same.

    Attributes
    ----------
    blueprint : Blueprint
        The specification of the function.
    compiled : Compiled
        The program, and the graph that the linker made it of.
    mode : str
        The linker that made it.
    threads : int
        The threads that a call uses at most.
    compile_time : float
        Seconds from the graph to the program.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> x, y = ft.dscalar("x"), ft.dscalar("y")
    >>> f = fz.function([x, y], x - y, mode="py")
    >>> f(3.0, y=1.0)
    array(2.)
    >>> print(fz.pp(f.optimized), f.mode)
    *0 - *1 py
    """

    blueprint: Blueprint
    compiled: Compiled
    mode: str
    compile_time: float

    @property
    def fgraph(self) -> FrozenFunctionGraph:
        """The graph that it computes: inputs, then shared variables; outputs, then updates."""
        return self.blueprint.graph

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """The variables that the graph's inputs were made of: parameters, then shared variables."""
        return (*self.blueprint.variables, *self.blueprint.shared)

    @property
    def name(self) -> str | None:
        """The name given to it."""
        return self.blueprint.name

    @property
    def program(self) -> Program:
        """The instructions that a call runs."""
        return self.compiled.program

    @property
    def optimized(self) -> FrozenFunctionGraph:
        """The rewritten graph, which the linker compiled."""
        return self.compiled.graph

    def explain(self, *shapes: object, **named: object) -> Explanation:
        """Report the work of a call: its segments, and the number of its bindings.

        Parameters
        ----------
        *shapes, **named : tuple of int, or array
            The shape of each argument, or an array that has it, to be told with which sizes; those
            that the type states completely may be left out. Without any, no sizes are told.

        Returns
        -------
        Explanation
            ``str`` shows it, and the program.

        Examples
        --------
        >>> import frazil as fz
        >>> import frazil.tensor as ft
        >>> x = ft.matrix("x")
        >>> f = fz.function([x], ft.tanh(x @ ft.exp(x)) * 2, mode="c")
        >>> [f(eye).shape for eye in ([[1.0]], [[2.0]], [[3.0, 0.0], [0.0, 3.0]])]
        [(1, 1), (1, 1), (2, 2)]
        >>> print(f.explain((3, 3)))
        c: segments 3, kernels 2, bindings 2, hits 1
        %0 = input float64[?, ?]
        n0 = %0.shape[0]
        n1 = %0.shape[1]
        0: exp -> (3, 3)
            %1 = loop k0(n0, n1) %0[0, 1] -> [0, 1]
        1: Dot -> (3, 3)
            %2 = dot %0 %1
        ...
        """
        known = shapes or named or all(None not in x.type.shape for x in self.inputs)
        dims = self._shapes_of_inputs(shapes, named) if known else None
        mode = self.blueprint.mode
        chosen = mode.linker is None and mode.tiered and self.mode == "c"
        untiered = reason_in_graph(self.fgraph) if chosen else None
        return explain(self.program, self.mode, dims, untiered)

    def address(self, *arguments: object) -> CFunction:
        """The function for callers in C, which need neither Python nor its lock.

        The address is that of ``int32_t f(const void *context, const void *const *inputs,
        void *const *outputs)``. It takes ``context`` as it is, and the address of the first element
        of each argument and of each result: aligned, in C order, of the dtypes and shapes that are
        fixed here. Results share memory with nothing else. It gives 0, or another number after an
        error. Calls may run in many threads at once, each on its thread alone.

        Parameters
        ----------
        *arguments : array_like
            An argument for each parameter, whose values do not matter. Shared variables keep the
            values that they have now.

        Returns
        -------
        CFunction
            With ``address``, ``context``, ``input_shapes`` and ``output_shapes``. Both addresses
            are valid as long as it lives.

        Raises
        ------
        TypeError
            If calls update shared variables or write to arguments, or if the shapes of results
            depend on values.

        Examples
        --------
        >>> import ctypes
        >>> import numpy as np
        >>> import frazil as fz
        >>> import frazil.tensor as ft
        >>> x = ft.dvector("x")
        >>> made = fz.function([x], ft.exp(x).sum(), mode="c").address(np.zeros(3))
        >>> made.input_shapes, made.output_shapes
        ([[3]], [[]])
        >>> pointers = ctypes.POINTER(ctypes.c_void_p)
        >>> kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, pointers, pointers)
        >>> value, result = np.zeros(3), np.zeros(())
        >>> of = lambda array: (ctypes.c_void_p * 1)(array.ctypes.data)
        >>> kind(made.address)(made.context, of(value), of(result)), float(result)
        (0, 3.0)
        """
        return self._c_function(*arguments)

    def memory_plan(self, *shapes: object, **named: object) -> MemoryPlan:
        """Report the memory that a call with arguments of these shapes needs.

        Parameters
        ----------
        *shapes, **named : tuple of int, or array
            The shape of each argument, or an array that has it; those that the type states
            completely may be left out. Arguments are taken to lie in C order.

        Returns
        -------
        MemoryPlan
            ``peak`` is the number of bytes that the call allocates; ``str`` shows all buffers.

        Examples
        --------
        >>> import frazil as fz
        >>> import frazil.tensor as ft
        >>> x = ft.dmatrix("x")
        >>> f = fz.function([x], ft.dot(x, ft.exp(x)).sum())
        >>> f.memory_plan((100, 100)).peak
        160008
        """
        return memory_plan(self, self._shapes_of_inputs(shapes, named))

    def _shapes_of_inputs(
        self, shapes: Sequence[object], named: Mapping[str, object]
    ) -> list[list[int]]:
        names = [given.name or given.variable.name for given in self.blueprint.parameters]
        return shapes_of_inputs(self.inputs, names, shapes, named)

    def copy(
        self,
        share_memory: bool = False,
        swap: Mapping[SharedVariable, SharedVariable] | None = None,
        delete_updates: bool = False,
        name: str | None = None,
    ) -> Function:
        """Another function of the same graph.

        Parameters
        ----------
        share_memory : bool
            Without effect: what calls compute with is their own as long as they run, and what they
            leave serves the next call of any function with this program.
        swap : dict of SharedVariable to SharedVariable, optional
            Shared variables and what to read and update instead.
        delete_updates : bool
            Leave the updates out.
        name : str, optional
            A name for messages; by default the function's own.

        Returns
        -------
        Function
            It uses the same shared variables, unless they are swapped.

        Examples
        --------
        >>> import frazil as fz
        >>> total, other = fz.shared(0), fz.shared(10)
        >>> f = fz.function([], total, updates={total: total + 1})
        >>> g = f.copy(swap={total: other})
        >>> [int(f()), int(f()), int(g()), int(g())]
        [0, 1, 10, 11]
        """
        blueprint = self.blueprint
        if swap is not None:
            blueprint = blueprint.swapped(swap)
        if delete_updates:
            blueprint = blueprint.without_updates()
        return assemble(blueprint if name is None else blueprint.named(name))

    def __copy__(self) -> Function:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, self.blueprint.state()

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<frazil.Function{name}, mode {self.mode!r}, graph {self.fgraph.digest[:12]}>"


def function(
    inputs: Sequence[Variable | In],
    outputs: Outputs = None,
    mode: ModeLike = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
    name: str | None = None,
    on_unused_input: str = "raise",
    threads: int | None = None,
) -> Function:
    """Compile a graph to a function of arrays.

    Parameters
    ----------
    inputs : sequence of Variable or In
        The function's parameters, in order; those with names may be passed by keyword. An
        :class:`In` also says whether a call may write to the argument, and a default.
    outputs : Variable or Out, or sequence or dict of them, optional
        The result of a call: an array, a list of arrays or a dict of arrays. Anything that can
        become a tensor will do. An :class:`Out` also says whether the array may share memory with
        an argument.
    mode : {"c", "cranelift", "tiered", "numba", "py", "debug"} or Mode, optional
        The linker. Default: ``tiered`` where there is a C compiler, ``c`` where C must compile
        some of the ops first, ``cranelift`` where there is no C compiler. ``debug`` checks
        every node as it runs, and raises :exc:`DebugModeError`. A :class:`Mode` also says which
        rules do not rewrite the graph, and whether C compiles first.
    updates : dict or pairs of SharedVariable to tensor, optional
        New values of shared variables, stored after all outputs are computed: all of them, or none
        if the call fails. No update is lost where calls run at once: a call computes again if one
        of these variables got another value while it ran. Generators of random numbers that are
        not among them move on by themselves, by the draws that outputs need.
    givens : dict or pairs of Variable to tensor, optional
        Substitutions made in the graph first, all at once.
    name : str, optional
        A name for messages.
    on_unused_input : {"raise", "warn", "ignore"}, default "raise"
        The reaction to an input that nothing needs.
    threads : int, optional
        The most threads that a call uses, to share the elements of large arrays; results do not
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
    specified = _specified(inputs)
    parameters = [given.variable for given in specified]
    form, given_out = _flattened(outputs)
    results = [as_tensor(out.variable) for out in given_out]
    stores = _checked_updates(updates)
    wanted = results + [value for _, value in stores]
    if givens is not None:
        pairs = givens.items() if is_mapping(givens) else givens
        replacements = {old: as_tensor(new, old.dtype) for old, new in pairs}
        wanted = _core.graph_replace(wanted, replacements)
    roots = _core.root_inputs(wanted)
    moved = states_left(wanted, roots, [cell for cell, _ in stores])
    stores += moved
    wanted += [state for _, state in moved]
    shared = [x for x in roots if isinstance(x, SharedVariable) and x not in parameters]
    _report_unused([x for x in parameters if x not in roots], on_unused_input)
    return assemble(
        Blueprint(
            graph=FrozenFunctionGraph([*parameters, *shared], wanted),
            parameters=tuple(specified),
            shared=tuple(shared),
            updated=tuple(cell for cell, _ in stores),
            form=form,
            borrowing=tuple(at for at, out in enumerate(given_out) if out.borrow),
            mode=as_mode(mode),
            name=name,
            threads=threads,
        )
    )


def assemble(blueprint: Blueprint) -> Function:
    """The function of a blueprint; its program is found or made."""
    start = perf_counter()
    mode, graph, parameters = blueprint.mode, blueprint.graph, blueprint.parameters
    donated = tuple(at for at, given in enumerate(parameters) if given.mutable)
    if mode.linker is None:
        compiled, linker = find_best_program(graph, mode, donated)
    else:
        linker = find_linker(mode.linker)
        compiled = find_program(graph, linker, mode, donated)
    made = Function(
        compiled.program,
        [(given.name or given.variable.name, given.variable.type) for given in parameters],
        blueprint.shared,
        blueprint.updates,
        blueprint.form,
        convert,
        blueprint.threads,
        [given.value for given in parameters],
        [at for at, given in enumerate(parameters) if given.lends],
        blueprint.borrowing,
    )
    made.blueprint = blueprint
    made.compiled = compiled
    made.mode = linker.name
    made.compile_time = perf_counter() - start
    return made


def _restored(*state: object) -> Function:
    """The function of a pickle."""
    return assemble(from_state(*state))


def _specified(inputs: object) -> list[In]:
    # Most often it is a list: abstract classes are slow to ask.
    if not isinstance(inputs, list | tuple) and (
        isinstance(inputs, Variable | In) or not isinstance(inputs, Iterable)
    ):
        raise TypeError("inputs must be a list of variables, as in fz.function([x], y)")
    listed: Iterable[Any] = inputs
    specified = [given if isinstance(given, In) else In(given) for given in listed]
    for position, given in enumerate(specified):
        x = given.variable
        if not isinstance(x, Variable):
            raise TypeError(f"input {position} must be a Variable, given {type(x).__name__}")
        if isinstance(x, SharedVariable):
            raise TypeError(
                f"input {position}, {x}, is a shared variable: its value is its own. Give it "
                "another value for one function with givens={shared: input}"
            )
    return specified


def _flattened(outputs: object) -> tuple[object, list[Out]]:
    """The form in which results are returned, and the results."""
    if outputs is None:
        return None, []
    if isinstance(outputs, list | tuple):
        return None, [_out(output) for output in outputs]
    if is_mapping(outputs):
        return tuple(outputs), [_out(output) for output in outputs.values()]
    return "single", [_out(outputs)]


def _out(output: Any) -> Out:
    return output if isinstance(output, Out) else Out(output)


def _checked_updates(updates: Pairs | None) -> list[tuple[SharedVariable, Variable]]:
    if updates is None:
        return []
    pairs = updates.items() if is_mapping(updates) else updates
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
    warnings.warn(message, stacklevel=users_level())
