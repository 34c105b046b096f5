"""Graphs as formulas, with Python's operators: :func:`pp`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TypeAlias

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.printing import LINES, label, printed_outputs
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.basic_indexing import IncSubtensor, Subtensor
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import Shape_i
from frazil.tensor.products import BatchedDot, Dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.transposition import Transpose

Binding: TypeAlias = tuple[str, int]
"""A formula, and the precedence of its outermost operation."""

MAX_FORMULA = 1_000
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
    outputs = printed_outputs(graph_like)
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
        if len(used) > 1 and len(formula[0]) > MAX_FORMULA:
            # Each result would have all of it.
            name = next(names)
            lines.append(f"{name} = {formula[0]}")
            formula = (name, ATOM)
        for output in used:
            own = (f"{formula[0]}[{output.index}]", ATOM) if several else formula
            if uses[output] > 1 or (len(own[0]) > MAX_FORMULA and output not in ends):
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
