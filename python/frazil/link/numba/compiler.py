"""Numba as a compiler of kernels."""

from __future__ import annotations

import importlib.util
import os
import platform
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import frazil._core as _core
from frazil.cache.identity import package, processor
from frazil.link.kernel.compiler import (
    STEP_LIMIT,
    BrokenCompilerError,
    KernelCompileError,
    NativeKernel,
    compile_missing,
)
from frazil.link.kernel.image import Image, LoadedKernel, Symbol, loaded_kernels, symbol_of
from frazil.link.kernel.loop_kernel import LoopKernel, LoweringError
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.toolchain.count import count_compiled
from frazil.scalar.op import ScalarOp

# Numba's own lock protects its compiler, but not the types that its intrinsics register.
_LOCK = threading.Lock()


def _renew_lock() -> None:
    """In a child, where the thread that held the lock does not exist."""
    global _LOCK
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class NumbaCompiler:
    """Compiles loop kernels with LLVM, and what users wrote for Numba with that.

    Examples
    --------
    >>> from frazil.link.numba import NumbaCompiler
    >>> from frazil.scalar import sin
    >>> NumbaCompiler.lowers(sin, ["float32"], "float32")
    True
    """

    name = "numba"

    step_limit = STEP_LIMIT

    @classmethod
    def find(cls) -> NumbaCompiler | None:
        """The compiler; None if Numba is not installed, or no process may run its machine code."""
        missing = importlib.util.find_spec("numba") is None
        return None if missing or _core.made_code_fault() is not None else cls()

    @staticmethod
    def lowers(op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        return NumbaCompiler.refusal(op, operands, result) is None

    @staticmethod
    def refusal(op: ScalarOp, operands: Sequence[str], result: str) -> str | None:
        """Why the op cannot be a statement; None if it can.

        Examples
        --------
        >>> from frazil.link.numba import NumbaCompiler
        >>> from frazil.scalar import sin
        >>> NumbaCompiler.refusal(sin, ["int8"], "int8")
        'sin is a function of floats, not of int8'
        """
        with _needs_numba():
            from frazil.link.numba.source import KernelSource
        source = KernelSource(LoopKernel((), (), (), ()))
        try:
            source.apply(op, [("x", dtype) for dtype in operands], result)
        except LoweringError as error:
            return str(error)
        return None

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order; equal kernels are compiled once as long as one is alive."""
        with _LOCK:
            return compile_missing(kernels, _PLACED, self._make)

    def _make(self, kernels: list[AnyKernel]) -> list[LoadedKernel]:
        _check_memory()
        with _needs_numba():
            from frazil.link.numba.objects import build
        names = [f"kernel_{k}" for k in range(len(kernels))]
        made = _place(build(kernels, names), names)
        count_compiled(self.name, len(kernels))
        return made

    @property
    def identity(self) -> str:
        """The dependencies of the machine code besides the kernel: Numba, LLVM, SciPy, C library,
        processor."""
        packages = "\n".join(map(package, ("numba", "llvmlite", "scipy")))
        return f"{packages}\n{platform.libc_ver()}\n{processor()}"

    def symbol(self, keepalive: object) -> Symbol | None:
        """The place in an image of a kernel that ``keepalive`` keeps."""
        return symbol_of(keepalive)

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image; Numba is not imported for it."""
        try:
            _check_memory()
            placed = _place(image, names)
        except (ImportError, OSError, KeyError, RuntimeError) as error:
            raise KernelCompileError(f"an image could not be loaded: {error}") from error
        return [NativeKernel(place.address, place) for place in placed]


def _check_memory() -> None:
    """Raise where the system gives no memory that code may run in, which it may forbid at any time.

    LLVM does not tell that it got none: the process would end.
    """
    if (fault := _core.made_code_fault()) is not None:
        raise BrokenCompilerError(fault)


def kernel_text(kernel: AnyKernel) -> str:
    """Return the Python text of a kernel, which LLVM's text is made from."""
    with _needs_numba():
        from frazil.link.numba.scan import ScanSource
        from frazil.link.numba.source import KernelSource
    source = KernelSource(kernel) if isinstance(kernel, LoopKernel) else ScanSource(kernel)
    return source.text


@contextmanager
def _needs_numba() -> Iterator[None]:
    """Tell why Numba, or what comes with it, cannot be imported."""
    try:
        yield
    except Exception as error:
        # Numba refuses versions of Python and NumPy that it does not know in many ways.
        raise BrokenCompilerError(
            f"Numba is installed but cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _place(image: Image, names: Sequence[str]) -> list[LoadedKernel]:
    from frazil.link.numba.library import Library

    return loaded_kernels(Library(image), names)


_PLACED: weakref.WeakValueDictionary[AnyKernel, LoadedKernel] = weakref.WeakValueDictionary()
"""The kernels that are alive."""
