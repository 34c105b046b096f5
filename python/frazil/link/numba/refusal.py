"""Functions of users that may become native: Numba must compile them, and compute as Python does.

Numba is imported for functions that are not refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from frazil.cache.modules import is_frazil
from frazil.link.numba.impl import faults_of_reads, function_of
from frazil.scalar.op import ScalarOp

_known: WeakKeyDictionary[ScalarOp, dict[tuple[tuple[str, ...], str], str | None]] = (
    WeakKeyDictionary()
)


def refusal(op: ScalarOp, params: Sequence[str], result: str) -> str | None:
    """Why ``impl`` cannot be compiled for operands and a result of these types; None if it can.

    Asked once an op and its types.
    """
    known = _known.setdefault(op, {})
    key = tuple(params), result
    if key not in known:
        known[key] = _refusal(op, *key)
    return known[key]


def _refusal(op: ScalarOp, params: tuple[str, ...], result: str) -> str | None:
    if is_frazil(type(op)):
        return "frazil has none for this type"
    if op.ufunc is not None or op.on_arrays is not None:
        return "it is computed by a function of whole arrays, and has no text for Numba"
    if "uint64" in params:
        return "Numba computes uint64 and other integers in float64, where Python is exact"
    function = function_of(op)
    if function is None:
        return "its impl is no function written in Python"
    for found in faults_of_reads(function):
        if found is not None:
            return found
    try:
        from frazil.link.numba import jitted
    except Exception as error:
        return f"Numba cannot be imported: {type(error).__name__}: {error}"
    return jitted.fault(op, params, result)
