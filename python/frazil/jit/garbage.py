"""A pause of garbage collections while functions are traced."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_tracing: set[int] = set()
"""The threads that want a pause."""
_were_enabled = False
"""Whether collections ran before the pause."""


@contextmanager
def no_collections() -> Iterator[None]:
    """Run no garbage collection until the last thread in here leaves.

    A collection calls finalizers, callbacks of weak references and ``gc.callbacks`` of others, in
    whatever code runs at that moment: a trace would take them for what that code calls.
    """
    global _were_enabled
    thread = threading.get_ident()
    with _lock:
        if not _tracing:
            _were_enabled = gc.isenabled()
            gc.disable()
        _tracing.add(thread)
    try:
        yield
    finally:
        with _lock:
            _leave({thread})


def _leave(threads: set[int]) -> None:
    if not _tracing:
        return
    _tracing.difference_update(threads)
    if not _tracing and _were_enabled:
        gc.enable()


def _forget_other_threads() -> None:
    """A forked process has one thread: it alone ends its pause."""
    global _lock
    _lock = threading.Lock()
    _leave(_tracing - {threading.get_ident()})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
