"""Temporary files, which are removed even if their process is killed."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache

from frazil.cache.lock import Busy, held

_PREFIX = "frazil-kernels-"
_LOCK = "lock"
_YOUNG = 60.0  # seconds in which a folder may not have its lock yet


@contextlib.contextmanager
def scratch_path(name: str) -> Iterator[str]:
    """A path for a file, in a folder of its own, which is removed in the end.

    The first call in a process also removes the folders of killed processes.

    Examples
    --------
    >>> import os
    >>> from frazil.link.toolchain.scratch import scratch_path
    >>> with scratch_path("some.so") as path:
    ...     os.path.exists(os.path.dirname(path)), os.path.exists(path)
    (True, False)
    >>> os.path.exists(os.path.dirname(path))
    False
    """
    _sweep(tempfile.gettempdir())
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    try:
        with contextlib.ExitStack() as stack:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            descriptor = os.open(os.path.join(folder, _LOCK), flags, 0o600)
            stack.callback(os.close, descriptor)
            with contextlib.suppress(OSError):  # where there are no locks, no process removes it
                stack.enter_context(held(descriptor))
            yield os.path.join(folder, name)
    finally:
        _remove(folder)


@cache
def _sweep(parent: str) -> None:
    """Remove the folders that no process uses."""
    with contextlib.suppress(OSError), os.scandir(parent) as found:
        for entry in found:
            if entry.name.startswith(_PREFIX):
                with contextlib.suppress(OSError, Busy):
                    _remove_abandoned(entry.path)


def _remove_abandoned(folder: str) -> None:
    status = os.lstat(folder)
    own = sys.platform == "win32" or status.st_uid == os.geteuid()
    if not (own and stat.S_ISDIR(status.st_mode)):
        return
    if abs(time.time() - status.st_mtime) < _YOUNG:
        return
    try:
        descriptor = os.open(os.path.join(folder, _LOCK), os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        # The process was killed before it made the lock, or after it removed it.
        os.rmdir(folder)  # only if it is empty
        return
    try:
        with held(descriptor):
            _remove(folder)
    finally:
        os.close(descriptor)


def _remove(folder: str) -> None:
    """Remove a folder and the files in it; the lock last, since other processes look at it."""
    with contextlib.suppress(OSError):
        with os.scandir(folder) as found:
            files = [entry for entry in found if not entry.is_dir(follow_symlinks=False)]
        for file in sorted(files, key=_is_lock):
            with contextlib.suppress(OSError):
                os.unlink(file)
        os.rmdir(folder)


def _is_lock(file: os.DirEntry[str]) -> bool:
    return file.name == _LOCK
