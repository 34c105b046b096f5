"""Which nodes, and so which lines of the user's code, an instruction comes from."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply

SHOWN = 4


class Origin:
    """The nodes that an instruction computes. Its text, for errors, names their lines."""

    __slots__ = ("nodes",)

    def __init__(self, nodes: Sequence[FrozenApply]) -> None:
        self.nodes = nodes

    def __str__(self) -> str:
        lines = [_line(node) for node in self.nodes[-SHOWN:]]
        hidden = len(self.nodes) - len(lines)
        if hidden > 0:
            lines.insert(0, f"{hidden} more nodes, then")
        return "\n      ".join(lines)


def _line(node: FrozenApply) -> str:
    if node.source is None:
        return repr(node)
    file, line, function = node.source
    return f"{node!r}, built at {file}:{line} in {function}"
