"""Programs of graphs: found in memory or on disk, or compiled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal
from weakref import WeakValueDictionary

from frazil._core import FrozenFunctionGraph, Program
from frazil.cache.content import digest
from frazil.cache.identity import frazil_build
from frazil.cache.modules import Unknowable, is_frazil
from frazil.cache.store import Store, find_store
from frazil.compile import cache_entries
from frazil.compile.extensions import users_rules
from frazil.compile.mode import Linker, Mode
from frazil.compile.phases import optimize
from frazil.compile.tiering import Keep, watch
from frazil.graph.containers import in_container_of
from frazil.graph.garbage import no_collections
from frazil.graph.parameters import ops_kept
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.linkers.tiered import TieredLinker
from frazil.link.toolchain.keeping import finish, write_soon
from frazil.link.toolchain.once import SingleFlight
from frazil.rewrite.rewriting import warn_of_cycles


class Compiled:
    """A program and the graph that the linker compiled.

    ``found`` tells whether this process made it or read it from disk, and ``cycles`` the messages
    of rules that left something as it is; such a program is made anew in each process.
    """

    def __init__(
        self,
        program: Program,
        graph: FrozenFunctionGraph | cache_entries.StoredGraph,
        found: Literal["made", "disk"],
        cycles: Mapping[str, str],
    ) -> None:
        self.program = program
        self._graph = graph
        self.found = found
        self.cycles = cycles

    @property
    def graph(self) -> FrozenFunctionGraph:
        """The rewritten graph that the program computes."""
        return _read(self._graph)


def _read(graph: FrozenFunctionGraph | cache_entries.StoredGraph) -> FrozenFunctionGraph:
    return graph.graph if isinstance(graph, cache_entries.StoredGraph) else graph


# Equal graphs share a program as long as a function uses it, and so do graphs that become equal by
# rewriting.
_compiled: WeakValueDictionary[Hashable, Compiled] = WeakValueDictionary()
_programs: WeakValueDictionary[Hashable, Program] = WeakValueDictionary()
_flights: SingleFlight[Hashable, Compiled] = SingleFlight()


def find_program(
    graph: FrozenFunctionGraph, linker: Linker, mode: Mode, donated: tuple[int, ...] = ()
) -> Compiled:
    """Return the program that ``linker`` makes of ``graph`` after all phases.

    Parameters
    ----------
    graph : FrozenFunctionGraph
        The graph as it was written.
    linker : Linker
        It makes the program if there is none in memory or on disk.
    mode : Mode
        The phases and rules that rewrite the graph; its linker plays no part.
    donated : tuple of int
        The inputs whose memory the program may use up.
    """
    key = (graph, linker.name, replace(mode, linker=None, tiered=True), donated)
    found = _compiled.get(key) or _found_once(key, graph, linker, mode, donated)
    if found.cycles:  # each function is to warn
        warn_of_cycles(found.cycles)
    return found


def _found_once(
    key: Hashable,
    graph: FrozenFunctionGraph,
    linker: Linker,
    mode: Mode,
    donated: tuple[int, ...],
) -> Compiled:
    """The program, which one of the threads that ask for it at once looks for."""

    def make(_: Sequence[Hashable]) -> list[Compiled]:
        with in_container_of(graph.inputs), no_collections(), ops_kept():
            made = _compiled[key] = _find_on_disk(graph, linker, mode, donated)
        return [made]

    return _flights.make([key], _compiled.get, make)[key]


def _find_on_disk(
    graph: FrozenFunctionGraph, linker: Linker, mode: Mode, donated: tuple[int, ...]
) -> Compiled:
    made_by = linker.identity
    store = None if made_by is None else find_store()
    if store is None:
        return _watched(_make(graph, linker, mode, donated), linker, donated)
    asked = f"{' '.join(sorted(mode.excluded))}\n{' '.join(map(str, donated))}\n{mode.on_error}"
    try:
        users = _users_code(graph, linker, mode)
    except Unknowable:
        return _watched(_make(graph, linker, mode, donated), linker, donated)
    identity = f"{frazil_build()}\n{linker.name}\n{made_by}\n{asked}\n{users}"
    request = cache_entries.Request(graph, linker, identity)
    finish(request.key)  # it may have been compiled just now
    content = store.read(request.key)
    if content is not None:
        try:
            read = cache_entries.decode(content, request)
        except (ValueError, LookupError, TypeError, KernelCompileError):
            read = None  # a damaged entry is written again
        if read is not None:
            return _watched(
                Compiled(*read, "disk", {}), linker, donated, partial(_keep, store, request)
            )
    made = _make(graph, linker, mode, donated)
    if made.cycles:  # each process is to warn
        return _watched(made, linker, donated)
    write_soon(request.key, partial(_keep, store, request, made.graph, made.program))
    return _watched(made, linker, donated, partial(_keep, store, request))


def _keep(
    store: Store,
    request: cache_entries.Request,
    graph: FrozenFunctionGraph,
    program: Program,
) -> None:
    """Write a program to disk."""
    encoded = cache_entries.encode(request, graph, program)
    if encoded is not None:
        store.write(request.key, encoded)


def _watched(
    compiled: Compiled, linker: Linker, donated: tuple[int, ...], keep: Keep | None = None
) -> Compiled:
    """The compiled program; C may make it faster later, if the linker is tiered."""
    if isinstance(linker, TieredLinker):
        # Not the compiled object: it holds the program, which would then never be freed.
        watch(compiled.program, linker, partial(_read, compiled._graph), donated, keep)
    return compiled


def _users_code(graph: FrozenFunctionGraph, linker: Linker, mode: Mode) -> str:
    """The digest of users' code that compiles ``graph``: ops, rules, a linker."""
    written: list[object] = [*cache_entries.users_ops(graph), *users_rules()]
    written += [rule.function for rule in mode.included]
    if not is_frazil(type(linker)):
        written.append(type(linker))
    return digest(written) if written else ""


def _make(
    graph: FrozenFunctionGraph, linker: Linker, mode: Mode, donated: tuple[int, ...]
) -> Compiled:
    prepared, cycles = optimize(graph, mode.excluded, linker.prepare, mode.on_error, mode.included)
    key = (prepared, linker.name, donated)
    known = _programs.get(key)
    if known is None:
        given = [prepared.inputs[at] for at in donated]
        known = _programs[key] = linker.compile(prepared, given)
    return Compiled(known, prepared, "made", cycles)
