"""Tiering: while a program is in use, C compiles faster kernels for it in the background.

A program begins with kernels of the extension. Once its calls have taken as long as C would take to
compile it, a thread in the background compiles its kernels by C. Then the new kernels replace the
old ones, each by one store to memory. No call waits for any of this.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections import deque
from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakKeyDictionary

from frazil._core import FrozenFunctionGraph, Program, set_heat_handler
from frazil.graph.background import BackgroundThread
from frazil.graph.dataclass import dataclass
from frazil.link.cranelift import MadeKernel
from frazil.link.kernel.compiler import BrokenCompilerError
from frazil.link.linkers.tiered import TieredLinker, replaceable
from frazil.link.toolchain.pool import compile_threads

Keep: TypeAlias = Callable[[FrozenFunctionGraph, Program], None]
"""Writes the program of a graph to the cache on disk, as it is then."""


@dataclass(frozen=True, slots=True)
class _Awaited:
    """The work on a program once its calls have taken long enough.

    It must not hold the program: it is kept as long as that.
    """

    linker: TieredLinker
    graph: Callable[[], FrozenFunctionGraph]
    donated: tuple[int, ...]
    keep: Keep | None


@dataclass(frozen=True, slots=True)
class _Job:
    """A program that C is to compile."""

    program: Program
    awaited: _Awaited
    kernels: list[MadeKernel]


_BROKEN = BrokenCompilerError.__name__
_AWAITED: WeakKeyDictionary[Program, _Awaited] = WeakKeyDictionary()
_failed: dict[str, object] = {}
"""The warnings that were shown, by the sort of failure."""


def watch(
    program: Program,
    linker: TieredLinker,
    graph: Callable[[], FrozenFunctionGraph],
    donated: tuple[int, ...],
    keep: Keep | None,
) -> None:
    """Let C compile a program once its calls have taken as long as that will."""
    kernels = [] if _BROKEN in _failed else replaceable(program)
    if kernels and program not in _AWAITED:
        _AWAITED[program] = _Awaited(linker, graph, donated, keep)
        program.await_heat(linker.patience(kernels))


def _on_heat(program: Program) -> None:
    """Called at the end of a call: leaves the work to the thread in the background."""
    awaited = _AWAITED.pop(program, None)
    if awaited is not None and (kernels := replaceable(program)):
        _worker.add(_Job(program, awaited, kernels))


def _work(job: _Job) -> None:
    """Do a job, whatever may fail: the program stays as it is then."""
    awaited = job.awaited
    try:
        graph = awaited.graph()
        donated = [graph.inputs[at] for at in awaited.donated]
        with compile_threads(1):
            awaited.linker.replace(job.kernels, graph, donated)
        if awaited.keep is not None:
            awaited.keep(graph, job.program)
    except Exception as error:
        _warn(error)


def _warn(error: Exception) -> None:
    """Warn once of failures of a sort: of a compiler that compiles nothing, or of another."""
    kind, this = type(error).__name__, object()
    if _failed.setdefault(kind, this) is this:
        warnings.warn(
            "the C compiler made no faster code in the background, so functions go on as they "
            f"are; mode='cranelift' asks for that, without this warning.\n{kind}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


class _Worker:
    """One thread, which lives as long as there is work.

    It keeps no process alive: an exit does not wait for it, and a forked child begins anew with the
    jobs that are not done.
    """

    def __init__(self) -> None:
        self._jobs: deque[_Job] = deque()
        self._at_work: _Job | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, job: _Job) -> None:
        self._jobs.append(job)
        self._start()

    def wait(self, seconds: float) -> bool:
        """Wait until all jobs are done; whether they are. Tests do so, calls never."""
        with self._lock:  # a thread that begins has begun
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return not self._jobs and self._at_work is None

    def begin_anew(self) -> None:
        """In a forked child, where the thread is not."""
        self._lock, self._thread = threading.Lock(), None
        if self._at_work is not None:
            self._jobs.appendleft(self._at_work)
            self._at_work = None

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = BackgroundThread(self._run, "frazil-tiers")
                self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._thread = None
                    return
                self._at_work = self._jobs.popleft()
            _work(self._at_work)
            self._at_work = None


_worker = _Worker()
set_heat_handler(_on_heat)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_worker.begin_anew)
