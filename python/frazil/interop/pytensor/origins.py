"""The lines that made PyTensor's variables: frazil's nodes count as made by the same lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import pytensor

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply

_THEIRS = str(Path(pytensor.__file__).parent)

Build = Callable[[Any, Any, Any], Any]


def built_at_trace(build: Build, op: object, node: object, t: object) -> Any:
    """Call ``build(op, node, t)``; errors name the line that made PyTensor's node.

    Frazil names a node by the innermost frame above its own code. Here this is the frame of a
    function made for the purpose: its code claims the line where PyTensor's traceback ends.
    """
    place = place_of(node)
    return build(op, node, t) if place is None else _standing_at(*place)(build, op, node, t)


def place_of(node: Apply) -> tuple[str, int, str] | None:
    """The innermost line outside of PyTensor that made the outputs of a node."""
    for out in node.outputs:
        for stack in reversed(getattr(out.tag, "trace", None) or ()):
            for frame in reversed(stack):
                filename, line, name, _ = frame
                if not filename.startswith(_THEIRS):
                    return filename, line, name
    return None


def _call(build: Build, op: object, node: object, t: object) -> object:
    return build(op, node, t)


@lru_cache(maxsize=1024)
def _standing_at(filename: str, line: int, name: str) -> Callable[..., object]:
    """A function that calls another, and whose code claims to lie there."""
    code: CodeType = _call.__code__
    first = line - 1  # its body is on its second line
    moved = code.replace(co_filename=filename, co_firstlineno=first, co_name=name, co_qualname=name)
    return FunctionType(moved, globals(), name)
