"""Writes docs/ops.md: what each op has in each linker and for gradients, and how precise it is.

    python benches/ops_page.py

The tables are made from the ops themselves and from docs/precision.json, which
benches/precision.py measures. The tests say when the page is older than the ops, and refuse a hole
that nothing here explains.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import frazil
from frazil import Op, TensorType, Variable
from frazil._core import elemwise
from frazil.batching.registry import batch_rule
from frazil.gradient.registry import pullback_rule, pushforward_rule
from frazil.link.c import CCompiler
from frazil.link.lowering.native_form import native_form
from frazil.link.lowering.node import lower_node
from frazil.link.numba import NumbaCompiler
from frazil.scalar import TABLE, Elementary, ScalarOp, cast
from frazil.scalar.elementary import Row
from frazil.scalar.op import UnknownPartial
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from frazil.tensor.lengths import Shape_i
from frazil.tensor.reductions import Reduce

DOCS = Path(__file__).parent.parent / "docs"
PAGE, DATA = DOCS / "ops.md", DOCS / "precision.json"

IN_LOOPS: tuple[type[Op], ...] = (Reduce, AdvancedSubtensor, AdvancedIncSubtensor)
"""Ops that native loops compute."""

YES, NO = "yes", "no"

DISCRETE = ("comparison", "bitwise", "shift", "predicate")
"""Type rules of ops whose results are no floating numbers."""

FLAT = ("ArgSort", "Argmax", "Argmin", "Eye", "Nonzero", "RepeatedPositions", "Shape_i")
"""Ops whose ``L_op`` says that nothing flows back."""

DRAWS = ("Draw", "MultivariateNormal", "WeightedSample")
"""Ops that draw random numbers."""

WHY: dict[tuple[str, str], str] = {
    ("where", "operand 1"): "the condition is a bool",
    ("second", "operand 1"): "only the shape of the first operand counts",
    ("disconnected_grad", "operand 1"): "that is what the op is for",
    **dict.fromkeys((("Any", "vjp"), ("All", "vjp")), "the result is a bool"),
    **{(name, "vjp"): "the results are positions, counts or a pattern of ones" for name in FLAT},
    **{(name, "vjp"): "a draw is a constant to derivatives" for name in DRAWS},
    **{
        (name, "native"): "NumPy draws it itself, and only its code gives its bits"
        for name in DRAWS
    },
    **dict.fromkeys(
        (("Expm", "native"), ("SolveRiccati", "native"), ("SolveSylvester", "native")),
        "SciPy computes it, in Python",
    ),
    **dict.fromkeys(
        [(name, "native") for name in ("Fourier", "RealFourier", "InverseRealFourier")],
        "NumPy computes it, called by Python, as all that has complex numbers: what reads or makes "
        "these would be Python's, too. A call of `rfft` takes 8 us more than NumPy's loop alone, "
        "which takes 5 us for 1,024 numbers and 700 us for 65,536 (Zen 4)",
    ),
    ("RealTransform", "native"): "SciPy computes it, called by Python",
    ("Eig", "native"): "NumPy computes it, called by Python, as all that has complex numbers",
    ("LogAbsDet", "native"): "a rule puts a sum of logarithms in its place before it is compiled",
    ("Print", "native"): "it writes to Python's output",
}
"""By op and column: why there is nothing."""

_HEAD = """\
# Ops

This page is generated: `python benches/ops_page.py` writes it from the ops themselves. *C* and
*Numba* say in which linkers an op is native code that calls no Python; *py* is its `perform`, the
reference, which each op has. *vjp* and *jvp* say whether it can be differentiated backwards and
forwards, *batch* whether one op computes a whole batch; every op on elements does. A number in the
place of a yes is that of a note after the table.

The *worst error* is in units of the last place of float64 (ulp), against mpmath at 60 digits, on
points that are hard: over the whole range, near zeros, poles and branch points, and where formulas
change. `python benches/precision.py --write` measures it, in mode `"c"`; "none" says that the op
does not round, 0.5 that it is an operation of the processor. After it stands where it was found.
*peer* is the worst error of the function of `scipy.special` of that name, or else of NumPy's, on
the same points. Where both are large and equal, kernels call SciPy's function, and its error is
theirs: `beta` and `gammainc` lose digits where large parameters cancel; note 1 is about zeros.
Functions of float32 compute in float32, with as many ulp of that, or one more.

"""

ZEROS = (
    "a zero of these functions is no number of float64; beside it a value keeps its relative "
    "precision only if the zero is known to more digits, which SciPy's functions do not have"
)
"""Why the Bessel functions are far off in units of the last place near their zeros."""


class _Notes:
    """Numbered notes, each told once."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def mark(self, text: str) -> str:
        if text not in self._texts:
            self._texts.append(text)
        return f"[{self._texts.index(text) + 1}]"

    def lines(self) -> Iterator[str]:
        for number, text in enumerate(self._texts, 1):
            yield f"{number}. {text[0].upper()}{text[1:]}."


def why(name: str, column: str) -> str:
    """The explanation of a hole.

    Raises
    ------
    LookupError
        If there is none.
    """
    text = WHY.get((name, column))
    if text is None:
        raise LookupError(f"{name} has no {column}; say why in WHY of benches/ops_page.py")
    return text


# ---------------------------------------------------------------- ops on elements


