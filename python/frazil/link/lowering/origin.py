"""The origin of an instruction: its nodes, and the lines of the user's code that built them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from frazil._core import FrozenApply

SHOWN = 4
"""The highest number of nodes that the text of an origin names."""

SourceLine: TypeAlias = tuple[str, int, str]
"""A file, a line in it, and the function."""


class Origin:
    """The nodes that an instruction computes. Its text, for error messages, names their lines.

    ``sources`` are the lines of the nodes, given where the nodes do not know them.
    """

    __slots__ = ("nodes", "sources")

    def __init__(
        self, nodes: Sequence[FrozenApply], sources: Sequence[SourceLine | None] | None = None
    ) -> None:
        self.nodes = nodes
        self.sources = sources

    def name_of(self, kind: str, number: int) -> str | None:
        """The name that a scan gives its state or sequence of this number, if it has one."""
        tell = getattr(self.nodes[-1].op, f"{kind}_name", None) if self.nodes else None
        return None if tell is None else tell(self.nodes[-1], number)

    def __str__(self) -> str:
        sources = self.sources or [node.source for node in self.nodes]
        shown = list(zip(self.nodes, sources, strict=True))[-SHOWN:]
        lines = [_line(node, source) for node, source in shown]
        hidden = len(self.nodes) - len(lines)
        if hidden > 0:
            lines.insert(0, f"{hidden} more nodes, then")
        return "\n      ".join(lines)


def _line(node: FrozenApply, source: SourceLine | None) -> str:
    if source is None:
        return repr(node)
    file, line, function = source
    # Equal nodes are one, and it knows the line that was the first to build it.
    return f"{node!r}, first built at {file}:{line} in {function}"
