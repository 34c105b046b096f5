"""The code generator within the extension as a compiler of kernels."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import frazil._core as _core
from frazil.link.cranelift.description import describe, scipy_functions
from frazil.link.kernel.compiler import (
    STEP_LIMIT,
    BrokenCompilerError,
    KernelCompileError,
    NativeKernel,
    compile_missing,
)
from frazil.link.kernel.image import Image, Symbol
from frazil.link.kernel.loop_kernel import LoweringError
from frazil.link.kernel.scalar_loop import body_of
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.toolchain.count import count_compiled
from frazil.link.toolchain.pool import compile_all, thread_count
from frazil.link.toolchain.symbols import function_address
from frazil.scalar.loop import loop_result
from frazil.scalar.op import ScalarOp


class CraneliftCompiler:
    """Makes machine code of kernels within this process, in about a millisecond each.

    Examples
    --------
    >>> from frazil.link.cranelift import CraneliftCompiler
    >>> from frazil.scalar import sin
    >>> CraneliftCompiler.lowers(sin, ["float32"], "float32")
    True
    """

    name = "cranelift"

    step_limit = STEP_LIMIT

    @classmethod
    def find(cls) -> CraneliftCompiler | None:
        """The compiler; None where the system runs no code that the process makes."""
        return None if _core.native_code_fault() is not None else cls()

    @staticmethod
    def lowers(op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        return CraneliftCompiler.refusal(op, operands, result) is None

    @staticmethod
    def refusal(op: ScalarOp, operands: Sequence[str], result: str) -> str | None:
        """Why the op cannot be a statement; None if it can.

        Examples
        --------
        >>> from frazil.link.cranelift import CraneliftCompiler
        >>> from frazil.scalar import sin
        >>> CraneliftCompiler.refusal(sin, ["int8"], "int8")
        'the code generator has no form of sin for int8'
        """
        part = loop_result(op)
        if part is not None:
            return _loop_refusal(op)
        if op.table_name is None:
            return f"the code generator knows frazil's own ops alone, and {op} is none"
        wanted = op.operand_dtypes(operands, result)
        if _core.kernels_hold(op.table_name, list(wanted), result):
            return None
        return f"the code generator has no form of {op} for {', '.join(wanted)}"

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order; equal kernels are compiled once as long as one is alive."""
        return compile_missing(kernels, _PLACED, self._make)

    def _make(self, kernels: list[AnyKernel]) -> list[MadeKernel]:
        made = _build([*map(describe, kernels)])
        for kernel, place in zip(kernels, made, strict=True):
            place.kernel = kernel
        count_compiled(self.name, len(kernels))
        return made

    @property
    def identity(self) -> str:
        """Nothing: an image holds texts, whose code is made where the program is loaded."""
        return ""

    def symbol(self, keepalive: object) -> Symbol | None:
        """The place in an image of a kernel that ``keepalive`` keeps."""
        return keepalive.symbol if isinstance(keepalive, MadeKernel) else None

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image, which holds their texts."""
        try:
            texts = image.code.decode().split(_BETWEEN)
            placed = _build([texts[int(name)] for name in names])
        except (ValueError, IndexError, KeyError) as error:
            raise KernelCompileError(f"an image could not be loaded: {error}") from error
        return [NativeKernel(place.address, place) for place in placed]


_BETWEEN = "\n\n"
"""The separator of texts in an image."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class MadeKernel:
    """A kernel that the code generator made in this process.

    ``kernel`` is its source, if that is known: an image has the text alone. Once
    another compiler's code has taken its place, ``successor`` is that.
    """

    code: _core.NativeCode
    at: int
    address: int
    symbol: Symbol
    text: str
    kernel: AnyKernel | None = None
    successor: NativeKernel | None = None

    def replace(self, successor: NativeKernel) -> None:
        """Let calls, from now on, be calls of another kernel that gives the same bits."""
        self.successor = successor
        self.code.replace(self.at, successor)


def _build(texts: list[str]) -> list[MadeKernel]:
    """The machine code of kernels.

    Raises
    ------
    KernelCompileError
        If the code generator refuses one.
    BrokenCompilerError
        If the system gives no memory that code may run in, or ``$FRAZIL_JITDUMP`` names a folder
        that takes no file.
    """
    scipy = {name for text in texts for name in scipy_functions(text)}
    dump = os.environ.get("FRAZIL_JITDUMP") or None
    # One thread writes to the file for profilers.
    parts = parts_for_threads([*map(len, texts)], 1 if dump else thread_count())
    try:
        functions = {name: function_address(name) for name in scipy}

        def make(part: Sequence[int]) -> _core.NativeCode:
            return _core.compile_kernels([texts[k] for k in part], functions, dump)

        codes = compile_all(make, parts)
    except OSError as error:
        raise BrokenCompilerError(str(error)) from error
    except RuntimeError as error:
        raise KernelCompileError(str(error), _BETWEEN.join(texts)) from error
    image = Image(_BETWEEN.join(texts).encode(), {})
    made = {
        k: MadeKernel(code, at, address, Symbol(image, f"{k}"), texts[k])
        for part, code in zip(parts, codes, strict=True)
        for at, (k, address) in enumerate(zip(part, code.addresses(), strict=True))
    }
    return [made[k] for k in range(len(texts))]


_WORTH_A_THREAD = 1500
"""The length of texts whose code takes ten times longer to make than a thread to start."""


def parts_for_threads(lengths: Sequence[int], threads: int) -> list[list[int]]:
    """The numbers of texts of these lengths in parts of about the same length, one for each thread.

    There are fewer parts than threads where less is to be done than is worth a thread.

    Examples
    --------
    >>> from frazil.link.cranelift.compiler import parts_for_threads
    >>> parts_for_threads([1000, 2500, 1200, 200], 2), parts_for_threads([1000, 500], 2)
    ([[1], [2, 0, 3]], [[0, 1]])
    """
    count = min(threads, len(lengths), sum(lengths) // _WORTH_A_THREAD)
    if count < 2:
        return [[*range(len(lengths))]]
    parts: list[list[int]] = [[] for _ in range(count)]
    filled = [0] * count
    for k in sorted(range(len(lengths)), key=lambda k: -lengths[k]):
        least = filled.index(min(filled))
        parts[least].append(k)
        filled[least] += lengths[k]
    return parts


_PLACED: weakref.WeakValueDictionary[AnyKernel, MadeKernel] = weakref.WeakValueDictionary()
"""The kernels that are alive."""


def _loop_refusal(op: ScalarOp) -> str | None:
    """Why a loop that elements go through has no form; None if it has one."""
    part = loop_result(op)
    assert part is not None
    try:
        body = body_of(part[0])
    except LoweringError as error:
        return str(error)
    for own in body.statements:
        operands = [body.dtypes[a] for a in own.args]
        if loop_result(own.op) is not None:
            return f"{op} has a loop in its steps"
        if fault := CraneliftCompiler.refusal(own.op, operands, own.dtype):
            return fault
    return None
