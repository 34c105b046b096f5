"""The programs that gcc's driver runs: compiler, assembler and linker, called without it.

The driver tells the commands that it would run. They are asked for once and kept, so that for each
library no driver reads its specifications, looks at the processor, and waits for a second driver,
which would run the linker.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import frazil._core as _core
from frazil.cache import identity
from frazil.cache.store import find_store
from frazil.link.c.processes import Running, file_of, run
from frazil.link.c.search import Toolchain, is_compiler
from frazil.link.toolchain.keeping import write_soon

_LIBRARY = "/frazil/library.so"
"""The library in the commands that are kept; no such file is made."""

# With one of these in the environment, the driver may do something else each time.
_SETTINGS = ("GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "GCC_COMPARE_DEBUG", "LD_PRELOAD")


@dataclass(frozen=True)
class Commands:
    """The commands that make a library: ``object_file`` and the library stand for their places."""

    compiler: tuple[str, ...]
    assembler: tuple[str, ...]
    linker: tuple[str, ...]
    object_file: str

    def make(self, source: str, library: str) -> bool:
        """Make the library; whether that succeeded. What the programs say is not kept."""
        places = {self.object_file: f"{library}.o", _LIBRARY: library}
        try:
            if not _piped(_at(self.compiler, places), _at(self.assembler, places), source.encode()):
                return False
            linked = run(_at(self.linker, places))
        except OSError:
            return False
        return linked.returncode == 0 and os.path.exists(library)


def find_commands(toolchain: Toolchain, flags: Sequence[str]) -> Commands | None:
    """The commands of a compiler with these flags; None if its driver is to be called.

    It is, if it is not gcc, or a script, or says anything that is not expected; without a cache on
    disk; where the process ignores how its children end; and for the first library, as no first
    result is to wait for its answer.
    """
    plain = sys.platform == "linux" and toolchain.is_gcc and len(toolchain.command) == 1
    if not plain or any(setting in os.environ for setting in _SETTINGS):
        return None
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        return None
    command = (*toolchain.command, *flags, "-x", "c", "-", "-o", _LIBRARY, *toolchain.link_flags)
    path = os.environ.get("PATH", "")
    if (command, path) not in _known:
        _find(command, path)
    return _known.get((command, path))


_Asked: TypeAlias = tuple[tuple[str, ...], str]
"""A driver's command, and where it looks for programs."""

_known: dict[_Asked, Commands | None] = {}


def _find(command: tuple[str, ...], path: str) -> None:
    """Read from the cache what a driver told, or let it be asked a moment later."""
    store, own = find_store(), os.path.realpath(command[0])
    if store is None or not is_compiler(own):
        return
    question = f"commands {[*command]} {identity.file(own)} {identity.processor()} {path}"
    key, head = f"commands-{_core.digest_of(question.encode()).hex()}", f"{question}\n\n".encode()
    kept = store.read(key)
    if kept is not None and kept.startswith(head):
        _known[command, path] = _checked(kept.removeprefix(head).decode(errors="replace"))
        return

    def ask() -> None:
        told = _told(command)
        if told:
            store.write(key, head + told)
        _known[command, path] = _checked(told.decode(errors="replace"))

    write_soon(key, ask)


def _told(command: Sequence[str]) -> bytes:
    """The commands that a driver says it would run; empty if it says none."""
    try:
        told = run([*command, "-###"], timeout=10, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.SubprocessError):
        return b""
    return told.stderr if told.returncode == 0 else b""


def _checked(told: str) -> Commands | None:
    """The commands that a driver told; None if they are not as expected.

    Examples
    --------
    >>> from frazil.link.c.driver import _checked
    >>> _checked("clang version 14.0.6") is None
    True
    """
    lines = [line for line in told.splitlines() if line.startswith(" ")]
    if len(lines) != 3:
        return None
    compiler, assembler, linker = (shlex.split(line.rstrip().removesuffix("|")) for line in lines)
    object_file = _output(assembler)
    if (
        [os.path.basename(own[0]) for own in (compiler, linker)] != ["cc1", "collect2"]
        or not os.path.basename(assembler[0]).endswith("as")
        or _output(compiler) != "-"  # piped to the assembler
        or "-" not in compiler
        or object_file is None
        or linker.count(object_file) != 1
        or _output(linker) != _LIBRARY
        or any(own.startswith("-plugin") for own in linker)
    ):
        return None
    found = _linker(told)
    if found is None:
        return None
    return Commands(tuple(compiler), tuple(assembler), (found, *linker[1:]), object_file)


def _output(command: Sequence[str]) -> str | None:
    """The file that a command writes."""
    places = [at for at, own in enumerate(command[:-1]) if own == "-o"]
    return command[places[0] + 1] if len(places) == 1 else None


def _linker(told: str) -> str | None:
    """The linker that gcc's own would start, from where it looks for it."""
    folders = [
        line.removeprefix("COMPILER_PATH=")
        for line in told.splitlines()
        if line.startswith("COMPILER_PATH=")
    ]
    for name in ("real-ld", "collect-ld", "ld"):
        for within in (":".join(folders), None):
            if (found := shutil.which(name, path=within)) is not None:
                return found
    return None


def _at(command: Sequence[str], places: Mapping[str, str]) -> list[str]:
    return [places.get(own, own) for own in command]


def _piped(first: Sequence[str], second: Sequence[str], given: bytes) -> bool:
    """Run two programs, the second on what the first writes; whether both succeeded."""
    with (
        file_of(given) as source,
        Running(first, source, subprocess.PIPE) as front,
        Running(second, front.stdout, subprocess.DEVNULL) as back,
    ):
        if front.stdout is not None:
            front.stdout.close()  # else the first one would not see that the second one ended
        if back.wait() != 0:
            front.kill()  # a child that another thread forked may read for the second one
        return front.wait() == 0 and back.returncode == 0
