"""Entries on disk: one file each, which is there as a whole or not at all.

An entry is written to a file of another name in the same folder and then renamed, so that readers
see all of it or nothing, however many write at once and whenever one is killed. It is not flushed
to the disk first: a file that a power failure damages fails its checksum, and is written again. A
failure to read or write is a miss, never an error.

A writer holds the lock of the ledger, a file with the total size of all entries. So the folder
never grows beyond its limit, and an unfinished file without a holder of the lock is from a writer
that was killed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import frazil._core as _core
from frazil.cache import folder
from frazil.cache.lock import Busy, held

MAGIC = b"frazilc\x01"
"""The first bytes of a file; the last of them is the version of the format."""

_HEAD = len(MAGIC) + 16
_SUFFIX = ".entry"
_UNFINISHED = "unfinished-"
_ABANDONED = 3600.0  # seconds after which a writer is dead, even if clocks differ
_PATIENCE = 1.0  # seconds that a writer waits for others; then it gives up
_LEDGER = "ledger"
_TOTAL = struct.Struct("<Q")
_KEPT = 0.8  # of the limit, after entries were evicted
_CHECKED_OPEN = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Stored(NamedTuple):
    """A file of the cache."""

    path: Path
    size: int
    used: float


class Store:
    """The entries of one trusted folder.

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

    def read(self, key: str) -> bytes | None:
        """Return the content under ``key``; None if there is none, or if it is damaged."""
        try:
            descriptor = os.open(self._place(key), os.O_RDONLY | _CHECKED_OPEN)
        except OSError:
            return None
        try:
            if not _is_own(os.fstat(descriptor)):
                return None
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read()
        except OSError:
            return None
        finally:
            os.close(descriptor)
        head, body = content[:_HEAD], content[_HEAD:]
        if head != MAGIC + _core.digest_of(body):
            return None
        with contextlib.suppress(OSError):
            os.utime(self._place(key))  # used now: the last to be evicted
        return body

    def write(self, key: str, content: bytes) -> None:
        """Store ``content`` under ``key``, unless it is too large or cannot be written."""
        size = _HEAD + len(content)
        if size > self.limit:
            return
        with contextlib.suppress(OSError, Busy), self._ledger() as ledger:
            total = self._with_room(size, ledger)
            # If this writer is killed now, the total is unknown.
            ledger.forget()
            ledger.write(total + size if self._put(key, content) else total)

    def _put(self, key: str, content: bytes) -> bool:
        """Write an entry; return whether that succeeded."""
        try:
            descriptor, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.path)
        except OSError:
            return False
        try:
            with open(descriptor, "wb") as file:
                file.write(MAGIC + _core.digest_of(content))
                file.write(content)
            os.replace(name, self._place(key))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return False
        except BaseException:
            os.unlink(name)
            raise
        return True

    def entries(self) -> list[Stored]:
        """Return the files of all entries, the least recently used first."""
        found = [file for file in self._files() if file.path.name.endswith(_SUFFIX)]
        return sorted(found, key=lambda file: (file.used, file.path.name))

    def clear(self) -> int:
        """Remove all entries and return their number."""
        entries = self.entries()
        with contextlib.suppress(OSError, Busy), self._ledger() as ledger:
            ledger.forget()
        for file in self._files():
            if file.path.name.endswith(_SUFFIX) or file.path.name.startswith(_UNFINISHED):
                _remove(file.path)
        return len(entries)

    @contextlib.contextmanager
    def _ledger(self) -> Iterator[_Ledger]:
        """The ledger, whose lock is held.

        Raises
        ------
        Busy
            If others write all the time.
        """
        with contextlib.ExitStack() as stack:
            ledger = _Ledger(None)
            with contextlib.suppress(OSError):
                flags = os.O_RDWR | os.O_CREAT | _CHECKED_OPEN
                descriptor = os.open(f"{self._folder}{_LEDGER}", flags, 0o600)
                stack.callback(os.close, descriptor)
                if _is_own(os.fstat(descriptor)):
                    stack.enter_context(held(descriptor, _PATIENCE))
                    ledger = _Ledger(descriptor)
            yield ledger

    def _with_room(self, size: int, ledger: _Ledger) -> int:
        """The size of all entries, after making room for one more."""
        total = ledger.read()
        if total is None or total + size > self.limit:
            return self._evicted(size, ledger)
        return total

    def _evicted(self, size: int, ledger: _Ledger) -> int:
        """The size of all entries, after removing enough of them for one more."""
        for file in self._files():
            if file.path.name.startswith(_UNFINISHED) and (
                ledger.is_locked or abs(time.time() - file.used) > _ABANDONED
            ):
                _remove(file.path)
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        if total + size > self.limit:
            for entry in entries:
                if total + size <= self.limit * _KEPT:
                    break
                _remove(entry.path)
                total -= entry.size
        return total

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


class _Ledger:
    """The file with the total size; without the file, or without its lock, the total is unknown."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @property
    def is_locked(self) -> bool:
        """Whether no other process writes."""
        return self._descriptor is not None

    def read(self) -> int | None:
        """The size of all entries, or an upper bound of it; None if it is unknown."""
        if self._descriptor is None:
            return None
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        content = os.read(self._descriptor, _TOTAL.size + 1)
        return _TOTAL.unpack(content)[0] if len(content) == _TOTAL.size else None

    def forget(self) -> None:
        """Mark the total as unknown."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)

    def write(self, total: int) -> None:
        """Store the total."""
        if self._descriptor is not None:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, _TOTAL.pack(total))


def find_store() -> Store | None:
    """Return the store that this process uses, if there is one."""
    if folder.is_off():
        return None
    usable = folder.prepared(folder.chosen())
    return None if usable is None else _store(usable, folder.limit())


@cache
def _store(path: str, limit: int) -> Store:
    return Store(Path(path), limit)


def _is_own(status: os.stat_result) -> bool:
    """Whether only the user may write to this file."""
    if not stat.S_ISREG(status.st_mode):
        return False
    if sys.platform == "win32":
        return True
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.geteuid() and not writable


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
