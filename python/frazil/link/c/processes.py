"""Programs that a compilation starts, in a process whose other threads may fork.

A child that a thread forks has a copy of each pipe that is open then, for as long as it lives. Who
waits for the end of such a pipe would wait for the child, too. So what a program reads is a file,
and no thread forks while another one is about to start a program.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO

# A signal's handler may fork in the thread that has it.
_starting = threading.RLock()


def _hold() -> None:
    _starting.acquire()


def _give_back() -> None:
    _starting.release()


def _renew_lock() -> None:
    """In a child, where no thread starts a program."""
    global _starting
    _starting = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_give_back, after_in_child=_renew_lock)


class Running(subprocess.Popen[bytes]):
    """A program that is killed if an exception such as Ctrl-C passes it."""

    def __init__(
        self,
        command: Sequence[str],
        given: IO[bytes] | int | None,
        written: int,
        *,
        told: int = subprocess.DEVNULL,
        env: Mapping[str, str] | None = None,
    ) -> None:
        with _starting:
            super().__init__(
                command, stdin=given, stdout=written, stderr=told, close_fds=False, env=env
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, traceback)


@contextlib.contextmanager
def file_of(given: bytes) -> Iterator[IO[bytes] | int]:
    """A file with this content, for a program to read."""
    if not given:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


def run(
    command: Sequence[str],
    given: bytes = b"",
    *,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; what it says is kept.

    Raises
    ------
    OSError
        If it cannot be started.
    subprocess.TimeoutExpired
        If it has not ended in time.

    Examples
    --------
    >>> import sys
    >>> from frazil.link.c.processes import run
    >>> run([sys.executable, "-c", "print(input())"], b"what it reads").stdout.split()
    [b'what', b'it', b'reads']
    """
    with (
        file_of(given) as file,
        Running(command, file, subprocess.PIPE, told=subprocess.PIPE, env=env) as running,
    ):
        output, error = running.communicate(timeout=timeout)
        return subprocess.CompletedProcess(command, running.returncode, output, error)
