"""The ``debug`` linker: node by node, each one checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.link.contract import Inner
from frazil.link.image import Image, Symbol
from frazil.link.kernel import KernelCompileError, KernelCompiler, NativeKernel
from frazil.link.lowering import lower
from frazil.link.perform import PyLinker
from frazil.link.scan_contract import own_states, scan_in_place
from frazil.loop.op import Scan


@dataclass
class DebugLinker:
    """Makes programs that run node by node, unfused, and look for faults as they go.

    Runs check that nothing reads memory which was given back or written over, that no kernel
    writes to what it may only read, and where the first NaN comes from; ``perform`` is called by
    way of :class:`~frazil.link.perform.CheckedPerform`.
    """

    compiler: KernelCompiler | None
    name: str = field(default="debug", init=False)

    identity: None = field(default=None, init=False)  # no program is kept
    inner_programs: WeakValueDictionary[Inner, Program] = field(
        default_factory=WeakValueDictionary, init=False, compare=False
    )

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph``."""
        if self.compiler is None:
            return PyLinker(checked=True).compile(graph)
        return lower(graph, self, self.compiler, donated, checked=True)

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: no program is kept."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Nothing: no program is kept."""
        raise KernelCompileError("programs of the debug linker are not kept")


@scan_in_place.register
def _(linker: DebugLinker, op: Scan) -> tuple[int, ...]:
    return own_states(op)
