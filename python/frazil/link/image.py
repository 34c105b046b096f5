"""Machine code as bytes, for another process to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Image:
    """A library of kernels as bytes.

    ``pointers`` name the library's variables that hold addresses of functions, each with the name
    under which SciPy exports the function, or the runtime has it.
    """

    code: bytes
    pointers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A kernel in an image."""

    image: Image
    name: str
