"""The lock of a file: one process holds it at a time, and loses it when it ends."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _give_back(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(descriptor: int) -> None:
        # A child that another thread forked still has the file open, so closing is not enough.
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_PAUSES = (0.0005, 0.01)  # seconds between two attempts: the first ones, and at most


class Busy(Exception):
    """Another process or thread holds the lock."""


@contextlib.contextmanager
def held(descriptor: int, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock of an open file.

    Raises
    ------
    Busy
        If others hold it for ``patience`` seconds.
    OSError
        If the file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> from frazil.cache.lock import Busy, held
    >>> with tempfile.NamedTemporaryFile() as one, open(one.name) as other:
    ...     with held(one.fileno()):
    ...         try:
    ...             with held(other.fileno()):
    ...                 pass
    ...         except Busy:
    ...             print("held by another")
    held by another
    """
    last, pause = time.monotonic() + patience, _PAUSES[0]
    while True:
        try:
            _take(descriptor)
            break
        except (BlockingIOError, PermissionError) as error:
            if time.monotonic() >= last:
                raise Busy from error
        time.sleep(pause)
        pause = min(2 * pause, _PAUSES[1])
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            _give_back(descriptor)
