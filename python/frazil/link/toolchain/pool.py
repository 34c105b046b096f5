"""The thread pool in which compilers run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from operator import index
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

VARIABLE = "FRAZIL_COMPILE_THREADS"


class _Thread(threading.local):
    """A token for each thread, unlike the tokens of all threads before."""

    def __init__(self) -> None:
        self.token = object()


_thread = _Thread()

#: The thread that chose, and its number of threads: other threads may inherit or copy a context.
_chosen: ContextVar[tuple[object, int] | None] = ContextVar("compile_threads", default=None)


@contextmanager
def compile_threads(count: int) -> Iterator[None]:
    """Compile in at most ``count`` threads within the ``with`` statement; 1: one after the other.

    Each thread waits for one run of the C compiler, or makes the extension's code of some kernels.
    Without this, the environment variable ``FRAZIL_COMPILE_THREADS`` says how many there are, else
    there is one for each processor that the process may use. Numba compiles in one thread in any
    case: it has a lock.

    It holds for the thread, or the asyncio task, that enters it, not for threads that are started
    within it.

    Parameters
    ----------
    count : int
        A positive number.

    Returns
    -------
    context manager
        For a ``with`` statement.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> with fz.compile_threads(1):
    ...     f = fz.function([x], ft.tanh(x) / 3)
    """
    token = _chosen.set((_thread.token, _checked(count, "compile_threads takes")))
    try:
        yield
    finally:
        _chosen.reset(token)


def thread_count() -> int:
    """The number of threads that compile now.

    Raises
    ------
    ValueError
        If the environment variable is not a positive number.
    """
    chosen = _chosen.get()
    if chosen is not None and chosen[0] is _thread.token:
        return chosen[1]
    setting = os.environ.get(VARIABLE, "").strip()
    return _checked(setting, f"${VARIABLE} must be") if setting else _processors()


def _processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _checked(given: object, what: str) -> int:
    try:
        count = int(given) if isinstance(given, str) else index(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        count = 0
    if count < 1 or isinstance(given, bool):
        raise ValueError(f"{what} a positive number of threads, given {given!r}")
    return count


def compile_all(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The results of ``work`` for each item, in order; the calling thread may make one of them.

    If calls fail, the exception of the first of these items is raised as the worker raised it, once
    the running workers have ended; other items are not begun.
    """
    threads = min(thread_count(), len(items))
    if threads < 2:
        return [work(item) for item in items]
    # A thread takes long to start, so the caller makes one where there is one for each thread.
    own = 1 if len(items) == threads else 0
    with ThreadPoolExecutor(threads - own, "frazil-compile") as pool:
        try:
            futures = [pool.submit(copy_context().run, work, item) for item in items[own:]]
        except RuntimeError:  # the interpreter ends, or the system has no more threads
            return [work(item) for item in items]
        try:
            done = [work(item) for item in items[:own]]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            for future in futures:
                future.cancel()
    failed = [future for future in futures if not future.cancelled() and future.exception()]
    return [*done, *(future.result() for future in failed or futures)]
