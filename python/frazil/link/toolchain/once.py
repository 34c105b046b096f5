"""Work that threads may ask for at once and that is done once."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from inspect import GEN_RUNNING, getgeneratorstate
from threading import Lock, get_ident
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

#: Seconds after which who waits looks whether the one who makes it is still there.
PATIENCE = 0.05


class _Maker(Generic[Key, Value]):
    """One run of :meth:`Claims._make_unclaimed`, in the thread that began it.

    It runs as a generator, since the interpreter itself keeps whether one is running: that ends
    with an exception at whatever line, as Ctrl-C may raise it, also within a ``finally``.
    """

    def __init__(self) -> None:
        self.steps: Generator[None, None, None] | None = None
        self._thread = get_ident()
        self._process = os.getpid()

    @property
    def is_alive(self) -> bool:
        """Whether it still makes something. A fork leaves those of other threads behind."""
        running = self.steps is not None and getgeneratorstate(self.steps) == GEN_RUNNING
        return running and self._process == os.getpid()

    @property
    def is_in_this_thread(self) -> bool:
        return self._thread == get_ident()


class _Claim(Generic[Key, Value]):
    """One value that somebody makes."""

    def __init__(self, maker: _Maker[Key, Value]) -> None:
        self.maker = maker
        self.value: Value | None = None
        self._ended = Lock()
        self._ended.acquire()

    def end(self, value: Value | None) -> None:
        """Hand the value, if there is one, to those who wait."""
        self.value = value
        self._ended.release()

    def wait(self) -> Value | None:
        """The value; None if its maker ended without one."""
        while not self._ended.acquire(timeout=PATIENCE):
            if not self.maker.is_alive:
                return self.value
        self._ended.release()  # for the next who waits
        return self.value


class Claims(Generic[Key, Value]):
    """What is being made, by whom.

    Who asks for what nobody makes yet claims it and makes it; others wait for it, as long as its
    maker is alive. Nobody waits before having made what it has claimed, so nobody waits forever.
    Nothing is kept that is made, and no value is None.

    What an exception interrupted at an unlucky line stays claimed by one who is no longer alive: it
    is claimed anew. So are, in a forked child, the claims of threads of its parent.

    Examples
    --------
    >>> from frazil.link.toolchain.once import Claims
    >>> lengths = Claims[str, int]()
    >>> lengths.make(["a", "bc", "a"], {"a": 1}.get, lambda keys: [len(key) for key in keys])
    {'a': 1, 'bc': 2}
    """

    def __init__(self) -> None:
        # No lock guards it, which an exception might leave locked: each access is one operation.
        # Two who find one dead claim at once may both make its value, which is as right.
        self._running: dict[Key, _Claim[Key, Value]] = {}

    def make(
        self,
        keys: Iterable[Key],
        find: Callable[[Key], Value | None],
        work: Callable[[Sequence[Key]], Sequence[Value]],
    ) -> dict[Key, Value]:
        """The value of each key: what ``find`` knows, else what ``work`` makes, here or elsewhere.

        ``work`` must let ``find`` know of what it makes. Where it fails in another thread, it is
        done again here.
        """
        found: dict[Key, Value] = {}
        wanted = list(dict.fromkeys(keys))
        while wanted:
            others: dict[Key, _Claim[Key, Value]] = {}
            maker: _Maker[Key, Value] = _Maker()
            maker.steps = self._make_unclaimed(maker, wanted, find, work, found, others)
            next(maker.steps, None)
            wanted = []
            for key, claim in others.items():
                value = claim.wait()
                if value is None:
                    wanted.append(key)
                else:
                    found[key] = value
        return found

    def _make_unclaimed(
        self,
        maker: _Maker[Key, Value],
        wanted: Sequence[Key],
        find: Callable[[Key], Value | None],
        work: Callable[[Sequence[Key]], Sequence[Value]],
        found: dict[Key, Value],
        others: dict[Key, _Claim[Key, Value]],
    ) -> Generator[None, None, None]:
        """Puts into ``found`` what nobody else makes, and into ``others`` what others do."""
        yield from ()  # a generator, which stops nowhere
        mine: dict[Key, _Claim[Key, Value]] = {}
        try:
            for key in wanted:
                mine[key] = _Claim(maker)
                running = self._claim(key, mine[key])
                # What this thread makes further up is made here once more: nobody else would.
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
            # Also after an exception: others need not find out that nobody is alive.
            for key, claim in mine.items():
                if self._running.get(key) is claim:
                    self._running.pop(key, None)
                claim.end(found.get(key))

    def _claim(self, key: Key, new: _Claim[Key, Value]) -> _Claim[Key, Value]:
        """The claim on a key: a living one, or the new one."""
        while True:
            running = self._running.setdefault(key, new)
            if running is new or running.maker.is_alive:
                return running
            if self._running.get(key) is running:
                self._running.pop(key, None)
