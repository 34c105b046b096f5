"""Names that users of other libraries look for in frazil, and what there is instead."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping
from typing import NoReturn

_COMPILING = "it compiles graphs: x = ft.vector('x'); f = fz.function([x], ft.exp(x))"

IN_FRAZIL: Mapping[str, str] = {
    "jit": _COMPILING,
    "vmap": "fz.vectorize takes a graph over a batch; fz.map goes along one dimension",
    "value_and_grad": "compile both: fz.function([x], [cost, fz.grad(cost, x)])",
    "config": "give it where it applies: fz.function(..., mode=...), ft.vector('x', dtype=...)",
    "clone": "graphs are immutable; fz.graph_replace([y], {x: new}) gives another one",
    "clone_replace": "write fz.graph_replace([y], {x: new})",
    "vectorize_graph": "it is fz.vectorize",
    "Apply": "it is fz.FrozenApply",
    "numpy": "import frazil.tensor as ft, whose functions are named as NumPy's",
}

IN_TENSOR: Mapping[str, str] = {
    "TensorType": "it is fz.TensorType",
    "array": "ft.constant(values) makes a constant, fz.shared(values) a variable that keeps values",
    "asarray": "write ft.as_tensor(value)",
    "grad": "it is fz.grad",
    "random": "draw with NumPy and pass the numbers as an argument",
}


def refuse(module: str, advice: Mapping[str, str]) -> Callable[[str], NoReturn]:
    """The ``__getattr__`` of a module: an error that says what to write instead of a name.

    Examples
    --------
    >>> import frazil as fz
    >>> try:
    ...     fz.functoin
    ... except AttributeError as error:
    ...     print(error)
    frazil has no functoin. Is it fz.function?
    """

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(_message(module, name, advice), name=name)

    return __getattr__


def _message(module: str, name: str, advice: Mapping[str, str]) -> str:
    said = f"{module} has no {name}"
    if name.startswith("__"):
        return said
    if name in advice:
        return f"{said}; {advice[name]}"
    short = {"frazil": "fz", "frazil.tensor": "ft"}
    own = vars(sys.modules[module])
    for other in short.keys() - {module}:
        if not name.startswith("_") and name in vars(sys.modules[other]):
            return f"{said}. It is {short[other]}.{name}"
    close = difflib.get_close_matches(name, [one for one in own if not one.startswith("_")], 1)
    return f"{said}. Is it {short[module]}.{close[0]}?" if close else said
