"""The kernel compiler that writes C."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence

from frazil.link.c import made
from frazil.link.c.build import build
from frazil.link.c.library import Library, load
from frazil.link.c.made import Found, MadeCode
from frazil.link.c.search import Toolchain, find_toolchain
from frazil.link.c.translation import joined, translate_one
from frazil.link.c.unit import Unit
from frazil.link.kernel.compiler import (
    STEP_LIMIT,
    BrokenCompilerError,
    KernelCompileError,
    NativeKernel,
)
from frazil.link.kernel.image import Image, LoadedKernel, Symbol, loaded_kernels, symbol_of
from frazil.link.kernel.loop_kernel import LoweringError
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.toolchain.count import count_compiled
from frazil.link.toolchain.once import SingleFlight
from frazil.link.toolchain.pool import compile_all, thread_count
from frazil.scalar.op import ScalarOp

_PLACED: weakref.WeakValueDictionary[tuple[Toolchain, AnyKernel], LoadedKernel] = (
    weakref.WeakValueDictionary()
)
"""The kernels that are alive."""

_COMPILING: SingleFlight[tuple[Toolchain, AnyKernel], LoadedKernel] = SingleFlight()


class CCompiler:
    """Compiles loop kernels with the system's C compiler.

    Raises
    ------
    BrokenCompilerError
        If this machine has no C compiler; :meth:`find` gives None instead.

    Examples
    --------
    >>> from frazil.link.c import CCompiler
    >>> from frazil.link.kernel.loop_kernel import LoopKernel, Read, Statement, Write
    >>> from frazil.scalar import exp
    >>> vector = Read("float64", inner=True)
    >>> kernel = LoopKernel(
    ...     reads=(vector,),
    ...     literals=(),
    ...     statements=(Statement(exp, (0,), "float64"),),
    ...     writes=(Write(1, "float64", inner=True, reduce=None),),
    ... )
    >>> [native] = CCompiler().compile([kernel])
    >>> native.address > 0
    True
    """

    name = "c"

    step_limit = STEP_LIMIT
    _unit_statements = 150  # compiling so many takes as long as starting a process

    def __init__(self, toolchain: Toolchain | None = None) -> None:
        toolchain = toolchain or find_toolchain()
        if toolchain is None:
            raise BrokenCompilerError(
                "no C compiler was found: install gcc or clang, or let $CC name one"
            )
        self.toolchain = toolchain

    @classmethod
    def find(cls) -> CCompiler | None:
        """The compiler of this machine; None if it has none."""
        toolchain = find_toolchain()
        return None if toolchain is None else cls(toolchain)

    @staticmethod
    def lowers(op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        return CCompiler.refusal(op, operands, result) is None

    @staticmethod
    def refusal(op: ScalarOp, operands: Sequence[str], result: str) -> str | None:
        """Why the op cannot be a statement; None if it can."""
        unit = Unit(vector_functions=frozenset())
        try:
            unit.expression(op, tuple(operands), result)
        except LoweringError as error:
            return str(error)
        return None

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order; equal kernels are compiled once as long as one is alive."""
        found = _COMPILING.make(
            ((self.toolchain, kernel) for kernel in kernels), _PLACED.get, self._compile_missing
        )
        places = [found[self.toolchain, kernel] for kernel in kernels]
        return [NativeKernel(place.address, place) for place in places]

    @property
    def identity(self) -> str:
        """The dependencies of the machine code besides the kernel: compiler, flags, processor."""
        return self.toolchain.identity

    def symbol(self, keepalive: object) -> Symbol | None:
        """The place in an image of a kernel that ``keepalive`` keeps."""
        return symbol_of(keepalive)

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        try:
            placed = loaded_kernels(load(image), names)
        except (OSError, ValueError, KeyError) as error:
            raise KernelCompileError(f"an image could not be loaded: {error}") from error
        return [NativeKernel(place.address, place) for place in placed]

    def _compile_missing(self, wanted: Sequence[tuple[Toolchain, AnyKernel]]) -> list[LoadedKernel]:
        kernels = [kernel for _, kernel in wanted]
        units = {kernel: self._translated(kernel) for kernel in kernels}
        texts = {kernel: unit.text() for kernel, unit in units.items()}
        found = {text: made.find(self.identity, text) for text in dict.fromkeys(texts.values())}
        placed: dict[AnyKernel, LoadedKernel] = {}
        # Kernels that cannot be loaded are compiled.
        with contextlib.suppress(OSError, ValueError, KeyError):
            known = [(k, unit, at) for k, unit in units.items() if (at := found[texts[k]])]
            placed.update(made.load_all(known))
        # One is compiled of all kernels that differ in constants alone.
        missing = {texts[kernel]: kernel for kernel in kernels if kernel not in placed}
        shares = self._shares([*missing.values()])
        compiled = compile_all(
            lambda share: self._compile_unit([units[kernel] for kernel in share]), shares
        )
        fresh: dict[str, MadeCode] = {}
        for share, (library, code) in zip(shares, compiled, strict=True):
            names = [f"kernel_{k}" for k in range(len(share))]
            placed.update(zip(share, loaded_kernels(library, names), strict=True))
            fresh.update(dict.fromkeys(code.kernels, code))
        others = [kernel for kernel in kernels if kernel not in placed]
        placed.update(
            made.load_all([(k, units[k], Found.of(fresh[texts[k]], texts[k])) for k in others])
        )
        natives = [placed[kernel] for kernel in kernels]
        _PLACED.update(zip(wanted, natives, strict=True))
        return natives

    def _translated(self, kernel: AnyKernel) -> Unit:
        return translate_one(
            kernel,
            vector_functions=self.toolchain.vector_functions,
            register_bits=self.toolchain.register_bits,
        )

    def _shares(self, kernels: Sequence[AnyKernel]) -> list[list[AnyKernel]]:
        """The kernels in shares of about as many statements, one share a translation unit."""
        statements = sum(len(kernel.statements) for kernel in kernels)
        wanted = min(len(kernels), thread_count(), 1 + statements // self._unit_statements)
        shares: list[list[AnyKernel]] = [[] for _ in range(wanted)]
        loads = [0] * wanted
        for kernel in sorted(kernels, key=lambda kernel: -len(kernel.statements)):
            lightest = loads.index(min(loads))
            shares[lightest].append(kernel)
            loads[lightest] += len(kernel.statements) + 1
        return shares

    def _compile_unit(self, units: Sequence[Unit]) -> tuple[Library, MadeCode]:
        library = build(self.toolchain, joined(units))
        count_compiled(self.name, len(units))
        library.code = code = made.note(self.identity, units, library.image.code)
        return library, code
