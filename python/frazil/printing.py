"""Graphs as text: :func:`dprint` as a tree, :func:`pp` as formulas."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Literal, TextIO, TypeAlias

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
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.indexing import IncSubtensor, Subtensor
from frazil.tensor.lengths import Shape_i
from frazil.tensor.products import BatchedDot, Dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.transposition import Transpose

LINES = 10_000
"""The default of ``limit``: the number of lines printed of a large graph."""

# ------------------------------------------------------------------------------------------ trees

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
    roots = _roots(graph_like)
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
        # What is still to be printed, the next one last: a variable, what is before it in its
        # line, what is before its children in theirs, and its level.
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


def _roots(graph_like: Any) -> list[Variable]:
    """Return the variables from which to print."""
    if isinstance(graph_like, Variable):
        return [graph_like]
    if isinstance(graph_like, FrozenApply | FrozenFunctionGraph | FunctionGraph):
        return list(graph_like.outputs)
    if is_sequence(graph_like):
        return [variable for one in graph_like for variable in _roots(one)]
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


# --------------------------------------------------------------------------------------- formulas

Binding: TypeAlias = tuple[str, int]
"""A formula, and the precedence of its outermost operation."""

LONG = 1_000
"""A longer formula gets a name, as a variable that is used several times does."""

ATOM = 100

_INFIX = {
    "or_": ("|", 10),
    "xor": ("^", 11),
    "and_": ("&", 12),
    "lt": ("<", 5),
    "le": ("<=", 5),
    "gt": (">", 5),
    "ge": (">=", 5),
    "eq": ("==", 5),
    "neq": ("!=", 5),
    "add": ("+", 20),
    "sub": ("-", 20),
    "mul": ("*", 30),
    "truediv": ("/", 30),
    "floordiv": ("//", 30),
    "mod": ("%", 30),
    "pow": ("**", 50),
}
_MATMUL = ("@", 30)
_PREFIX = {"neg": ("-", 40), "invert": ("~", 40)}


def pp(graph_like: object, limit: int = LINES) -> str:
    """Return a graph as formulas, with Python's operators.

    A variable that is used several times has a name and a line of its own, above the lines that use
    it; so have parts of a formula that is too long. A graph without such parts is one line.

    Parameters
    ----------
    graph_like : Variable, graph, compiled function, or a sequence of them
        The graph to print. Graphs and functions are printed from their outputs.
    limit : int, default 10,000
        The number of lines to return, the last ones; -1: all. A first line counts those left out.

    Returns
    -------
    str
        Without a line break at its end.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> print(fz.pp((x - y) * 2 / ft.exp(x)))
    (x - y) * 2.0 / exp(x)
    >>> s = ft.sin(x)
    >>> print(fz.pp(s + s**2))
    t0 = sin(x)
    t0 + t0 ** 2.0
    """
    outputs = _roots(graph_like)
    order = _core.toposort(outputs)
    uses, ends = _count_uses(order, outputs), set(outputs)
    names = (f"t{number}" for number in count())
    formulas: dict[Variable, Binding] = {}
    lines = []

    def formula_of(variable: Variable) -> Binding:
        # The text of a variable that is used once is part of its user's text, and need not be kept.
        once = uses.get(variable, 0) == 1
        known = formulas.pop(variable, None) if once else formulas.get(variable)
        return known or (label(variable), ATOM)

    for node in order:
        operands = [formula_of(variable) for variable in node.inputs]
        formula = _formula(node, operands)
        several = len(node.outputs) > 1
        used = [output for output in node.outputs if output in uses]
        if len(used) > 1 and len(formula[0]) > LONG:
            # Each result would have all of it.
            name = next(names)
            lines.append(f"{name} = {formula[0]}")
            formula = (name, ATOM)
        for output in used:
            own = (f"{formula[0]}[{output.index}]", ATOM) if several else formula
            if uses[output] > 1 or (len(own[0]) > LONG and output not in ends):
                name = next(names)
                lines.append(f"{name} = {own[0]}")
                own = (name, ATOM)
            formulas[output] = own
    lines += [formula_of(output)[0] for output in outputs]
    left = len(lines) - limit if limit >= 0 else 0
    if left > 0:
        lines[:left] = [f"··· {left:,} lines are left out: pp(..., limit=-1) has all"]
    return "\n".join(lines)


def _count_uses(order: Iterable[FrozenApply], outputs: Iterable[Variable]) -> dict[Variable, int]:
    uses: dict[Variable, int] = {}
    for variable in (*(v for node in order for v in node.inputs), *outputs):
        uses[variable] = uses.get(variable, 0) + 1
    return uses


def _formula(node: FrozenApply, operands: list[Binding]) -> Binding:
    op = node.op
    match op:
        case Elemwise() if op.scalar_op.table_name in _INFIX:
            return _infix(*_INFIX[op.scalar_op.table_name], *operands)
        case Elemwise() if op.scalar_op.table_name in _PREFIX:
            symbol, binding = _PREFIX[op.scalar_op.table_name]
            return symbol + _bracketed(operands[0], binding), binding
        case Dot() | BatchedDot():
            return _infix(*_MATMUL, *operands)
        case Transpose(axes) if axes == (1, 0):
            return f"{_bracketed(operands[0], ATOM)}.T", ATOM
        case Shape_i(axis):
            return f"{_bracketed(operands[0], ATOM)}.shape[{axis}]", ATOM
        case Subtensor(template):
            x, *dynamic = operands
            return f"{_bracketed(x, ATOM)}[{_index_text(template, dynamic)}]", ATOM
        case IncSubtensor(template, replace):
            x, y, *dynamic = operands
            name = "set_subtensor" if replace else "inc_subtensor"
            part = f"{_bracketed(x, ATOM)}[{_index_text(template, dynamic)}]"
            return f"{name}({part}, {y[0]})", ATOM
        case Reduce(axes):
            whole = len(axes) == node.inputs[0].ndim
            return _call(type(op).__name__.lower(), operands, "" if whole else f"axis={axes}")
        case ExpandDims(axes):
            return _call("expand_dims", operands, f"axis={axes}")
        case DropDims(axes):
            return _call("squeeze", operands, f"axis={axes}")
    return _call(str(op), operands)


def _infix(symbol: str, binding: int, left: Binding, right: Binding) -> Binding:
    # a - b - c is (a - b) - c, but a ** b ** c is a ** (b ** c).
    tighter = binding + 1
    sides = (tighter, binding) if symbol == "**" else (binding, tighter)
    return f"{_bracketed(left, sides[0])} {symbol} {_bracketed(right, sides[1])}", binding


def _call(name: str, operands: Sequence[Binding], extra: str = "") -> Binding:
    arguments = [text for text, _ in operands] + ([extra] if extra else [])
    return f"{name}({', '.join(arguments)})", ATOM


def _bracketed(formula: Binding, least: int) -> str:
    text, binding = formula
    return text if binding >= least else f"({text})"


def _index_text(template: Sequence[object], dynamic: Sequence[Binding]) -> str:
    values = iter(dynamic)

    def bound(entry: object) -> str:
        if entry is None:
            return ""
        return next(values)[0] if isinstance(entry, str) else str(entry)

    texts = []
    for entry in template:
        if isinstance(entry, tuple):
            start, stop, step = entry
            text = f"{bound(start)}:{bound(stop)}"
            texts.append(text if step is None else f"{text}:{step}")
        else:
            texts.append(bound(entry))
    return ", ".join(texts)
