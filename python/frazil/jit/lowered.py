"""What a compiled function runs, as text: its program, and its kernels in C."""

from __future__ import annotations

from collections.abc import Sequence

from frazil.compile.function import Function
from frazil.link.c.compiler import CCompiler
from frazil.link.c.translation import translate
from frazil.link.fusion.registry import find_fusion
from frazil.link.kernel.compiler import KernelCompileError, NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.linkers.native import NativeLinker


class _Recorder:
    """Keeps the kernels that it is to compile; the programs that have them are not called."""

    name = "c"
    identity = "recorder"
    step_limit = CCompiler.step_limit
    lowers = staticmethod(CCompiler.lowers)

    def __init__(self) -> None:
        self.kernels: list[AnyKernel] = []

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """Kernels that nobody can call."""
        self.kernels += kernels
        return [NativeKernel(1, kernel) for kernel in kernels]

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: there is no image."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Raises: there is no image."""
        raise KernelCompileError("nothing is compiled")


def lowered(compiled: Function) -> str:
    """Return the instructions of a function, and the C text of what its mode makes kernels of."""
    program = str(compiled.explain())
    if compiled.mode == "py":
        return program
    recorder = _Recorder()
    NativeLinker(recorder, find_fusion("c")).compile(compiled.optimized)
    unit = translate(recorder.kernels, vector_functions=frozenset(), has_wide_registers=False)
    return f"{program}\n\n{unit.text()}"
