"""Writing to the cache on disk: soon after a function was returned, and not before.

Writing a program takes a tenth of the time of its compilation, and a caller who waits for a first
result does not wait for that. One thread writes, a moment later. An exit writes what is left, also
the one of a child of multiprocessing, which runs no functions of :mod:`atexit`.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from frazil.graph.background import begin

_PAUSE = 0.05
"""Seconds until what was compiled is written: most first calls are over by then."""

Job: TypeAlias = Callable[[], None]
"""Writes an entry."""


def write_soon(key: str, job: Job) -> None:
    """Let ``job`` write the entry of that name a moment later, or before the process exits."""
    _writer.add(key, job)


def finish(key: str | None = None) -> None:
    """Write the entries that are not written yet, if that one is among them; None: in any case."""
    _writer.finish(key)


class _Writer:
    """The entries that are not written yet, and the thread that writes them.

    The thread lives as long as there are some, and keeps no process alive.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        """By the names of their entries; a job goes when it is done."""
        self._waits = False
        self._exits_by_multiprocessing = False
        self._renew_locks()

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def add(self, key: str, job: Job) -> None:
        with self._lock:
            self._jobs[key] = job
            begins, self._waits = not self._waits, True
        self._finish_before_multiprocessing_exits()
        if begins:
            try:
                begin(self._run)
            except RuntimeError:  # the system has no room for it: the next one will do, or the exit
                self._waits = False

    def _finish_before_multiprocessing_exits(self) -> None:
        multiprocessing = sys.modules.get("multiprocessing.util")
        if multiprocessing is not None and not self._exits_by_multiprocessing:
            self._exits_by_multiprocessing = True
            multiprocessing.Finalize(None, finish, exitpriority=0)

    def finish(self, key: str | None) -> None:
        # Without a key, wait for the thread too: it holds what it has just written.
        if key is None or key in self._jobs:
            self._write()

    def begin_anew(self) -> None:
        """Drop what is left to write in a forked child: the thread of the parent writes it."""
        self._jobs.clear()
        self._waits = self._exits_by_multiprocessing = False
        self._renew_locks()

    def _run(self) -> None:
        time.sleep(_PAUSE)
        with self._lock:
            self._waits = False  # what is added from here on has a thread of its own
        self._write()

    def _write(self) -> None:
        with self._writing:
            while True:
                with self._lock:
                    key, job = next(iter(self._jobs.items()), ("", None))
                if job is None:
                    return
                try:
                    job()
                finally:
                    with self._lock:
                        if self._jobs.get(key) is job:
                            del self._jobs[key]


_writer = _Writer()
atexit.register(finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_writer.begin_anew)
