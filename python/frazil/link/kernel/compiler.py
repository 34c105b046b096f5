"""Kernel compilers: they make machine code of kernels, by way of any language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from frazil.graph.dataclass import dataclass
from frazil.link.kernel.image import Image, Symbol
from frazil.link.kernel.scan_kernel import AnyKernel

if TYPE_CHECKING:
    from frazil.scalar.op import ScalarOp

STATEMENT_LIMIT = 150
"""The number of statements up to which one loop is worth more than two.

Longer kernels hold more operands than registers: gcc takes longer for each statement, and so do
calls. The other compilers have the same limit, so that their kernels are the same.
"""

STEP_LIMIT = 4000
"""The highest number of statements that the step of a scan kernel may have."""


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A kernel in machine code; its address is valid while ``keepalive`` is alive."""

    address: int
    keepalive: object


class KernelCompiler(Protocol):
    """Makes machine code of kernels of any size.

    What its kernels may hold is registered under its name, by
    :func:`~frazil.link.fusion.registry.register_fusion`.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str:
        """All that the machine code depends on besides the kernel: compiler, flags, processor."""
        ...

    @property
    def step_limit(self) -> int:
        """The highest number of statements that the step of a scan kernel may have."""
        ...

    def lowers(self, op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        ...

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order."""
        ...

    def symbol(self, keepalive: object) -> Symbol | None:
        """The image and name of the kernel that ``keepalive`` keeps; None if it has no image."""
        ...

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image.

        Raises
        ------
        KernelCompileError
            If the image cannot be loaded, or has no such kernel.
        """
        ...


class Placed(Protocol):
    """A kernel in memory, for as long as this is alive."""

    @property
    def address(self) -> int: ...


PlacedT = TypeVar("PlacedT", bound=Placed)


def compile_missing(
    kernels: Sequence[AnyKernel],
    alive: MutableMapping[AnyKernel, PlacedT],
    build: Callable[[list[AnyKernel]], Sequence[PlacedT]],
) -> list[NativeKernel]:
    """Return the native kernels, in order; ``build`` makes those that are not ``alive``.

    Examples
    --------
    >>> from frazil.link.kernel.compiler import NativeKernel, compile_missing
    >>> alive = {"old": NativeKernel(64, None)}
    >>> found = compile_missing(
    ...     ["new", "old", "new"], alive, lambda missing: [NativeKernel(80, None) for _ in missing]
    ... )
    >>> [kernel.address for kernel in found]
    [80, 64, 80]
    """
    placed = {kernel: alive.get(kernel) for kernel in kernels}
    missing = [kernel for kernel, place in placed.items() if place is None]
    if missing:
        for kernel, place in zip(missing, build(missing), strict=True):
            placed[kernel] = alive[kernel] = place
    found = [placed[kernel] for kernel in kernels]
    return [NativeKernel(place.address, place) for place in found if place is not None]


class KernelCompileError(RuntimeError):
    """A compiler rejected the source of a kernel, or could not be run.

    Attributes
    ----------
    source : str or None
        The rejected source.
    """

    def __init__(self, message: str, source: str | None = None) -> None:
        super().__init__(message)
        self.source = source


class BrokenCompilerError(KernelCompileError):
    """A compiler that compiles no source at all on this machine."""


def texts_of(ops: Mapping[str, str]) -> str:
    """The part of an error message that names the user's ops in a rejected source.

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
