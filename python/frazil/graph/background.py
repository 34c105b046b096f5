"""Threads of frazil's own, which work in the background and run no code that a trace is about."""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable

_lock = threading.Lock()
_alive: set[int] = set()
"""The identifiers of those that run."""
_spent = 0
"""Nanoseconds of processor time of those that have ended."""


class BackgroundThread(threading.Thread):
    """A thread of frazil's own, which keeps no process alive."""

    def __init__(self, target: Callable[[], None], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._work = target

    def run(self) -> None:
        """Do the work."""
        _do(self._work)


def begin(work: Callable[[], None]) -> None:
    """Let a thread do the work, and do not wait until it runs, as the start of a ``Thread`` does.

    That takes a tenth of a millisecond, and several where other programs use the processors. Nobody
    can wait for the end of this thread.

    Raises
    ------
    RuntimeError
        If the system has no room for a thread.
    """
    _thread.start_new_thread(_do, (work,))


def _do(work: Callable[[], None]) -> None:
    global _spent
    own = threading.get_ident()
    with _lock:
        _alive.add(own)
    try:
        work()
    finally:
        with _lock:
            _alive.discard(own)
            _spent += time.thread_time_ns()


def users_threads() -> int:
    """Return how many threads there are that are not frazil's own."""
    return sum(
        not isinstance(one, BackgroundThread) and one.ident not in _alive
        for one in threading.enumerate()
    )


def background_time() -> int:
    """Return the nanoseconds of processor time that frazil's own threads have used."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return 0
    with _lock:
        clocks = [time.pthread_getcpuclockid(own) for own in _alive]
        return _spent + sum(map(time.clock_gettime_ns, clocks))


def _forget_threads() -> None:
    """A forked process has none of them, and its clocks begin anew."""
    global _lock, _spent
    _lock, _spent = threading.Lock(), 0
    _alive.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
