"""Writing programs to the cache on disk: soon after a function was returned, and not before.

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

from frazil._core import FrozenFunctionGraph, Program
from frazil.cache.store import Store
from frazil.compile import cache_entries
from frazil.graph.background import begin
from frazil.graph.dataclass import dataclass

_PAUSE = 0.05
"""Seconds until a compiled program is written: most first calls are over by then."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A program that is to be written."""

    store: Store
    request: cache_entries.Request
    graph: FrozenFunctionGraph
    program: Program


def keep(
    store: Store, request: cache_entries.Request, graph: FrozenFunctionGraph, program: Program
) -> None:
    """Write a program to disk now."""
    encoded = cache_entries.encode(request, graph, program)
    if encoded is not None:
        store.write(request.key, encoded)


def keep_soon(
    store: Store, request: cache_entries.Request, graph: FrozenFunctionGraph, program: Program
) -> None:
    """Write a program to disk a moment later, or before the process exits."""
    _writer.add(_Job(store, request, graph, program))


def finish(key: str | None = None) -> None:
    """Write what is not written yet, if that entry is among it; None: whatever there is."""
    _writer.finish(key)


class _Writer:
    """The programs that are not written yet, and the thread that writes them.

    The thread lives as long as there are some, and keeps no process alive.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, _Job] = {}
        """By the names of their entries; a job goes when it is done."""
        self._waits = False
        self._exits_by_multiprocessing = False
        self._renew_locks()

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def add(self, job: _Job) -> None:
        with self._lock:
            self._jobs[job.request.key] = job
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
                    keep(job.store, job.request, job.graph, job.program)
                finally:
                    with self._lock:
                        if self._jobs.get(key) is job:
                            del self._jobs[key]


_writer = _Writer()
atexit.register(finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_writer.begin_anew)
