"""Names that users of other libraries look for in frazil, and what to write instead."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping
from typing import Any

_COMPILING = "it compiles graphs: x = ft.vector('x'); f = fz.function([x], ft.exp(x))"

IN_FRAZIL: Mapping[str, str] = {
    "config": "give it where it applies: fz.function(..., mode=...), ft.vector('x', dtype=...)",
    "clone": "graphs are immutable; fz.graph_replace([y], {x: new}) gives another one",
    "clone_replace": "write fz.graph_replace([y], {x: new})",
    "vectorize_graph": "it is fz.vectorize",
    "Apply": "it is fz.FrozenApply",
    "numpy": "import frazil.tensor as ft, whose functions are named as NumPy's",
}

IN_TENSOR: Mapping[str, str] = {
    "array": "ft.constant(values) makes a constant, fz.shared(values) a variable that keeps values",
    "asarray": "write ft.as_tensor(value)",
    "random": "it is fz.random, whose draws take the state of a generator",
}

_IN_PLACE = (
    "it changes its argument, and a variable does not change. Write y = {}, and go on with y"
)
_COMPLEX = "whether its result is complex depends on values"
_DATES = "dates are not supported"
_FILES = "it works on files and text. Make arrays first, and variables of them by ft.constant"
_TEXT = "a variable has no values to print before a function runs. Print it by print(x)"
_MEMORY = "a variable has no memory before a function runs"
_POLYNOMIALS = "numbers of coefficients depend on values here. Write the polynomial by ft.vander"
_PYTHON = "it calls a Python function for parts of an array. Write fz.map(function, x)"

IN_NUMPY: Mapping[str, str] = {
    "copyto": _IN_PLACE.format("ft.where(mask, values, x)"),
    "fill_diagonal": _IN_PLACE.format("ft.fill_diagonal(x, value)"),
    "place": _IN_PLACE.format("ft.where(mask, values, x)"),
    "put": _IN_PLACE.format("ft.set_subtensor(x[indices], values)"),
    "put_along_axis": _IN_PLACE.format("ft.put_along_axis(x, indices, values, axis)"),
    "putmask": _IN_PLACE.format("ft.where(mask, values, x)"),
    **dict.fromkeys(
        ("linalg.eig", "linalg.eigvals"), f"{_COMPLEX}. ft.linalg.eig always gives complex ones"
    ),
    "real_if_close": _COMPLEX,
    **dict.fromkeys(("busday_count", "busday_offset", "datetime_as_string"), _DATES),
    **dict.fromkeys(("is_busday", "isnat"), _DATES),
    **dict.fromkeys(("frombuffer", "fromfile", "fromiter", "fromstring"), _FILES),
    **dict.fromkeys(("genfromtxt", "loadtxt", "save", "savetxt", "savez"), _FILES),
    "savez_compressed": _FILES,
    **dict.fromkeys(("array2string", "array_repr", "array_str"), _TEXT),
    **dict.fromkeys(("may_share_memory", "shares_memory", "require"), _MEMORY),
    "min_scalar_type": "it depends on values. The dtype of a variable is x.dtype",
    **dict.fromkeys(("poly", "polydiv", "roots"), _POLYNOMIALS),
    "polyfit": "write ft.linalg.lstsq(ft.vander(x, deg + 1), y)[0]",
    "polymul": "it leaves out leading zeros. ft.convolve(a, b) keeps them",
    "trim_zeros": "how many elements it leaves depends on values. Write x[first:last]",
    **dict.fromkeys(("apply_along_axis", "apply_over_axes", "fromfunction", "piecewise"), _PYTHON),
    **dict.fromkeys(("packbits", "unpackbits"), "bytes are not read as another type"),
    "ix_": "ft.meshgrid(i, j, indexing='ij', sparse=True) gives such indices",
    "einsum_path": "ft.einsum chooses the order by itself, or takes one as optimize=",
    "histogram2d": "write ft.bincount of the number of each point's cell, by ft.searchsorted",
    "histogramdd": "write ft.bincount of the number of each point's cell, by ft.searchsorted",
    "resize": "write ft.reshape, ft.tile or ft.pad",
    "rollaxis": "write ft.moveaxis",
    "spacing": "write ft.abs(ft.nextafter(x, ft.inf) - x)",
}
"""NumPy's objects of these names have no counterpart here."""

IN_MODULES_OF_NUMPY: Mapping[str, str] = {
    "char": "text is not supported",
    "recfunctions": "arrays of records are not supported",
    "scimath": _COMPLEX,
    "polynomial": _POLYNOMIALS,
    "strings": "text is not supported",
}
"""Why functions in these modules of NumPy have no counterpart here, where they have none."""


from_above: dict[str, object] = {}
"""Functions of packages above that ``frazil.tensor`` has, too: the face puts them here."""


def refuse(module: str, advice: Mapping[str, str]) -> Callable[[str], Any]:
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

    def __getattr__(name: str) -> object:
        if name in from_above and module == "frazil.tensor":
            return from_above[name]
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
