"""NumPy's functions that sort numbers, which programs call without Python."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

import frazil._core as _core

_DTYPES = ("int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64")
"""Bytes are counted instead."""

_GET_FUNCTIONS = 365
"""The place of ``PyDataType_GetArrFuncs`` among the functions that NumPy 2 exports to C."""

_SORT = 33
"""The place of the default sort in ``PyArray_ArrFuncs``: behind 21 casts and 12 others."""


@cache
def install() -> None:
    """Give the runtime the functions that sort numbers; once."""
    table = _exported()
    if table is None:
        return
    for dtype in _DTYPES:
        address = _sorter(table, dtype)
        if address is not None:
            _core.set_sorter(dtype, address)


def _sorter(table: ctypes._Pointer[ctypes.c_void_p], dtype: str) -> int | None:
    """The address of the function for a dtype; None if there is none that sorts."""
    functions_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(table[_GET_FUNCTIONS])
    functions = ctypes.cast(functions_of(np.dtype(dtype)), ctypes.POINTER(ctypes.c_void_p))
    address = functions[_SORT]
    return address if address and _sorts(address, dtype) else None


def _exported() -> ctypes._Pointer[ctypes.c_void_p] | None:
    """The functions that NumPy exports to C; None for a NumPy that has them in other places."""
    if not np.__version__.startswith("2."):
        return None
    module = sys.modules.get("numpy._core._multiarray_umath")
    capsule = getattr(module, "_ARRAY_API", None)
    if capsule is None:
        return None
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return ctypes.cast(pointer_of(capsule, None), ctypes.POINTER(ctypes.c_void_p))


def _sorts(address: int, dtype: str) -> bool:
    """Whether a function sorts a few numbers."""
    sort = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    numbers = np.array([3, 1, 2, 5, 4], dtype)
    status: int = sort(address)(numbers.ctypes.data, len(numbers), None)
    return status == 0 and bool((numbers == np.arange(1, 6)).all())
