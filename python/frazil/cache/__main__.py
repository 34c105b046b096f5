"""The command ``frazil cache``, or ``python -m frazil.cache``."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence

from frazil.cache import folder
from frazil.cache.store import Store, find_store


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command ``frazil`` with these arguments and return its exit status.

    Examples
    --------
    >>> from frazil.cache.__main__ import main
    >>> main(["cache", "info"])  # doctest: +ELLIPSIS
    folder ...
    0
    """
    parser = argparse.ArgumentParser(prog="frazil")
    commands = parser.add_subparsers(required=True, metavar="command")
    cache = commands.add_parser("cache", help="the compiled functions on disk")
    actions = cache.add_subparsers(required=True, metavar="action")
    info = actions.add_parser("info", help="show where the cache is and what it holds")
    info.set_defaults(run=_info)
    clear = actions.add_parser("clear", help="remove all entries")
    clear.set_defaults(run=_clear)
    chosen = parser.parse_args(arguments)
    store = _usable_store()
    if isinstance(store, str):
        print(store, file=sys.stderr)
        return 1
    chosen.run(store)
    return 0


def _usable_store() -> Store | str:
    """The store, or the reason why there is none."""
    if folder.is_off():
        return "the cache is off: FRAZIL_CACHE says so"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store = find_store()
    reasons = "\n".join(str(warning.message) for warning in caught)
    if store is None:
        return reasons or f"{folder.chosen()} cannot be made"
    if reasons:
        print(reasons, file=sys.stderr)
    return store


def _info(store: Store) -> None:
    entries = store.entries()
    total = sum(entry.size for entry in entries)
    print(f"folder   {store.path}")
    print(f"entries  {len(entries)}")
    print(f"size     {_size(total)} of {_size(store.limit)}")
    if entries:
        print(f"unused   up to {_duration(time.time() - entries[0].used)}")


def _clear(store: Store) -> None:
    print(f"removed {store.clear()} entries from {store.path}")


def _size(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{max(seconds, 0):.0f} seconds"


if __name__ == "__main__":
    sys.exit(main(["cache", *sys.argv[1:]]))
