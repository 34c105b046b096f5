"""Linkers whose programs run loops as native kernels."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakValueDictionary

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.cache.content import digest
from frazil.cache.modules import Unknowable, is_frazil
from frazil.inner.rebuild import Improve
from frazil.link.fusion.registry import Fusion, LoweredOps, find_fusion
from frazil.link.kernel.compiler import KernelCompiler, NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.lowering import lower
from frazil.link.lowering.inlining import inline_scalar_graphs
from frazil.link.lowering.inner import Inner
from frazil.link.lowering.native_form import with_native_forms
from frazil.link.lowering.step_lengths import with_step_lengths


class NativeLinker:
    """Makes programs whose loops are machine code, made by a kernel compiler.

    Parameters
    ----------
    compiler : KernelCompiler
        The compiler of kernels; the linker has its name.
    fusion : Fusion, optional
        The fusion; by default the one that is registered for the compiler's name.
    """

    def __init__(self, compiler: KernelCompiler, fusion: Fusion | None = None) -> None:
        self.name = compiler.name
        self._compiler = compiler
        self.inner_programs: WeakValueDictionary[Inner, Program] = WeakValueDictionary()
        self._fusion = find_fusion(compiler.name) if fusion is None else fusion
        if self._fusion.statement_limit < 1:
            raise ValueError(
                f"linker {self.name!r} makes kernels of loops, but its statement_limit is "
                f"{self._fusion.statement_limit}; 1 is a loop for each node"
            )

    @property
    def identity(self) -> str | None:
        """All that programs depend on besides the graph and frazil; None if it is unknowable."""
        return None if self._made_by is None else f"{self._compiler.identity}\n{self._made_by}"

    @property
    def _made_by(self) -> str | None:
        """The identity of the classes and functions that decide what a kernel is."""
        kind, fusion = type(self._compiler), self._fusion
        if is_frazil(kind) and type(fusion) is LoweredOps and all(map(is_frazil, fusion.functions)):
            # Their content is frazil's, whose build is part of every key.
            names = [f"{own.__module__}.{own.__qualname__}" for own in fusion.functions]
            return " ".join((kind.__qualname__, *names, str(fusion.statement_limit)))
        try:
            return digest([kind, fusion])
        except Unknowable:
            return None

    def prepare(self, graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        """``graph`` as kernels compute it, and ``inner`` of its graphs.

        Ops have their native forms, steps of scans ask for lengths themselves, composites are
        inlined and scalar loops split.
        """
        formed = with_step_lengths(with_native_forms(graph))
        return inline_scalar_graphs(formed, inner, self._fusion)

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph`` and may use up the memory of ``donated`` inputs."""
        return lower(graph, self, self._compiler, self._fusion, donated)

    def symbol(self, keepalive: object) -> Symbol | None:
        """The image and name of a program's kernel; None if it has no image."""
        return self._compiler.symbol(keepalive)

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        return self._compiler.load(image, names)


class CLinker(NativeLinker):
    """Makes programs whose kernels are compiled from C."""


class NumbaLinker(NativeLinker):
    """Makes programs whose kernels Numba compiles."""


class CraneliftLinker(NativeLinker):
    """Makes programs whose kernels the extension compiles itself."""
