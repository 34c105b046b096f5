"""Entries on disk: one file each, whole or not there.

An entry is written to a file of another name in the same folder and then renamed, so that readers
see all of it or nothing, however many write at once and whenever one is killed. It is not flushed
to the disk before: what a power failure tears no longer has its checksum, and is made again. Every
failure to read or write is a miss, never an error.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from frazil import _core
from frazil.cache import folder

MAGIC = b"frazilc\x01"
"""What a file starts with; the last byte is the version of the format."""

_HEAD = len(MAGIC) + 16
_SUFFIX = ".entry"
_UNFINISHED = "unfinished-"
_ABANDONED = 3600.0  # seconds after which no writer can still be at work
_KEPT = 0.8  # of the limit, after entries were evicted
_CHECKED_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True)
class Stored:
    """A file of the cache."""

    path: Path
    size: int
    used: float


class Store:
    """The entries of one folder, which is trusted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from frazil.cache.store import Store
    >>> with tempfile.TemporaryDirectory() as name:
    ...     store = Store(Path(name), 10_000)
    ...     store.write("a1", b"some bytes")
    ...     store.read("a1"), store.read("b2")
    (b'some bytes', None)
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.limit = limit
        self._folder = f"{path}{os.sep}"
        self._written: int | None = None  # at least the size of the folder, once it was looked at

    def read(self, key: str) -> bytes | None:
        """What was written under ``key``; None if there is nothing, or nothing whole."""
        try:
            descriptor = os.open(self._place(key), _CHECKED_OPEN)
            with open(descriptor, "rb") as file:
                if not _is_own(os.fstat(descriptor)):
                    return None
                content = file.read()
        except OSError:
            return None
        head, body = content[:_HEAD], content[_HEAD:]
        if head != MAGIC + _core.digest_of(body):
            return None
        with contextlib.suppress(OSError):
            os.utime(self._place(key))  # used now: the last to be evicted
        return body

    def write(self, key: str, content: bytes) -> None:
        """Keeps ``content`` under ``key``, unless it is too large or cannot be written."""
        size = _HEAD + len(content)
        if size > self.limit:
            return
        try:
            descriptor, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.path)
        except OSError:
            return
        try:
            with open(descriptor, "wb") as file:
                file.write(MAGIC + _core.digest_of(content))
                file.write(content)
            os.replace(name, self._place(key))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return
        except BaseException:
            os.unlink(name)
            raise
        if self._written is not None:
            self._written += size
        if self._written is None or self._written > self.limit:
            self.evict()

    def entries(self) -> list[Stored]:
        """The files that hold entries, those used longest ago first."""
        found = [file for file in self._files() if file.path.name.endswith(_SUFFIX)]
        return sorted(found, key=lambda file: (file.used, file.path.name))

    def evict(self) -> None:
        """Removes what killed writers left and, beyond the limit, entries used longest ago."""
        for file in self._files():
            if file.path.name.startswith(_UNFINISHED) and time.time() - file.used > _ABANDONED:
                _remove(file.path)
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        if total > self.limit:
            for entry in entries:
                if total <= self.limit * _KEPT:
                    break
                _remove(entry.path)
                total -= entry.size
        self._written = total

    def clear(self) -> int:
        """Removes all entries; the number of them."""
        entries = self.entries()
        for file in self._files():
            if file.path.name.endswith(_SUFFIX) or file.path.name.startswith(_UNFINISHED):
                _remove(file.path)
        self._written = None
        return len(entries)

    def _place(self, key: str) -> str:
        return f"{self._folder}{key}{_SUFFIX}"

    def _files(self) -> Iterator[Stored]:
        try:
            with os.scandir(self.path) as found:
                for file in found:
                    # Another process may remove a file at any time.
                    with contextlib.suppress(OSError):
                        if file.is_file(follow_symlinks=False):
                            status = file.stat(follow_symlinks=False)
                            yield Stored(Path(file.path), status.st_size, status.st_mtime)
        except OSError:
            return


def find_store() -> Store | None:
    """The store that this process uses, if there is one."""
    if folder.is_off():
        return None
    usable = folder.prepared(folder.chosen())
    return None if usable is None else _store(usable, folder.limit())


@cache
def _store(path: str, limit: int) -> Store:
    return Store(Path(path), limit)


def _is_own(status: os.stat_result) -> bool:
    """Whether this is a file that only the user writes to."""
    if not stat.S_ISREG(status.st_mode):
        return False
    if sys.platform == "win32":
        return True
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.geteuid() and not writable


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
