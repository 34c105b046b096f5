"""Modules: whether they are the user's, and which version an installed one has."""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from functools import cache
from typing import Any

_STARTED = time.time()


class Unknowable(Exception):
    """The content of a value cannot be determined; the message names it."""


def is_frazil(value: object) -> bool:
    """Return whether a class or function is one of frazil's own."""
    return is_frazils(value.__module__)


def is_frazils(module: str | None) -> bool:
    """Return whether a module of this name is one of frazil's own."""
    return module is not None and (module.startswith("frazil.") or module == "frazil")


def find_named(module: str, name: str) -> object:
    """Return the attribute of a module by its dotted name; None if there is none."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


@cache
def is_users(module: str) -> bool:
    """Return whether a module is the user's: not frazil's, not standard, not installed."""
    top = _top(module)
    if top in ("frazil", "numpy") or _is_standard(module):
        return False
    place = _file(module)
    return place is None or not place.startswith(_installed_folders())


@cache
def _is_standard(module: str) -> bool:
    """Whether a module is of the standard library, not a module of the user with its name."""
    if _top(module) not in sys.stdlib_module_names:
        return False
    place, standard = _file(module), os.path.realpath(os.path.dirname(os.__file__))
    return place is None or place.startswith(os.path.join(standard, ""))


def version_of(module: str) -> str:
    """Return a text that changes whenever the content of an installed module does."""
    if _is_standard(module):
        return sys.version
    if _top(module) in ("frazil", "numpy"):
        return ""  # part of every key
    return _installed_version(module)


@cache
def _installed_version(module: str) -> str:
    """The file of an installed module, and the versions of all packages installed beside it.

    Raises
    ------
    Unknowable
        If these changed since frazil was imported, as the process may run what was there before.
    """
    place = _file(module)
    if place is None:
        raise Unknowable(f"it refers to {module}, which has no file")
    told = [place]
    folders = [folder for folder in _installed_folders() if place.startswith(folder)]
    for path in (place, *folders):
        status = os.stat(path)
        if max(status.st_mtime, status.st_ctime) > _STARTED:
            raise Unknowable(f"{path} has changed")
        told.append(f"{status.st_size} {status.st_mtime_ns}")
    for folder in folders:
        names = os.listdir(folder)
        told += sorted(name for name in names if name.endswith((".dist-info", ".egg-info")))
    return "\n".join(told)


def _file(module: str) -> str | None:
    place = getattr(sys.modules.get(module), "__file__", None)
    return None if place is None else os.path.realpath(place)


@cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = ("purelib", "platlib")
    return tuple({os.path.join(os.path.realpath(paths[name]), "") for name in names})
