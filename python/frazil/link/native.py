"""Linkers that run loops as native kernels."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.link.kernel import KernelCompiler
from frazil.link.lowering import lower


class NativeLinker:
    """Makes programs whose loops a kernel compiler turned into machine code."""

    def __init__(self, compiler: KernelCompiler) -> None:
        self.name = compiler.name
        self._compiler = compiler

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph`` and may use up the memory of ``donated`` inputs."""
        return lower(graph, self._compiler, donated)
