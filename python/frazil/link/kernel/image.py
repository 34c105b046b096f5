"""Machine code as bytes, for another process to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Image:
    """A library of kernels as bytes.

    ``pointers`` maps symbols of the library to names of functions outside it, which SciPy, the C
    library or the runtime have. A symbol is a variable for the function's address, or the function
    itself.
    """

    code: bytes
    pointers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A kernel in an image."""

    image: Image
    name: str
