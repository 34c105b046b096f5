"""Programs as entries of the cache, and back; reading an entry runs none of its content.

An entry holds the requested graph and the identities of frazil and its compilers, so that it serves
no other request; the graph that the linker compiled; and the program with the images of its
kernels. Nodes are numbered in the order of their graph, then the nodes of inner graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pickle import PicklingError
from typing import Any, overload

import frazil._core as _core
from frazil._core import FrozenApply, FrozenFunctionGraph, Program
from frazil.cache import entry
from frazil.cache.modules import is_frazils
from frazil.compile.mode import Linker
from frazil.graph.cached_property import cached_property
from frazil.graph.op import Op
from frazil.graph.parameters import OpClass
from frazil.link.kernel.image import Image
from frazil.link.lowering.inner import inner_graphs
from frazil.link.lowering.origin import Origin
from frazil.link.lowering.perform import NodeFunction, node_function
from frazil.link.toolchain import blas, draws, sorts


@dataclass(frozen=True)
class Request:
    """A request for the program of a graph, made by a linker in a certain way."""

    graph: FrozenFunctionGraph
    linker: Linker
    identity: str

    @cached_property
    def bytes(self) -> bytes | None:
        """The graph; None if it means nothing to another process."""
        try:
            return self.graph.to_bytes()
        except PicklingError:
            return None

    @cached_property
    def key(self) -> str:
        """The name of the entry."""
        told = f"{self.identity}\n{self.graph.digest}"
        return _core.digest_of(told.encode()).hex()


class StoredGraph:
    """The graph that the linker compiled; read only when it is needed, which is seldom."""

    def __init__(self, content: bytes, linker: Linker) -> None:
        self._content = content
        self._linker = linker

    @cached_property
    def graph(self) -> FrozenFunctionGraph:
        return FrozenFunctionGraph.from_bytes(self._content)

    @cached_property
    def nodes(self) -> list[FrozenApply]:
        return all_nodes(self.graph, self._linker)


def all_nodes(graph: FrozenFunctionGraph, linker: Linker) -> list[FrozenApply]:
    """Return the nodes of a graph, then the nodes of inner graphs that the linker compiles."""
    graphs = [graph]
    nodes: dict[FrozenApply, None] = {}
    for current in graphs:
        order = current.toposort()
        nodes.update(dict.fromkeys(order))
        held = (inner for node in order for inner, _ in inner_graphs(node.op))
        graphs += [inner for inner in dict.fromkeys(held) if inner not in graphs]
    return list(nodes)


class StoredOrigins(Sequence[Origin]):
    """The origins of the instructions of a program that was read.

    No line of the user built its nodes; the lines come from the requested graph.
    """

    def __init__(self, made: StoredGraph, wanted: Request, origins: str, sources: str) -> None:
        self._made = made
        self._wanted = wanted
        self._origins = origins.split("\n")[:-1]
        self._sources = sources

    def __len__(self) -> int:
        return len(self._origins)

    @overload
    def __getitem__(self, at: int) -> Origin: ...
    @overload
    def __getitem__(self, at: slice) -> list[Origin]: ...
    def __getitem__(self, at: int | slice) -> Origin | list[Origin]:
        if isinstance(at, slice):
            return [self[position] for position in range(len(self))[at]]
        numbers = [int(number) for number in self._origins[at].split()]
        wanted = all_nodes(self._wanted.graph, self._wanted.linker)
        sources = [int(number) for number in self._sources.split()]
        return Origin(
            [self._made.nodes[number] for number in numbers],
            [
                wanted[sources[number]].source if sources[number] >= 0 else None
                for number in numbers
            ],
        )


def encode(request: Request, made: FrozenFunctionGraph, program: Program) -> bytes | None:
    """Return the entry for the program of ``made``; None if it cannot be cached."""
    if request.bytes is None:
        return None
    nodes = all_nodes(made, request.linker)
    numbers = {node: at for at, node in enumerate(nodes)}
    parts = _Parts.of(program, request.linker, numbers)
    if parts is None:
        return None
    by_source: dict[object, int] = {}
    for at, node in enumerate(all_nodes(request.graph, request.linker)):
        by_source.setdefault(node.source, at)
    sources = [-1 if node.source is None else by_source.get(node.source, -1) for node in nodes]
    try:
        made_bytes = b"" if made == request.graph else made.to_bytes()
    except PicklingError:
        return None
    origins: list[str] = []
    for origin in program.origins:
        own = origin.nodes if isinstance(origin, Origin) else ()
        origins.append(_words(numbers[node] for node in own if node in numbers) + "\n")
    return entry.pack(
        [
            request.identity.encode(),
            request.bytes,
            made_bytes,
            program.to_bytes(),
            "".join(parts.kernels).encode(),
            _words(parts.functions).encode(),
            "".join(origins).encode(),
            _words(sources).encode(),
            *[part for image in parts.images for part in _image_parts(image)],
        ]
    )


def decode(content: bytes, request: Request) -> tuple[Program, StoredGraph] | None:
    """Return the program of an entry; None if the entry is for another request.

    Raises
    ------
    ValueError, LookupError, TypeError, KernelCompileError
        If the entry is damaged, or its machine code cannot be loaded.
    """
    identity, wanted, made, program, kernels, functions, origins, sources, *images = entry.unpack(
        content
    )
    if identity != request.identity.encode() or wanted != request.bytes:
        return None
    graph = StoredGraph(made or wanted, request.linker)
    read = Program.from_bytes(
        program,
        _load(kernels.decode(), images, request.linker),
        [
            node_function(node.op, node, request.linker)
            for node in (graph.nodes[int(place)] for place in functions.decode().split())
        ],
        StoredOrigins(graph, request, origins.decode(), sources.decode()),
    )
    blas.install_library(read.library)
    if read.draws:
        draws.install()
    if read.sorts:
        sorts.install()
    return read, graph


@dataclass
class _Parts:
    """The images, kernels and functions that a program refers to."""

    images: list[Image]
    kernels: list[str]
    functions: list[int]

    @staticmethod
    def of(program: Program, linker: Linker, numbers: dict[FrozenApply, int]) -> _Parts | None:
        images: dict[Image, int] = {}
        kernels: list[str] = []
        for keepalive, operands in program.kernels:
            symbol = linker.symbol(keepalive)
            if symbol is None:
                return None
            image = images.setdefault(symbol.image, len(images))
            kernels.append(f"{image} {symbol.name} {operands.hex()}\n")
        functions: list[int] = []
        for function in program.functions:
            if not isinstance(function, NodeFunction) or function.node not in numbers:
                return None
            functions.append(numbers[function.node])
        return _Parts(list(images), kernels, functions)


def _image_parts(image: Image) -> tuple[bytes, bytes, bytes]:
    pointers = "".join(f"{name} {exported}\n" for name, exported in image.pointers.items())
    return image.code, pointers.encode(), image.literals


def _load(kernels: str, parts: Sequence[bytes], linker: Linker) -> list[tuple[int, object, bytes]]:
    """Address, keeper and operands of each kernel."""
    rows = [line.split(" ") for line in kernels.splitlines()]
    loaded: dict[tuple[int, str], tuple[int, object]] = {}
    images = zip(*[iter(parts)] * 3, strict=True)
    for at, (code, pointers, literals) in enumerate(images):
        pairs = (line.split(" ") for line in pointers.decode().splitlines())
        image = Image(code, dict(pairs), literals)
        names = [name for number, name, _ in rows if int(number) == at]
        for name, native in zip(names, linker.load(image, names), strict=True):
            loaded[at, name] = native.address, native.keepalive
    return [
        (*loaded[int(number), name], bytes.fromhex(operands)) for number, name, operands in rows
    ]


def users_ops(graph: FrozenFunctionGraph) -> list[Op]:
    """Return the users' ops in a graph and in its inner graphs."""
    # Most graphs have none, as the names of their classes tell.
    if all(map(is_frazils, graph.kinds())):
        return []
    found: list[Op] = []
    seen: set[Op] = set()
    pending: list[Any] = [graph]
    while pending:
        value = pending.pop()
        if isinstance(value, FrozenFunctionGraph):
            # In an order that is the same in each process.
            pending += dict.fromkeys(node.op for node in reversed(value.toposort()))
        elif isinstance(value, tuple):
            pending += [held for held in value if isinstance(held, _HOLDERS)]
        elif value not in seen:
            seen.add(value)
            cls = type(value)
            for name in OpClass.of(cls).parameters:
                held = getattr(value, name)
                if isinstance(held, _HOLDERS):
                    pending.append(held)
            if not is_frazils(cls.__module__):
                found.append(value)
    return found


_HOLDERS = (Op, tuple, FrozenFunctionGraph)
"""The classes of values that are ops or may hold one."""


def _words(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))
