"""The linker and the mode ``"FRAZIL"``: PyTensor's functions, compiled by frazil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor
from pytensor.compile import mode as their_modes
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.basic import JITLinker
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType

import frazil.tensor as ft
from frazil._core import Variable
from frazil.compile.function import Function, function
from frazil.interop.pytensor.functions import FrazilMaker, let_linkers_choose
from frazil.interop.pytensor.translation import NoRule, Translation, own_type
from frazil.random import generator_of, state_of
from frazil.tensor.docstrings import described

NAME = "FRAZIL"

_REWRITTEN_AWAY = (
    "cxx_only",
    "BlasOpt",
    "fusion",
    "inplace",
    "local_careduce_fusion",
    "scan_save_mem",
    "scan_save_mem_prealloc",
    "scan_save_mem_no_prealloc",
    "scan_reduce_trace_prealloc",
    "scan_push_out_dot1",
)
"""PyTensor's rewrites that make ops for its own linkers, or that frazil does better."""


class CheckedCall:
    """The parts of a call of PyTensor's function.

    Attributes
    ----------
    function : fz.Function
        Frazil's function: the outputs, and last the number of the check that fails, or -1.
    checks : list
        PyTensor's ops that say what to raise.
    performed : tuple of str
        PyTensor's ops that run by their own ``perform``.
    """

    def __init__(self, own: Function, checks: Sequence[Any], performed: Sequence[str]) -> None:
        self.function = own
        self.checks = list(checks)
        self.performed = tuple(performed)

    def __call__(self, *arguments: Any) -> list[Any]:
        results: list[Any] = self.function(*arguments)
        if self.checks:
            failed = int(results.pop())
            if failed >= 0:
                op = self.checks[failed]
                raise op.exc_type(op.msg)
        return results


class Converted:
    """The same with generators among the arguments, with generators or scalars among the results.

    Attributes
    ----------
    taken, given : list of int
        The positions of generators.
    scalars : list of int
        The results that are NumPy's scalars, not arrays.
    """

    def __init__(
        self,
        inner: Callable[..., list[Any]],
        taken: Sequence[int],
        given: Sequence[int],
        scalars: Sequence[int],
    ) -> None:
        self.inner, self.taken, self.given, self.scalars = inner, taken, given, scalars

    def __call__(self, *arguments: Any) -> list[Any]:
        values = list(arguments)
        for at in self.taken:
            values[at] = state_of(values[at])
        results = self.inner(*values)
        for at in self.given:
            results[at] = generator_of(results[at])
        for at in self.scalars:
            results[at] = results[at][()]
        return results


def compile_graph(graph: Any, name: str | None = None) -> tuple[Callable[..., Any], CheckedCall]:
    """The callable that computes one of PyTensor's graphs, and frazil's function in it."""
    inputs = []
    for x in graph.inputs:
        kind = own_type(x.type)
        if kind is None:
            raise NoRule(
                f"the input {x.name or x} has PyTensor's type {x.type}, which has no counterpart "
                "in frazil; compile this function in another mode"
            )
        inputs.append(ft.tensor(x.name, dtype=kind.dtype, shape=kind.shape))
    t = Translation()
    outputs = t.graph(graph.inputs, graph.outputs, inputs)
    if t.checks:
        outputs.append(_first_failing([condition for condition, _ in t.checks]))
    made = function(
        inputs,
        outputs,
        on_unused_input="ignore",
        name=name,
    )
    compiled = CheckedCall(made, [op for _, op in t.checks], t.performed)
    run: Callable[..., Any] = compiled if t.checks else made
    taken = _places(graph.inputs, RandomGeneratorType)
    given = _places(graph.outputs, RandomGeneratorType)
    scalars = _places(graph.outputs, ScalarType)
    converted = taken or given or scalars
    return (Converted(run, taken, given, scalars) if converted else run), compiled


