"""The program of a compiled function as text, with its kernels in the language of its mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from frazil.compile.function import Function
from frazil.link.c.compiler import CCompiler
from frazil.link.c.translation import translate
from frazil.link.cranelift.compiler import CraneliftCompiler
from frazil.link.cranelift.description import describe
from frazil.link.fusion.registry import find_fusion
from frazil.link.kernel.compiler import KernelCompileError, NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.linkers.native import NativeLinker
from frazil.link.numba.compiler import NumbaCompiler, kernel_text


class _Recorder:
    """Keeps the kernels that it is to compile; the programs that have them are not called."""

    identity = "recorder"

    def __init__(self, compiler: type[CCompiler | CraneliftCompiler | NumbaCompiler]) -> None:
        self.kernels: list[AnyKernel] = []
        self.name = compiler.name
        self.step_limit = compiler.step_limit
        self.lowers = compiler.lowers

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """Kernels that cannot be called."""
        self.kernels += kernels
        return [NativeKernel(1, kernel) for kernel in kernels]

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: there is no image."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Raises: there is no image."""
        raise KernelCompileError("nothing is compiled")


def lowered(compiled: Function) -> str:
    """Return the instructions of a function, and the texts of its kernels."""
    program = str(compiled.explain())
    if compiled.mode == "py":
        return program
    compiler, text = _WRITERS.get(compiled.mode, (CCompiler, _in_c))
    recorder = _Recorder(compiler)
    NativeLinker(recorder, find_fusion(recorder.name)).compile(compiled.optimized)
    return f"{program}\n\n{text(recorder.kernels)}"


def _in_c(kernels: Sequence[AnyKernel]) -> str:
    unit = translate(kernels, vector_functions=frozenset(), register_bits=0)
    return f"{unit.table.told()}{unit.text()}"


def _for_cranelift(kernels: Sequence[AnyKernel]) -> str:
    return "\n".join(map(describe, kernels))


def _for_numba(kernels: Sequence[AnyKernel]) -> str:
    return "\n".join(map(kernel_text, kernels))


_Compiler: TypeAlias = type[CCompiler] | type[CraneliftCompiler] | type[NumbaCompiler]
_WRITERS: Mapping[str, tuple[_Compiler, Callable[[Sequence[AnyKernel]], str]]] = {
    "cranelift": (CraneliftCompiler, _for_cranelift),
    "numba": (NumbaCompiler, _for_numba),
}
"""Modes whose kernels are not written in C."""
