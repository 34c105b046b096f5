"""The number of compiled kernels."""

from __future__ import annotations

import os
from collections import Counter
from threading import Lock

_compiled: Counter[str] = Counter()
_lock = Lock()


def _renew_lock() -> None:
    """In a forked child, the thread that held the lock may be gone."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def count_compiled(linker: str, kernels: int) -> None:
    """Count kernels that the compiler of a linker has compiled."""
    with _lock:
        _compiled[linker] += kernels


def compiled_kernels() -> Counter[str]:
    """The number of kernels that each linker has compiled in this process.

    Equal kernels, and so equal segments, are compiled once as long as a function uses one.

    Returns
    -------
    collections.Counter
        The numbers, by the names of linkers.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.link import compiled_kernels
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> f = fz.function([x], ft.sinh(x) * 7, mode="c")
    >>> before = compiled_kernels()["c"]
    >>> g = fz.function([x, y], [ft.sinh(y) * 7, x], mode="c")
    >>> compiled_kernels()["c"] - before
    0
    """
    with _lock:
        return Counter(_compiled)
