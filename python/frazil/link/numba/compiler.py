"""Numba as a compiler of kernels."""

from __future__ import annotations

import importlib.util
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from frazil.cache.identity import package, processor
from frazil.link.image import Image, Symbol
from frazil.link.kernel import (
    KernelCompileError,
    LoopKernel,
    LoweringError,
    NativeKernel,
)
from frazil.link.recurrence import AnyKernel
from frazil.scalar.op import ScalarOp

# Numba's own lock protects its compiler, but not the types that its intrinsics register.
_LOCK = threading.Lock()


class NumbaCompiler:
    """Compiles loop kernels with Numba, which is imported at the first.

    Examples
    --------
    >>> from frazil.link.numba import NumbaCompiler
    >>> from frazil.scalar import sin
    >>> NumbaCompiler().lowers(sin, ["float32"], "float32")
    True
    """

    name = "numba"

    # Type inference and LLVM take longer per statement the more there are.
    statement_limit = 40
    step_limit = 400

    @classmethod
    def find(cls) -> NumbaCompiler | None:
        """The compiler; None where Numba is not installed."""
        return None if importlib.util.find_spec("numba") is None else cls()

    def lowers(self, op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        from frazil.link.numba.source import KernelSource

        source = KernelSource(LoopKernel((), (), (), ()))
        try:
            source.apply(op, [("x", dtype) for dtype in operands], result)
        except LoweringError:
            return False
        return True

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order; equal kernels are compiled once as long as one is alive."""
        callbacks = [self._callback(kernel) for kernel in kernels]
        return [NativeKernel(callback.address, callback) for callback in callbacks]

    @property
    def identity(self) -> str:
        """What the machine code depends on besides the kernel: Numba, LLVM, SciPy, processor."""
        packages = "\n".join(map(package, ("numba", "llvmlite", "scipy")))
        return f"{packages}\n{processor()}"

    def symbol(self, keepalive: object) -> Symbol | None:
        """None: the machine code cannot be kept."""
        return None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """Nothing: no image was ever made."""
        raise KernelCompileError("kernels made by Numba cannot be loaded")

    def _callback(self, kernel: AnyKernel) -> _Callback:
        with _LOCK:
            made = _MADE.get(kernel)
            if made is None:
                made = _MADE[kernel] = _Callback(kernel)
            return made


class _Callback:
    """A kernel as a C callback."""

    def __init__(self, kernel: AnyKernel) -> None:
        import numba
        from numba.core import errors, types

        from frazil.link.numba.functions import BYTES
        from frazil.link.numba.recurrence import RecurrenceSource
        from frazil.link.numba.source import KernelSource

        source = (
            KernelSource(kernel) if isinstance(kernel, LoopKernel) else RecurrenceSource(kernel)
        )
        namespace: dict[str, Any] = dict(source.globals)
        exec(compile(source.text, "<frazil kernel>", "exec"), namespace)
        signature = types.int32(
            types.CPointer(BYTES), types.int64, types.int64, types.CPointer(types.int64)
        )
        try:
            self._cfunc = numba.cfunc(signature, error_model="numpy")(namespace["kernel"])
        except errors.NumbaError as error:
            raise KernelCompileError(f"Numba rejected a kernel.\n{source.text}\n{error}") from error
        self.address: int = self._cfunc.address


_MADE: weakref.WeakValueDictionary[AnyKernel, _Callback] = weakref.WeakValueDictionary()
"""The kernels that are alive."""
