"""Work that is done once, though several threads may ask for it at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from inspect import GEN_RUNNING, getgeneratorstate
from threading import Lock, get_ident
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

#: Seconds after which a waiting thread looks whether the maker is still alive.
PATIENCE = 0.05


class _Maker(Generic[Key, Value]):
    """One run of :meth:`SingleFlight._make_missing`, in the thread that began it.

    It runs as a generator, since the interpreter itself knows whether a generator is running. That
    state also ends with an exception at any line, as Ctrl-C may raise it, even within a
    ``finally``.
    """

    def __init__(self) -> None:
        self.steps: Generator[None, None, None] | None = None
        self._thread = get_ident()
        self._process = os.getpid()

    @property
    def is_alive(self) -> bool:
        """Whether it is still at work. In a forked child, makers of other threads are not."""
        running = self.steps is not None and getgeneratorstate(self.steps) == GEN_RUNNING
        return running and self._process == os.getpid()

    @property
    def is_in_this_thread(self) -> bool:
        return self._thread == get_ident()


class _Promise(Generic[Key, Value]):
    """One value that a maker is making."""

    def __init__(self, maker: _Maker[Key, Value]) -> None:
        self.maker = maker
        self.value: Value | None = None
        self._ended = Lock()
        self._ended.acquire()

    def end(self, value: Value | None) -> None:
        """Hand the value, if there is one, to the threads that wait."""
        self.value = value
        self._ended.release()

    def wait(self) -> Value | None:
        """The value; None if its maker ended without it."""
        while not self._ended.acquire(timeout=PATIENCE):
            if not self.maker.is_alive:
                return self.value
        self._ended.release()  # for the next thread that waits
        return self.value


class SingleFlight(Generic[Key, Value]):
    """The values that are being made, each by one thread.

    The first thread that asks for a value makes it; other threads wait for it, as long as the maker
    is alive. A thread first makes the values that it promised and then waits for others, so no
    threads wait for each other. Values are not kept, and no value is None.

    An exception may interrupt a maker at a line where its promise stays. Such a promise is found
    dead, and the next thread makes the value. In a forked child all promises of the parent's other
    threads are dead.

    Examples
    --------
    >>> from frazil.link.toolchain.once import SingleFlight
    >>> lengths = SingleFlight[str, int]()
    >>> lengths.make(["a", "bc", "a"], {"a": 1}.get, lambda keys: [len(key) for key in keys])
    {'a': 1, 'bc': 2}
    """

    def __init__(self) -> None:
        # There is no lock, which an exception might leave locked: each access is one operation.
        # Two threads that find a dead promise at once may both make its value; both are right.
        self._running: dict[Key, _Promise[Key, Value]] = {}

    def make(
        self,
        keys: Iterable[Key],
        find: Callable[[Key], Value | None],
        work: Callable[[Sequence[Key]], Sequence[Value]],
    ) -> dict[Key, Value]:
        """The value of each key: from ``find``, else from ``work``, in this or another thread.

        ``find`` must know the values that ``work`` has made. If ``work`` fails in another thread,
        it is done again in this one.
        """
        found: dict[Key, Value] = {}
        wanted = list(dict.fromkeys(keys))
        while wanted:
            others: dict[Key, _Promise[Key, Value]] = {}
            maker: _Maker[Key, Value] = _Maker()
            maker.steps = self._make_missing(maker, wanted, find, work, found, others)
            next(maker.steps, None)
            wanted = []
            for key, promise in others.items():
                value = promise.wait()
                if value is None:
                    wanted.append(key)
                else:
                    found[key] = value
        return found

    def _make_missing(
        self,
        maker: _Maker[Key, Value],
        wanted: Sequence[Key],
        find: Callable[[Key], Value | None],
        work: Callable[[Sequence[Key]], Sequence[Value]],
        found: dict[Key, Value],
        others: dict[Key, _Promise[Key, Value]],
    ) -> Generator[None, None, None]:
        """Put values into ``found``, and promises of other threads into ``others``."""
        yield from ()  # makes this a generator, which yields nothing
        mine: dict[Key, _Promise[Key, Value]] = {}
        try:
            for key in wanted:
                mine[key] = _Promise(maker)
                running = self._promise_for(key, mine[key])
                # A value that this thread is making further up the stack is made here once more.
                if running is not mine[key] and not running.maker.is_in_this_thread:
                    others[key] = running
                    del mine[key]
            missing = []
            for key in mine:
                value = find(key)
                if value is None:
                    missing.append(key)
                else:
                    found[key] = value
            if missing:
                found.update(zip(missing, work(missing), strict=True))
        finally:
            # Also after an exception, so that other threads need not find out by waiting.
            for key, promise in mine.items():
                if self._running.get(key) is promise:
                    self._running.pop(key, None)
                promise.end(found.get(key))

    def _promise_for(self, key: Key, new: _Promise[Key, Value]) -> _Promise[Key, Value]:
        """The promise for a key: one whose maker is alive, or the new one."""
        while True:
            running = self._running.setdefault(key, new)
            if running is new or running.maker.is_alive:
                return running
            if self._running.get(key) is running:
                self._running.pop(key, None)
