"""Machine code as bytes, for another process to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Image:
    """A library of kernels as bytes.

    ``pointers`` name what in the library stands for functions of others, variables that hold their
    address or the functions themselves, each with the name under which SciPy or the C library
    exports it, or the runtime has it.
    """

    code: bytes
    pointers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A kernel in an image."""

    image: Image
    name: str
