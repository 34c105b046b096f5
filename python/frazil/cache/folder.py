"""The folder of the cache: where it is, how large it may be, and whether it can be trusted."""

from __future__ import annotations

import os
import re
import stat
import sys
import warnings
from functools import cache

DEFAULT_LIMIT = 2**30
_MOST = 2**62

_OFF = ("0", "off", "no", "false")
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


class Untrusted(Exception):
    """Others might write to a folder; the message says why."""


def is_off() -> bool:
    """Return whether ``$FRAZIL_CACHE`` turns the cache off."""
    return os.environ.get("FRAZIL_CACHE", "").lower() in _OFF


def chosen() -> str:
    """Return ``$FRAZIL_CACHE_DIR``, else the user's folder for caches on this system.

    Examples
    --------
    >>> import os
    >>> from frazil.cache.folder import chosen
    >>> os.path.isabs(chosen())
    True
    """
    named = os.environ.get("FRAZIL_CACHE_DIR")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        given = os.environ.get("XDG_CACHE_HOME", "")
        base = given if os.path.isabs(given) else os.path.join(home, ".cache")
    return os.path.abspath(os.path.join(base, "frazil"))


def limit() -> int:
    """Return the bytes that the cache may take: ``$FRAZIL_CACHE_SIZE``, such as ``500M``, or 1 GiB.

    If the variable is no size, a warning says so once, and the limit is 1 GiB.

    Examples
    --------
    >>> import os
    >>> from frazil.cache.folder import limit
    >>> os.environ["FRAZIL_CACHE_SIZE"] = "2.5M"
    >>> limit()
    2621440
    >>> del os.environ["FRAZIL_CACHE_SIZE"]
    """
    given = os.environ.get("FRAZIL_CACHE_SIZE")
    if not given:
        return DEFAULT_LIMIT
    size = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?", given.strip(), re.IGNORECASE)
    if size is None:
        _warn_of_size(given)
        return DEFAULT_LIMIT
    return int(min(float(size[1]) * _UNITS[size[2].lower()], _MOST))


@cache
def _warn_of_size(given: str) -> None:
    warnings.warn(
        "FRAZIL_CACHE_SIZE must be a number of bytes, or one with a unit, such as 500M or 2GiB; "
        f"given {given!r}. frazil's cache takes up to 1 GiB",
        RuntimeWarning,
        stacklevel=2,
    )


@cache
def prepared(folder: str) -> str | None:
    """Return the folder, made if it did not exist; None, with a warning, if it is not safe to use.

    The code in a cache is run, so only the user and the administrator may be able to write to
    the folder, or to rename it.
    """
    try:
        if not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        real = os.path.realpath(folder)
        check(real)
    except OSError as error:
        # There is no home, or the disk is full or read-only: then there is no cache.
        if not isinstance(error, FileExistsError | NotADirectoryError):
            return None
        reason = str(error)
    except Untrusted as error:
        reason = str(error)
    else:
        return real
    warnings.warn(
        f"frazil does not use the cache in {folder}: {reason}. Set FRAZIL_CACHE_DIR to another "
        "folder, or FRAZIL_CACHE=0 to do without",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def check(folder: str) -> None:
    """Raise :class:`Untrusted` if others may write to the folder or replace it."""
    if sys.platform == "win32":
        return  # folders below a user's profile are the user's alone
    user = os.geteuid()
    status = os.stat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise Untrusted("it is not a folder")
    if status.st_uid != user:
        raise Untrusted("it belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Untrusted("others may write to it (chmod go-w would end that)")
    parent = folder
    while parent != os.path.dirname(parent):
        parent = os.path.dirname(parent)
        status = os.stat(parent)
        if status.st_uid not in (user, 0):
            raise Untrusted(f"{parent} belongs to another user")
        if status.st_mode & stat.S_ISVTX:
            continue  # only the owner of an entry may rename it
        if status.st_mode & stat.S_IWOTH or (
            status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid, user)
        ):
            raise Untrusted(f"others may write to {parent}")


def _is_private(group: int, user: int) -> bool:
    """Whether a group is the user's own; many systems make one for every user."""
    import grp
    import pwd

    try:
        members, name = grp.getgrgid(group).gr_mem, pwd.getpwuid(user).pw_name
        return grp.getgrgid(group).gr_name == name and set(members) <= {name}
    except KeyError:
        return False
