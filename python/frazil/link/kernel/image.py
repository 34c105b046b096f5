"""Machine code as bytes, for another process to load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Image:
    """A library of kernels as bytes.

    ``pointers`` maps symbols of the library to names of functions outside it, which SciPy, the C
    library or the runtime have. A symbol is a variable for the function's address, or the function
    itself. ``literals`` is what the library's table of that name is to hold.
    """

    code: bytes
    pointers: Mapping[str, str]
    literals: bytes = b""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A kernel in an image."""

    image: Image
    name: str


class Library(Protocol):
    """An image that this process has loaded."""

    @property
    def image(self) -> Image: ...

    def address(self, name: str) -> int:
        """The address of the function of that name."""
        ...


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class LoadedKernel:
    """A kernel in a library, which stays loaded as long as this is alive."""

    library: Library
    name: str
    address: int


def loaded_kernels(library: Library, names: Sequence[str]) -> list[LoadedKernel]:
    """Return the kernels of these names in a library.

    Raises
    ------
    KeyError
        If there is no kernel of such a name.
    """
    return [LoadedKernel(library, name, library.address(name)) for name in names]


def symbol_of(keepalive: object) -> Symbol | None:
    """Return where a kernel of a library is in its image; None for all else.

    Examples
    --------
    >>> from frazil.link.kernel.image import symbol_of
    >>> symbol_of("no kernel") is None
    True
    """
    if not isinstance(keepalive, LoadedKernel):
        return None
    return Symbol(keepalive.library.image, keepalive.name)