def scalar_rows(notes: _Notes) -> Iterator[list[str]]:
    measured = json.loads(DATA.read_text())
    notes.mark(ZEROS)
    for name, row in TABLE.items():
        op: ScalarOp = cast("float32") if name == "cast" else Elementary(name)
        dtype = "int64" if row.rule in ("bitwise", "shift") else "float64"
        operands = ["bool" if row.rule == "select" else dtype, *[dtype] * (row.nin - 1)]
        output = elemwise(op, *(Variable(TensorType(own, ()), None) for own in operands))
        native = [
            YES if compiler.lowers(op, operands, output.dtype) else notes.mark(why(name, language))
            for language, compiler in (("C", CCompiler), ("Numba", NumbaCompiler))
        ]
        slope = differentiated(name, row, output, notes)
        far = precision(name, row, measured)
        yield [f"`{name}`", YES, *native, slope, slope, far, peer(measured.get(name))]


def differentiated(name: str, row: Row, output: Variable, notes: _Notes) -> str:
    """Whether an op has a gradient, in all of its operands."""
    if row.rule in DISCRETE:
        return notes.mark("the result is a bool or an integer")
    if row.gradient is None:
        return notes.mark(why(name, "vjp"))
    parts = row.gradient(output.owner.inputs, output, output)
    missing = [
        part.why if isinstance(part, UnknownPartial) else why(name, f"operand {k}")
        for k, part in enumerate(parts, 1)
        if part is None or isinstance(part, UnknownPartial)
    ]
    marks = [notes.mark(reason) for reason in missing]
    return " ".join([NO if len(missing) == row.nin else YES, *marks])


def precision(name: str, row: Row, measured: dict[str, Any]) -> str:
    """The worst error of an op."""
    record = measured.get(name)
    if record is not None:
        place = ", ".join(f"{x:.6g}" for x in record["at"])
        return f"{record['ulp']:.2g} at {place}"
    return "none" if row.rule in DISCRETE or name in EXACT else "0.5"


def peer(record: dict[str, Any] | None) -> str:
    """The worst error of NumPy's or SciPy's function on the same points."""
    far = None if record is None else record["peer"]
    return "" if far is None else f"{far:.2g}"


EXACT = {
    *("abs", "ceil", "clip", "copysign", "disconnected_grad", "floor", "fmax", "fmin", "fmod"),
    *("identity", "maximum", "minimum", "neg", "nextafter", "rint", "second", "sign", "trunc"),
    *("where", "zero_grad"),
}
"""What does not round."""


# ---------------------------------------------------------------- ops on arrays


def array_ops() -> list[type[Op]]:
    """The ops of frazil that are no scalar ops, without those that others derive from."""
    found: set[type[Op]] = set()
    for module in pkgutil.walk_packages(frazil.__path__, "frazil."):
        if module.name.endswith("__main__") or ".interop." in module.name:
            continue
        for own in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(own) and issubclass(own, Op) and own.__module__ == module.name:
                found.add(own)
    bases = {base for own in found for base in own.__mro__[1:]}
    others = [
        own
        for own in found - bases
        if not issubclass(own, ScalarOp) and not own.__module__.startswith("frazil.rewrite")
    ]
    return sorted(others, key=lambda own: own.__name__)


def array_rows(notes: _Notes) -> Iterator[list[str]]:
    for op in array_ops():
        name = op.__name__
        ruled = lower_node.dispatch(op) is not lower_node.dispatch(Op)
        ruled = ruled or native_form.dispatch(op) is not native_form.dispatch(Op)
        native = YES if ruled or issubclass(op, (*IN_LOOPS, Shape_i)) else ""
        native = native or ("in loops" if name == "Elemwise" else notes.mark(why(name, "native")))
        backwards = op.L_op is not Op.L_op and (name, "vjp") not in WHY
        backwards = backwards or pullback_rule.dispatch(op) is not pullback_rule.dispatch(Op)
        forwards = hasattr(op, "R_op")
        forwards = forwards or pushforward_rule.dispatch(op) is not pushforward_rule.dispatch(Op)
        vjp = YES if backwards else notes.mark(why(name, "vjp"))
        jvp = YES if forwards else f"{YES} {notes.mark(_FROM_VJP)}" if backwards else vjp
        ruled = batch_rule.dispatch(op) is not batch_rule.dispatch(Op)
        batch = YES if ruled else notes.mark(_ONE_BY_ONE)
        module = op.__module__.removeprefix("frazil.")
        yield [f"`{name}`", f"`{module}`", YES, native, vjp, jvp, batch]


_ONE_BY_ONE = "`fz.vectorize` applies it to one element after the other, in a scan"


_FROM_VJP = "forwards by differentiating the vjp, which is linear in what it is given"


# ---------------------------------------------------------------- the page


def table(head: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def page() -> str:
    """The text of the page."""
    elements, arrays = _Notes(), _Notes()
    columns = ["op", "py", "C", "Numba", "vjp", "jvp", "worst error", "peer"]
    lines = [
        "## Ops on elements",
        "",
        *table(columns, scalar_rows(elements)),
        "",
        *elements.lines(),
        "",
        "## Ops on arrays",
        "",
        "Native instructions are the same for both compilers: loops, and calls of BLAS, of LAPACK",
        "and of the runtime.",
        "",
        *table(["op", "module", "py", "native", "vjp", "jvp", "batch"], array_rows(arrays)),
        "",
        *arrays.lines(),
    ]
    return _HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
