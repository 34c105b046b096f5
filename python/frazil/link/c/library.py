"""Shared objects of kernels, in this process."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import sys
import weakref

from frazil.link.c.literals import TABLE
from frazil.link.kernel.image import Image
from frazil.link.toolchain.scratch import scratch_path
from frazil.link.toolchain.symbols import function_address, load_math

_VECTOR_FUNCTION = b"_ZGV"  # the start of the names of functions on vectors


class Library:
    """A shared object; closed when nothing refers to it any more.

    ``code`` is kept alive meanwhile. The file at ``path`` is needed until it is loaded, no longer.

    Raises
    ------
    OSError
        If the system does not load it.
    """

    def __init__(self, path: str, image: Image) -> None:
        self.image = image
        self.code: object = None
        load_math(vectors=_VECTOR_FUNCTION in image.code)
        self._library = ctypes.CDLL(path)
        weakref.finalize(self, _close, self._library._handle).atexit = False
        for name, exported in image.pointers.items():
            slot = ctypes.c_void_p.in_dll(self._library, name)
            slot.value = function_address(exported)
        if image.literals:
            table = (ctypes.c_char * len(image.literals)).in_dll(self._library, TABLE)
            ctypes.memmove(table, image.literals, len(image.literals))

    def address(self, name: str) -> int:
        """The address of a function.

        Raises
        ------
        ValueError
            If there is none.
        """
        return ctypes.addressof(ctypes.c_char.in_dll(self._library, name))


def load(image: Image) -> Library:
    """The library of an image.

    Raises
    ------
    OSError
        If the system does not load it.
    """
    if sys.platform == "linux":
        # A system may have no such files in memory, or forbid to run what they hold.
        with contextlib.suppress(OSError):
            return _load_from_memory(image)
    return _load_from_file(image)


_loads = itertools.count()


def _load_from_memory(image: Image) -> Library:
    """Load from memory: it takes a quarter of the time that naming and removing a file takes."""
    descriptor = os.memfd_create("frazil-kernels", getattr(os, "MFD_CLOEXEC", 0))
    try:
        if os.write(descriptor, image.code) != len(image.code):
            raise OSError("the memory for a library is too small")
        # The loader takes equal paths for the same library, and descriptors are used again. So each
        # load spells its path in its own way.
        spelled = f"{next(_loads):b}".replace("0", "/").replace("1", "./")
        return Library(f"/proc/self/fd/{spelled}{descriptor}", image)
    finally:
        os.close(descriptor)


def _load_from_file(image: Image) -> Library:
    with scratch_path("kernels.so") as path:
        with open(path, "wb") as file:
            file.write(image.code)
        return Library(path, image)


def _close(handle: int) -> None:
    dlclose = ctypes.CDLL(None).dlclose
    dlclose.argtypes = [ctypes.c_void_p]
    dlclose(handle)
