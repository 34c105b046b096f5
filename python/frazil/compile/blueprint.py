"""The specification of a function, from which it is assembled, copied and pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from frazil._core import FrozenFunctionGraph, SharedVariable, TensorType, Variable
from frazil.compile.mode import Mode
from frazil.compile.specification import In
from frazil.graph.dataclass import dataclass
from frazil.rewrite.definition import Rule


@dataclass(frozen=True, eq=False)
class Blueprint:
    """The arguments of :func:`frazil.function`, checked."""

    graph: FrozenFunctionGraph
    """Inputs: parameters, then shared variables. Outputs: results, then updates."""
    parameters: tuple[In, ...]
    """The function's parameters."""
    shared: tuple[SharedVariable, ...]
    """The shared variables that are read."""
    updated: tuple[SharedVariable, ...]
    """The shared variables that take the last outputs."""
    form: Any
    """The form of results: a list, one array, or a dict with these keys."""
    borrowing: tuple[int, ...]
    """The results that may share memory with arguments."""
    mode: Mode
    """As it was given."""
    name: str | None
    """A name for messages."""
    threads: int | None
    """As it was given."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that take the arguments."""
        return tuple(given.variable for given in self.parameters)

    @property
    def updates(self) -> list[tuple[SharedVariable, int]]:
        """Each updated variable with the output that it takes."""
        first = len(self.graph.outputs) - len(self.updated)
        return [(cell, first + at) for at, cell in enumerate(self.updated)]

    def swapped(self, swap: Mapping[SharedVariable, SharedVariable]) -> Blueprint:
        """Return the blueprint over other shared variables.

        Raises
        ------
        ValueError
            If a variable to be swapped is not used.
        TypeError
            If one does not have the type of the other.
        """
        for old, new in swap.items():
            if old not in self.shared and old not in self.updated:
                raise ValueError(f"swap: the function has no shared variable {old}")
            if not isinstance(new, SharedVariable) or new.type != old.type:
                given = f"{new.type}" if isinstance(new, Variable) else type(new).__name__
                raise TypeError(
                    f"swap: {old} can be replaced by a shared variable of its type {old.type}, "
                    f"given {given}"
                )
        return replace(
            self,
            shared=tuple(swap.get(cell, cell) for cell in self.shared),
            updated=tuple(swap.get(cell, cell) for cell in self.updated),
        )

    def without_updates(self) -> Blueprint:
        """Return the blueprint without updates; they are not computed."""
        outputs = self.graph.outputs[: len(self.graph.outputs) - len(self.updated)]
        graph = FrozenFunctionGraph(self.graph.inputs, outputs)
        return replace(self, graph=graph, updated=())

    def named(self, name: str | None) -> Blueprint:
        """Return the blueprint with another name."""
        return replace(self, name=name)

    def state(self) -> tuple[object, ...]:
        """Return the content of a pickle, from which :func:`from_state` makes a blueprint."""
        parameters = tuple(
            (x.variable.name, x.variable.type, x.name, x.value, x.mutable, x.borrow)
            for x in self.parameters
        )
        return (
            self.graph,
            parameters,
            self.shared,
            self.updated,
            self.form,
            self.borrowing,
            self.mode.linker,
            tuple(sorted(self.mode.excluded)),
            self.mode.on_error,
            self.mode.tiered,
            self.mode.included,
            self.name,
            self.threads,
        )


def from_state(*state: Any) -> Blueprint:
    """Return the blueprint of a pickle, with new parameters.

    Raises
    ------
    TypeError
        If the state is not that of a function.
    """
    graph, parameters, shared, updated, form, borrowing, *how, name, threads = state
    linker, excluded, on_error, tiered, included = how
    sound = (
        isinstance(graph, FrozenFunctionGraph)
        and all(isinstance(type, TensorType) for _, type, *_ in parameters)
        and all(isinstance(at, int) and at >= 0 for at in borrowing)
        and all(isinstance(cell, SharedVariable) for cell in (*shared, *updated))
        and isinstance(linker, str | None)
        and on_error in ("raise", "nan", None)
        and all(isinstance(rule, Rule) for rule in included)
        and isinstance(tiered, bool)
        and (threads is None or (isinstance(threads, int) and threads > 0))
        and isinstance(name, str | None)
    )
    if not sound:
        raise TypeError("a pickle does not hold the parts of a frazil function")
    types = [*(type for _, type, *_ in parameters), *(cell.type for cell in shared)]
    if types != [x.type for x in graph.inputs]:
        raise TypeError("a pickled function's inputs are not those of its graph")
    if len(updated) > len(graph.outputs):
        raise TypeError("a pickled function has more updates than outputs")
    stored = graph.outputs[len(graph.outputs) - len(updated) :]
    for cell, value in zip(updated, stored, strict=True):
        if not cell.type.accepts(value.type):
            raise TypeError(f"a pickled function updates {cell} with a {value.type}")
    return Blueprint(
        graph,
        tuple(
            In(type(variable), name=own, value=value, mutable=bool(mutable), borrow=borrow)
            for variable, type, own, value, mutable, borrow in parameters
        ),
        tuple(shared),
        tuple(updated),
        form,
        tuple(borrowing),
        Mode(linker, frozenset(), on_error, tiered, tuple(included)).excluding(*excluded),
        name,
        threads,
    )
