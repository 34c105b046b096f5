"""What makes machine code of kernels, whatever language it has them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from frazil.link.kernel.image import Image, Symbol
from frazil.link.kernel.scan_kernel import AnyKernel

if TYPE_CHECKING:
    from frazil.scalar.op import ScalarOp


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A kernel in machine code; the address is valid as long as ``keepalive`` is alive."""

    address: int
    keepalive: object


class KernelCompiler(Protocol):
    """What makes native code of loop kernels of any size.

    :func:`~frazil.link.fusion.registry.register_fusion` says under its name what its loops hold.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str:
        """What the machine code depends on besides the kernel: compiler, flags, processor."""
        ...

    @property
    def step_limit(self) -> int:
        """The number of statements up to which a loop's step may be written out."""
        ...

    def lowers(self, op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        ...

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order."""
        ...

    def symbol(self, keepalive: object) -> Symbol | None:
        """Where a kernel kept by ``keepalive`` is in an image; None if it cannot be kept."""
        ...

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image.

        Raises
        ------
        KernelCompileError
            If the image cannot be loaded, or has no such kernel.
        """
        ...


class KernelCompileError(RuntimeError):
    """A compiler rejected the source of a kernel, or could not be run.

    Attributes
    ----------
    source : str or None
        What was rejected.
    """

    def __init__(self, message: str, source: str | None = None) -> None:
        super().__init__(message)
        self.source = source


class BrokenCompilerError(KernelCompileError):
    """A compiler compiles nothing on this machine, whatever the source."""


def texts_of(ops: Mapping[str, str]) -> str:
    """What a message adds of ops that brought the text of theirs to a rejected source.

    Examples
    --------
    >>> from frazil.link.kernel.compiler import texts_of
    >>> print(texts_of({"Cube()": "{0} ** 3"}))
    its ops that are not frazil's own: Cube() with '{0} ** 3'
    """
    if not ops:
        return ""
    named = ", ".join(f"{op} with {text!r}" for op, text in ops.items())
    return f"its ops that are not frazil's own: {named}"
