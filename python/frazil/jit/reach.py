"""The objects that the run of a function reaches and that the names in its code do not show."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from frazil._core import Reach, ReachedFiles
from frazil.graph.garbage import no_collections
from frazil.jit.callables import (
    is_check_of_abstract_class,
    is_trusted_code,
    refusal_of,
    trusted_folders,
)
from frazil.jit.traced import TracedArray, TracedLength


@contextmanager
def watched(asked: Iterable[tuple[CodeType, str]]) -> Iterator[Reach | None]:
    """Note what this thread enters and calls; None if another profiler is at work here.

    Of ``asked`` arguments of code it notes which are traced.
    """
    if sys.getprofile() is not None:
        yield None
        return
    reach = Reach(_files(), list(asked), (TracedArray, TracedLength))
    with no_collections():
        reach.start()
        try:
            yield reach
        finally:
            reach.stop()


@cache
def _files() -> ReachedFiles:
    """Files whose code is frazil's own, and files whose code counts as its caller's."""
    own = str(Path(__file__).parent.parent)
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    # Libraries need not lie there: virtual environments may take the system's packages.
    return ReachedFiles([own], sorted({"<frozen", "<string>", *trusted_folders(), *paths}))


class Reached:
    """Code that a run has entered and functions of C that it has called, beside known ones."""

    def __init__(self, reach: Reach, known: Container[int]) -> None:
        self.refused: dict[str, None] = {}
        """Functions of C that may not be called."""
        self.unknown: dict[CodeType, dict[str, Any]] = {}
        """Code that the snapshot does not know, with its globals."""
        self.asks_abstract_classes = False
        """Whether ``isinstance`` or ``issubclass`` asked an abstract class."""
        for what, scope in reach.take():
            if isinstance(what, CodeType):
                if id(what) not in known and not _is_trusted(what):
                    self.unknown[what] = scope or {}
            elif is_check_of_abstract_class(what):
                self.asks_abstract_classes = True
            else:
                refusal = refusal_of(what)
                if refusal is not None:
                    self.refused[refusal] = None


def _is_trusted(code: CodeType) -> bool:
    if is_trusted_code(code):
        return True
    names = ("_handle_fromlist", "parent", "has_location", "cb")
    return code.co_filename.startswith("<frozen importlib") and code.co_name in names
