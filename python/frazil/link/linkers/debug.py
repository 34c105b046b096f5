"""The ``debug`` linker: it runs a graph node by node and checks each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.inner.rebuild import Improve, rewrite_inner_graphs
from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.fusion.registry import Fusion, find_fusion, register_fusion
from frazil.link.kernel.compiler import KernelCompileError, KernelCompiler, NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.linkers.py import PyLinker
from frazil.link.lowering import lower
from frazil.link.lowering.inlining import inline_scalar_graphs
from frazil.link.lowering.inner import Inner
from frazil.link.numba import NumbaCompiler


def debug_compiler() -> KernelCompiler | None:
    """The kernel compiler of the debug linker: the first that there is; None if there is none."""
    return CCompiler.find() or CraneliftCompiler.find() or NumbaCompiler.find()


class OneNodeFusion:
    """Makes one kernel of each node that ``fusion`` would fuse."""

    statement_limit = 1

    def __init__(self, fusion: Fusion) -> None:
        self.fuses = fusion.fuses


@register_fusion("debug")
def fusion() -> Fusion:
    """The fusion of the debug linker: one kernel a node."""
    compiler = debug_compiler()
    return OneNodeFusion(find_fusion("py" if compiler is None else compiler.name))


@dataclass
class DebugLinker:
    """Makes programs that run node by node, unfused, and look for faults.

    Runs check that no instruction reads memory that was given back or written over, that no kernel
    writes to an operand or beyond a buffer, and where the first NaN comes from. ``perform`` is
    called by :class:`~frazil.link.lowering.perform.CheckedPerform`.
    """

    compiler: KernelCompiler | None
    name: str = field(default="debug", init=False)

    identity: None = field(default=None, init=False)  # no program is kept
    inner_programs: WeakValueDictionary[Inner, Program] = field(
        default_factory=WeakValueDictionary, init=False, compare=False
    )

    def prepare(self, graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        """``graph`` with composites inlined, so that each node of theirs is checked."""
        if self.compiler is None:
            return rewrite_inner_graphs(graph, inner)
        return inline_scalar_graphs(graph, inner, find_fusion("debug"))

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph``."""
        if self.compiler is None:
            return PyLinker(checked=True).compile(graph)
        return lower(graph, self, self.compiler, find_fusion("debug"), donated, checked=True)

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: no program is kept."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Raises: no program is kept."""
        raise KernelCompileError("programs of the debug linker are not kept")