def _first_failing(conditions: Sequence[Variable]) -> Variable:
    """The number of the first condition that is false, or -1."""
    found: Variable = ft.constant(np.int64(-1))
    for at in reversed(range(len(conditions))):
        found = ft.switch(conditions[at], found, ft.constant(np.int64(at)))
    return found


def _places(variables: Sequence[Any], kind: type) -> list[int]:
    """The positions of variables whose types are of a kind."""
    return [at for at, x in enumerate(variables) if isinstance(x.type, kind)]


@described
def compiled_function(function: object) -> Function:
    """Return frazil's function in one of PyTensor's that was compiled in the mode ``"FRAZIL"``.

    function (PyTensor function): What ``pytensor.function(..., mode="FRAZIL")`` gave.
    returns (fz.Function): Its ``explain()`` reports the work of a call: the loops, and the PyTensor
        ops that run by their own ``perform``. Its arguments are those of PyTensor's function, then
        the values of the shared variables.
    raises TypeError: If the function was compiled in another mode.

    >>> import pytensor, pytensor.tensor as pt
    >>> from frazil.interop.pytensor import compiled_function
    >>> x = pt.dvector("x")
    >>> f = pytensor.function([x], pt.exp(x).sum(), mode="FRAZIL")
    >>> len(compiled_function(f).explain().segments)
    1
    """
    linker = getattr(getattr(function, "maker", None), "linker", None)
    if not isinstance(linker, FrazilLinker):
        raise TypeError(f"a function compiled in the mode {NAME!r} is needed, given {function!r}")
    return linker.compiled.function


class FrazilLinker(JITLinker):
    """Compiles a whole graph of PyTensor's by frazil."""

    required_rewrites = ("minimum_compile",)
    incompatible_rewrites = _REWRITTEN_AWAY
    function_maker = FrazilMaker

    def __getstate__(self) -> dict[str, Any]:
        # Whoever loads a function compiles it, or finds it in the cache.
        return {name: value for name, value in vars(self).items() if name != "compiled"}

    def fgraph_convert(self, fgraph: object, **kwargs: object) -> Any:
        """The callable that computes the graph."""
        run, self.compiled = compile_graph(fgraph)
        return run

    def jit_compile(self, fn: object) -> Any:
        """The same: it is compiled already."""
        return fn

    def create_jitable_thunk(
        self,
        compute_map: object,
        order: object,
        input_storage: object,
        output_storage: object,
        storage_map: dict[Any, Any],
    ) -> Any:
        """The function that a call runs, its node, and the compiled function of the graph."""
        run = self.jit_compile(self.fgraph_convert(self.fgraph))
        taken = self.create_thunk_inputs(storage_map)
        given = [storage_map[x] for x in self.fgraph.outputs]

        def thunk(output_subset: object = None) -> list[object]:
            results: list[Any] = run(*[cell[0] for cell in taken])
            for cell, value in zip(given, results, strict=True):
                cell[0] = value
            return results

        made: Any = thunk
        made.inputs, made.outputs, made.lazy = taken, given, False
        return [made], [x.owner for x in self.fgraph.outputs if x.owner is not None][:1], run

    def create_thunk_inputs(self, storage_map: dict[Any, Any]) -> list[Any]:
        """The storage cells of the arguments."""
        return [storage_map[x] for x in self.fgraph.inputs]


def register_mode() -> None:
    """Make ``"FRAZIL"`` a mode and a linker of PyTensor's."""
    # "canonicalize_db" lets what PyMC makes of its checks in, which is registered there alone.
    query = RewriteDatabaseQuery(include=["minimum_compile", "canonicalize_db"])
    their_modes.register_linker(NAME.lower(), FrazilLinker())
    their_modes.register_mode(NAME, their_modes.Mode(FrazilLinker(), query))
    let_linkers_choose()
    parameter = pytensor.config._config_var_dict["mode"]
    theirs = parameter._apply

    def accept(value: object) -> object:
        return value if value == NAME else theirs(value)

    parameter._apply = accept
