"""Programs that begin with the extension's kernels, and go on with C's if that is worth it."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.link.c import CCompiler
from frazil.link.c.search import may_have_toolchain, refused_compilers
from frazil.link.cranelift import CraneliftCompiler, MadeKernel
from frazil.link.cranelift.description import describe
from frazil.link.fusion.registry import LoweredOps, find_fusion, register_fusion
from frazil.link.kernel.compiler import BrokenCompilerError, KernelCompileError, NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.linkers.c_first import reason_in_kernel
from frazil.link.linkers.native import NativeLinker
from frazil.link.linkers.staying_kernels import has_functions, stays
from frazil.link.lowering.graph import kernels_of
from frazil.scalar.op import ScalarOp

_START = 0.03
_STATEMENT = 0.0007
"""Seconds that a C compiler takes to start, and for each statement."""


class TieredCompiler:
    """Makes kernels in the extension, whose place C's may take later where they give the same bits.

    Kernels with an op that C must compile are compiled by C at once.
    """

    name = "tiered"

    step_limit = CraneliftCompiler.step_limit

    def __init__(self, quick: CraneliftCompiler) -> None:
        self._quick = quick

    @classmethod
    def find(cls) -> TieredCompiler | None:
        """The compiler; None where there is nothing to begin with, or nothing to go on with."""
        quick = CraneliftCompiler.find()
        return cls(quick) if quick is not None and may_have_toolchain() else None

    @staticmethod
    def lowers(op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        # C lowers all that the extension lowers, and the extension is asked in a tenth of the time.
        quick = CraneliftCompiler.lowers(op, operands, result)
        return quick or CCompiler.lowers(op, operands, result)

    @property
    def identity(self) -> str:
        """That of the quick compiler. Machine code from C names its compiler itself."""
        return self._quick.identity

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order."""
        if any(reason_in_kernel(kernel) is not None for kernel in kernels):
            return _thorough().compile(kernels)
        return self._quick.compile(kernels)

    def symbol(self, keepalive: object) -> Symbol | None:
        """The place in an image of a kernel that ``keepalive`` keeps: C's, if there is one."""
        if isinstance(keepalive, MadeKernel):
            if keepalive.successor is None:
                return keepalive.symbol
            keepalive = keepalive.successor.keepalive
        thorough = _thorough()
        found = thorough.symbol(keepalive)
        return None if found is None else Symbol(found.image, f"{_mark(thorough)}{found.name}")

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        if not any(_MARK in name for name in names):
            return self._quick.load(image, names)
        thorough = _thorough()
        mark = _mark(thorough)
        if not all(name.startswith(mark) for name in names):
            raise KernelCompileError("an image was made by another C compiler")
        return thorough.load(image, [name.removeprefix(mark) for name in names])


@register_fusion("tiered")
def fusion() -> LoweredOps:
    """The fusion of kernels in C."""
    known = find_fusion("c")
    return LoweredOps(TieredCompiler.lowers, known.statement_limit, CCompiler.refusal)


_MARK = ":"


def _mark(compiler: CCompiler) -> str:
    """The prefix of the names of kernels that this compiler made."""
    return _core.digest_of(compiler.identity.encode()).hex() + _MARK


def _thorough() -> CCompiler:
    """The C compiler.

    Raises
    ------
    BrokenCompilerError
        If there is none that works.
    """
    found = CCompiler.find()
    if found is None:
        raise BrokenCompilerError("\n".join(["no C compiler works", *refused_compilers()]))
    return found


def replaceable(program: Program) -> list[MadeKernel]:
    """The kernels of a program whose places C's may take."""
    kept = dict.fromkeys(keepalive for keepalive, _ in program.kernels)
    made = [own for own in kept if isinstance(own, MadeKernel) and own.successor is None]
    return [own for own in made if not stays(own.text)]


class TieredLinker(NativeLinker):
    """Makes programs that begin with kernels of the extension."""

    def patience(self, kernels: Sequence[MadeKernel]) -> float:
        """About the seconds that C would take to compile these kernels."""
        return _START + _STATEMENT * sum(own.text.count("\n") for own in kernels)

    def replace(
        self, kernels: Sequence[MadeKernel], graph: FrozenFunctionGraph, donated: Sequence[Variable]
    ) -> None:
        """Compile the kernels of the program of ``graph`` by C, and let these take their places.

        Raises
        ------
        KernelCompileError
            If the C compiler fails.
        """
        if any(own.kernel is None for own in kernels):
            # They come from an image, which has no more than their texts.
            lowered = kernels_of(graph, self._compiler, self._fusion, donated)
            by_text = {describe(kernel): kernel for kernel in lowered}
            for own in kernels:
                own.kernel = own.kernel or by_text.get(own.text)
        thorough = _thorough()
        lacks_functions = thorough.toolchain.has_wide_registers and not thorough.toolchain.is_gcc
        known = {
            own: own.kernel
            for own in kernels
            if own.kernel is not None
            # Other compilers do not know the runtime's functions for registers of AVX-512.
            and (not lacks_functions or not has_functions(own.text))
        }
        for own, native in zip(known, thorough.compile([*known.values()]), strict=True):
            own.replace(native)
