"""Identities of the things that compiled code depends on: frazil's build, packages, processor."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from frazil._core import __version__, register_bits


def frazil_build() -> str:
    """Return the identity of frazil as it was imported: its version, and each file's size and time.

    Two builds of one version differ, and so does frazil before and after a change of its files.
    """
    return _BUILD


def _look_at_build() -> str:
    files: list[str] = []
    root = str(Path(__file__).resolve().parents[1])
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".so", ".pyd")):
                    files.append(f"{entry.path[len(root) :]} {_stamp(entry.stat())}")
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
    return "\n".join([f"frazil {__version__}, numpy {np.__version__}", *sorted(files)])


@cache
def package(name: str) -> str:
    """Return the identity of an installed package, without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return f"{name}: none"
    # Another version of the package would have newer files.
    return f"{name} {file(spec.origin)}"


def file(path: str | Path) -> str:
    """Return the size and time of a file."""
    try:
        return f"{path} {_stamp(os.stat(path))}"
    except OSError:
        return f"{path}: none"


@cache
def processor() -> str:
    """Return the identity of the processor: what compilers make code for.

    It has no more instructions than those of registers that ``FRAZIL_REGISTERS`` allows.

    Examples
    --------
    >>> import platform
    >>> from frazil.cache.identity import processor
    >>> processor().startswith(platform.machine())
    True
    """
    told = [platform.machine()]
    if sys.platform == "linux":
        told += _first_processor()
    else:
        told += [platform.platform(), platform.processor()]
    bits = register_bits()
    hidden = tuple(start for least, start in _WIDER if bits < least)
    words = (" ".join(w for w in line.split(" ") if not w.startswith(hidden)) for line in told)
    return "\n".join(words if hidden else told)


# The bits of a register, and how the processor's flags for such registers begin.
_WIDER = ((512, "avx512"), (256, "avx"), (256, "fma"))

_PROCESSOR_FACTS = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
_ARM_FACTS = ("Features", "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "cpu")


def _first_processor() -> list[str]:
    """The lines of /proc/cpuinfo for the first processor that never change."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as info:
            text = info.read(16384).decode(errors="replace")
    except OSError:
        return []
    lines = text.partition("\n\n")[0].splitlines()
    return [line for line in lines if line.split("\t")[0].strip() in _PROCESSOR_FACTS + _ARM_FACTS]


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns}"


# A file may change while frazil runs; the code that compiles is what was imported before.
_BUILD = _look_at_build()
