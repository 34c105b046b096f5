"""Lines of Python text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def indented(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    """The lines, so much deeper.

    Examples
    --------
    >>> from frazil.link.numba.lines import indented
    >>> [*indented(["x = 1"])]
    ['    x = 1']
    """
    return (f"{'    ' * depth}{line}" for line in lines)
