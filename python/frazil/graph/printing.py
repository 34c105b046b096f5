"""Graphs as trees: :func:`dprint`. For formulas see :mod:`frazil.tensor.formulas`."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal, TextIO

import numpy as np
import numpy.typing as npt

import frazil._core as _core
from frazil._core import (
    Constant,
    FrozenApply,
    FrozenFunctionGraph,
    FunctionGraph,
    NominalVariable,
    Variable,
)
from frazil.graph.collection import is_sequence

LINES = 10_000
"""The default of ``limit``: the number of lines printed of a large graph."""

LEVELS = 100
"""The levels of one tree; deeper nodes are printed as another tree further down."""


def dprint(
    graph_like: object,
    depth: int = -1,
    print_type: bool = False,
    file: Literal["str"] | TextIO | None = None,
    id_type: Literal["CHAR", "int", ""] = "CHAR",
    limit: int = LINES,
) -> str | TextIO | None:
    """Print a graph as a tree, each variable above its operands.

    A variable that occurs again is printed with the same id and without what is below it. What is
    deeper than fits in a line stands further down, as a tree of its own.

    Parameters
    ----------
    graph_like : Variable, graph, compiled function, or a sequence of them
        What to print. Graphs and functions are printed from their outputs; of a function, what
        rewriting made of its graph. What it was made from is ``function.fgraph``.
    depth : int, default -1
        The number of levels to print; -1: all.
    print_type : bool, default False
        Print the type of each variable.
    file : "str" or a text file, optional
        Where to print; ``"str"`` returns the text instead. Default: standard output.
    id_type : {"CHAR", "int", ""}
        Number the variables with letters, with integers, or not at all.
    limit : int, default 10,000
        The number of lines to print; -1: all. A last line counts the nodes that are left out.

    Returns
    -------
    str, file or None
        The text if ``file="str"``, else ``file``.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> y = ft.exp(x)
    >>> fz.dprint(ft.sum(y * (y + 1)))
    Sum{(0,)} [id A]
     └─ mul [id B]
        ├─ exp [id C]
        │  └─ x [id D]
        └─ add [id E]
           ├─ exp [id C]
           │  └─ ···
           └─ 1.0 [id F]
    """
    if id_type not in _IDS:
        raise ValueError(f"id_type must be one of {', '.join(map(repr, _IDS))}; given {id_type!r}")
    roots = printed_outputs(graph_like)
    lines = _Tree(depth, print_type, _IDS[id_type], limit)
    for variable in roots:
        lines.add(variable)
    if lines.full:
        nodes = _core.toposort(roots)
        left = sum(not lines.shows(node) for node in nodes)
        lines.text.append(
            f"··· {left:,} of {len(nodes):,} nodes are left out after {limit:,} lines: print a "
            "part with depth=..., or all with limit=-1"
        )
    text = "\n".join(lines.text) + "\n"
    if file == "str":
        return text
    print(text, end="", file=sys.stdout if file is None else file)
    return file


def _letters(number: int) -> str:
    """Return A, B, ..., Z, BA, BB, ..."""
    digits = ""
    while True:
        number, digit = divmod(number, 26)
        digits = chr(ord("A") + digit) + digits
        if number == 0:
            return digits


_IDS: Mapping[str, Callable[[int], str]] = {
    "CHAR": lambda number: f" [id {_letters(number)}]",
    "int": lambda number: f" [id {number}]",
    "": lambda number: "",
}


class _Tree:
    """The lines of a tree, which remembers the variables that it has printed."""

    def __init__(
        self, depth: int, print_type: bool, id_text: Callable[[int], str], limit: int
    ) -> None:
        self.text: list[str] = []
        self.full = False
        self._limit = limit
        self._depth = depth
        self._print_type = print_type
        self._id_text = id_text
        self._ids: dict[Variable | FrozenApply, int] = {}

    def shows(self, node: FrozenApply) -> bool:
        """Whether a line shows the node."""
        return node in self._ids

    def add(self, root: Variable) -> None:
        # Lines that grew with the depth would take memory by its square.
        trees: deque[tuple[Variable, int]] = deque([(root, 0)])
        while trees and not self.full:
            self._add(*trees.popleft(), trees)

    def _add(self, root: Variable, above: int, trees: deque[tuple[Variable, int]]) -> None:
        # The variables still to print, the next one last: each with the text before it in its
        # line, the text before its children in theirs, and its level.
        pending: list[tuple[Variable, str, str, int]] = [(root, "", " ", above)]
        while pending:
            variable, before, indent, level = pending.pop()
            if len(self.text) == self._limit:
                self.full = True
                return
            # The outputs of one node share its id, and what is below it is printed once.
            place = variable if variable.owner is None else variable.owner
            known = place in self._ids and (level == 0 or variable is not root)
            number = self._ids.setdefault(place, len(self._ids))
            line = before + label(variable) + self._id_text(number)
            if variable.owner is not None and variable.name is not None:
                line += f" {variable.name!r}"
            self.text.append(line + (f" <{variable.type}>" if self._print_type else ""))
            if variable.owner is None or not variable.owner.inputs or level == self._depth:
                continue
            if known:
                self.text.append(f"{indent}└─ ···")
                continue
            if level - above == LEVELS:
                self.text.append(f"{indent}└─ ··· (further down)")
                trees.append((variable, level))
                continue
            children = variable.owner.inputs
            for position in reversed(range(len(children))):
                last = position == len(children) - 1
                pending.append(
                    (
                        children[position],
                        indent + ("└─ " if last else "├─ "),
                        indent + ("   " if last else "│  "),
                        level + 1,
                    )
                )


def label(variable: Variable) -> str:
    """Return the label of a variable: its name, its value, or the op that computes it."""
    node = variable.owner
    if node is not None:
        return f"{node.op}.{variable.index}" if len(node.output_types) > 1 else str(node.op)
    if isinstance(variable, Constant):
        return _value_text(variable.data)
    if isinstance(variable, NominalVariable):
        return f"*{variable.position}"
    return variable.name or f"<{variable.type}>"


def _value_text(value: npt.NDArray[np.generic]) -> str:
    if value.ndim == 0:
        return repr(value.item())
    return np.array2string(value, threshold=10, edgeitems=2, separator=" ").replace("\n", "")


def printed_outputs(graph_like: Any) -> list[Variable]:
    """Return the variables from which to print."""
    if isinstance(graph_like, Variable):
        return [graph_like]
    if isinstance(graph_like, FrozenApply | FrozenFunctionGraph | FunctionGraph):
        return list(graph_like.outputs)
    if is_sequence(graph_like):
        return [variable for one in graph_like for variable in printed_outputs(one)]
    graph = getattr(graph_like, "optimized", None)
    if graph is None:
        raise TypeError(
            "expected a variable, a graph, a compiled function or a sequence of them; given "
            f"{graph_like!r} of type {type(graph_like).__name__}"
        )
    # A frozen graph has no names; the function's own inputs do.
    return _core.graph_replace(
        graph.outputs, dict(zip(graph.inputs, graph_like.inputs, strict=True))
    )
