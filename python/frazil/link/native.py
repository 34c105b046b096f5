"""Linkers that run loops as native kernels."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakValueDictionary

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.cache.identity import modules_of
from frazil.link.contract import Inner, inner_graphs
from frazil.link.image import Image, Symbol
from frazil.link.kernel import KernelCompiler, NativeKernel
from frazil.link.lowering import lower
from frazil.link.lowering.node import lower_node
from frazil.link.scan_contract import own_states, scan_in_place
from frazil.loop.op import Scan


class NativeLinker:
    """Makes programs whose loops a kernel compiler turned into machine code."""

    def __init__(self, compiler: KernelCompiler) -> None:
        self.name = compiler.name
        self._compiler = compiler
        self.inner_programs: WeakValueDictionary[Inner, Program] = WeakValueDictionary()

    @property
    def identity(self) -> str:
        """What programs depend on besides the graph and frazil."""
        rules = [*lower_node.registry.values(), *inner_graphs.registry.values()]
        modules = modules_of(rule.__module__ for rule in rules)
        return f"{self.name}\n{self._compiler.identity}\n{modules}"

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph`` and may use up the memory of ``donated`` inputs."""
        return lower(graph, self, self._compiler, donated)

    def symbol(self, keepalive: object) -> Symbol | None:
        """Where a kernel of a program is in an image; None if it cannot be kept."""
        return self._compiler.symbol(keepalive)

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        return self._compiler.load(image, names)


class CLinker(NativeLinker):
    """Makes programs whose loops are C."""


class NumbaLinker(NativeLinker):
    """Makes programs whose loops Numba compiled."""


@scan_in_place.register(CLinker)
@scan_in_place.register(NumbaLinker)
def _(linker: NativeLinker, op: Scan) -> tuple[int, ...]:
    return own_states(op)
