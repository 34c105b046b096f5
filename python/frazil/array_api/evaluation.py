"""The values of graphs whose inputs hold arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import NamedTuple

import frazil._core as _core
from frazil._core import FrozenFunctionGraph, TensorType, Variable
from frazil.compile.function import Function, function
from frazil.compile.mode import Mode, ModeLike, as_mode
from frazil.graph.op import Array

_chosen: ContextVar[Mode | None] = ContextVar("mode", default=None)

KEPT = 512
"""The number of compiled graphs that are kept for equal ones."""

DEEPEST, WIDEST = 256, 256
"""The calls in a row, and the inputs, that a graph has before it is computed by itself."""


@contextmanager
def compiled_by(mode: ModeLike) -> Iterator[None]:
    """Compute arrays by another linker within a ``with`` block.

    Parameters
    ----------
    mode : str or frazil.Mode
        As :func:`frazil.function` takes it. Without this, arrays are computed by "cranelift", which
        has the first result soonest.

    Examples
    --------
    >>> import frazil.array_api as xp
    >>> with xp.compiled_by("py"):
    ...     print(float(xp.sum(xp.ones(3))))
    3.0
    """
    token = _chosen.set(as_mode(mode))
    try:
        yield
    finally:
        _chosen.reset(token)


class Graph(NamedTuple):
    """A variable, and the values of the inputs that it depends on."""

    variable: Variable
    values: Mapping[Variable, Array]
    depth: int
    """The number of calls between the variable and its inputs."""

    @classmethod
    def of(cls, value: Array) -> Graph:
        """Return an input alone, with its value, which must not change any more."""
        value.flags.writeable = False
        place = TensorType(value.dtype.name, value.shape)(None)
        return cls(place, {place: value}, 0)

    def computed(self) -> Graph:
        """Return an input that holds the value of the variable; itself if it is one."""
        if self.variable in self.values:
            return self
        # Graphs that differ only in the values of their inputs are compiled once.
        inputs = _core.root_inputs([self.variable])
        frozen = FrozenFunctionGraph(inputs, [self.variable])
        compiled = _compiled(frozen, _chosen.get() or _soonest())
        return Graph.of(compiled(*(self.values[x] for x in inputs)))

    def value(self) -> Array:
        """Return the value of an input."""
        return self.values[self.variable]


def over(variable: Variable, graphs: Sequence[Graph]) -> Graph:
    """Return the graph of ``variable``, which was made from ``graphs``.

    It is computed at once where lengths depend on values, and where the graph has become large: a
    loop that never looks at its arrays must not make a graph of all its turns.
    """
    values = graphs[0].values if graphs else {}
    if any(graph.values is not values for graph in graphs):
        values = {x: value for graph in graphs for x, value in graph.values.items()}
    graph = Graph(variable, values, 1 + max((graph.depth for graph in graphs), default=0))
    large = graph.depth > DEEPEST or len(values) > WIDEST
    return graph.computed() if large or None in variable.type.shape else graph


def _soonest() -> Mode:
    """The mode that has the first result soonest: most graphs run once or a few times."""
    return Mode("cranelift" if _core.native_code_fault() is None else None)


@lru_cache(maxsize=KEPT)
def _compiled(graph: FrozenFunctionGraph, mode: Mode) -> Function:
    places = [x.type(None) for x in graph.inputs]
    (output,) = graph.bind(places)
    return function(places, output, mode=mode)
