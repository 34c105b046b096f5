"""The progress of a call through its callbacks: each is made once, in the order of the code.

A call may be begun anew in another way: a trace makes callbacks at once, and the compiled function
runs after it; a compiled function may fail where plain Python does not. What is begun anew passes
over the callbacks that were made before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local

from frazil.graph.background import users_threads
from frazil.jit.errors import SharpEdgeError


class Calls:
    """The callbacks of one call of a function."""

    def __init__(self, earlier: int = 0, changed: Callable[[], str | None] | None = None) -> None:
        """``earlier`` were made before; ``changed`` says what they changed that was read."""
        self.made = 0
        self.error: BaseException | None = None
        """The error that a callback raised."""
        self.changed: str | None = None
        self.is_unsure = False
        """Whether another thread may have changed it, too."""
        self._earlier = earlier
        self._ask = changed

    @property
    def is_behind(self) -> bool:
        """Whether the next callback was made before."""
        return self.made < self._earlier

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the callbacks of this thread be those of this call."""
        before, _active.calls = _active.calls, self
        try:
            yield
        finally:
            _active.calls = before

    def make(self, call: Callable[[], object]) -> None:
        """Make a callback, unless it was made before."""
        behind = self.is_behind
        self.made += 1
        if behind:
            return
        _active.calls = None  # it may call functions with callbacks of their own
        try:
            if self._ask is not None and self._ask() is not None:
                self._ask = None  # no callback's doing, but another thread's
            call()
            self.changed = None if self._ask is None else self._ask()
            self.is_unsure = self.changed is not None and users_threads() > 1
            if self.changed is not None:
                raise SharpEdgeError(
                    f"{self.changed} was changed by a callback, and the compiled function that "
                    "made it may read that. From now on calls run as plain Python. Pass it as an "
                    "argument and return what is new"
                )
        except BaseException as error:
            self.error = error
            raise
        finally:
            _active.calls = self


class _Active(local):
    calls: Calls | None = None


_active = _Active()


def make(call: Callable[[], object]) -> None:
    """Make a callback of the call that this thread runs, unless it was made before."""
    if _active.calls is None:
        call()
    else:
        _active.calls.make(call)


def is_behind() -> bool:
    """Whether this thread runs a function anew, up to callbacks that were made before."""
    return _active.calls is not None and _active.calls.is_behind
