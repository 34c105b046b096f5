"""Addresses of the functions that native code calls: of the runtime, SciPy and the C library."""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys
from functools import cache

import frazil._core as _core

OF_SCIPY = "scipy_"
"""The prefix of the names of SciPy's functions."""

_OF_REALS = re.compile(r"double \((double, )+int __pyx_skip_dispatch\)")


def function_address(name: str) -> int:
    """The address of a function of SciPy, or else of the runtime.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    return scipy_function(name) if name.startswith(OF_SCIPY) else _core.kernel_function(name)


@cache
def scipy_function(name: str) -> int:
    """The address of a function of float64 that scipy.special.cython_special exports to C.

    The functions of one name differ by their types, and which number each has differs by SciPy's
    version. So the one is taken whose type is right.

    Raises
    ------
    KeyError
        If there is none of that name.

    Examples
    --------
    >>> from ctypes import CFUNCTYPE, c_double, c_int
    >>> from frazil.link.toolchain.symbols import scipy_function
    >>> ndtri = CFUNCTYPE(c_double, c_double, c_int)(scipy_function("scipy_ndtri"))
    >>> round(ndtri(0.975, 0), 6)
    1.959964
    """
    from scipy.special import cython_special

    own = re.compile(rf"(__pyx_fuse_\d+)?{re.escape(name.removeprefix(OF_SCIPY))}")
    for exported, capsule in cython_special.__pyx_capi__.items():
        if own.fullmatch(exported) and _OF_REALS.fullmatch(_name_of(capsule).decode()):
            return address_in(capsule)
    raise KeyError(name)


def address_in(capsule: object) -> int:
    """The address in a capsule of Cython."""
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return int(pointer_of(capsule, _name_of(capsule)))


def _name_of(capsule: object) -> bytes:
    """The name of a capsule, which Cython makes the type of the function."""
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
        ("PyCapsule_GetName", ctypes.pythonapi)
    )
    return bytes(name_of(capsule))


@cache
def load_math(vectors: bool = True) -> None:
    """Make the C library's math functions visible to all libraries that this process loads later.

    Functions on vectors are in a library that few processes load by themselves.
    """
    # Other C libraries hold their math functions themselves, as a rule.
    names = ("libm.so.6", "libmvec.so.1")[: 1 + vectors] if sys.platform == "linux" else ()
    for name in names:
        with contextlib.suppress(OSError):
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
