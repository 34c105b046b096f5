"""Work that threads may ask for at once and that is done once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Claims(Generic[Key, Value]):
    """What is being made, by whom.

    Who asks for what nobody makes yet claims it and makes it; others wait for it. Nobody waits
    before having made what it has claimed, so nobody waits forever. Nothing is kept that is made,
    and no value is None. A forked child claims anew
    what threads of its parent had claimed.

    Examples
    --------
    >>> from frazil.link.claims import Claims
    >>> lengths = Claims[str, int]()
    >>> lengths.make(["a", "bc", "a"], {"a": 1}.get, lambda keys: [len(key) for key in keys])
    {'a': 1, 'bc': 2}
    """

    def __init__(self) -> None:
        self._start_anew()
        _everyone.add(self)

    def _start_anew(self) -> None:
        self._lock = Lock()
        self._running: dict[Key, Future[Value | None]] = {}

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
            others = self._make_unclaimed(wanted, find, work, found)
            wanted = []
            for key, claim in others.items():
                value = claim.result()
                if value is None:
                    wanted.append(key)
                else:
                    found[key] = value
        return found

    def _make_unclaimed(
        self,
        wanted: Sequence[Key],
        find: Callable[[Key], Value | None],
        work: Callable[[Sequence[Key]], Sequence[Value]],
        found: dict[Key, Value],
    ) -> dict[Key, Future[Value | None]]:
        """Puts into ``found`` what nobody else makes; gives what others do."""
        mine: dict[Key, Future[Value | None]] = {}
        others: dict[Key, Future[Value | None]] = {}
        try:
            for key in wanted:
                mine[key] = Future()
                with self._lock:
                    running = self._running.setdefault(key, mine[key])
                if running is not mine[key]:
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
            # Also after an exception, or Ctrl-C: others wait.
            for key, claim in mine.items():
                with self._lock:
                    if self._running.get(key) is claim:
                        del self._running[key]
                claim.set_result(found.get(key))
        return others


_everyone: weakref.WeakSet[Claims[Any, Any]] = weakref.WeakSet()


def _forget_other_threads() -> None:
    for claims in _everyone:
        claims._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
