"""A pause of garbage collections while functions are traced and compiled."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pausing: dict[int, int] = {}
"""The threads that want a pause, and how often each."""
_were_enabled = False
"""Whether collections ran before the pause."""


@contextmanager
def no_collections() -> Iterator[None]:
    """Run no garbage collection until the last thread in here leaves.

    A collection calls finalizers, callbacks of weak references and ``gc.callbacks`` of others, in
    whatever code runs at that moment: a trace would take them for what that code calls. A
    compilation makes many objects and no garbage to speak of, so that collections find nothing and
    take a tenth of its time.
    """
    global _were_enabled
    thread = threading.get_ident()
    with _lock:
        if not _pausing:
            _were_enabled = gc.isenabled()
            gc.disable()
        _pausing[thread] = _pausing.get(thread, 0) + 1
    try:
        yield
    finally:
        with _lock:
            if _pausing.get(thread, 0) > 1:
                _pausing[thread] -= 1
            else:
                _leave([thread])


def _leave(threads: Iterable[int]) -> None:
    if not _pausing:
        return
    for thread in threads:
        _pausing.pop(thread, None)
    if not _pausing and _were_enabled:
        gc.enable()


def _forget_other_threads() -> None:
    """A forked process has one thread: it alone ends its pause."""
    global _lock
    _lock = threading.Lock()
    own = threading.get_ident()
    _leave([thread for thread in _pausing if thread != own])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
