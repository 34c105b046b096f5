"""The functions of floats that C's kernels compute by the runtime's steps in registers of AVX2.

Both have the same bits then. Each was measured on a Zen 3 beside the C library's function of such
registers, and takes at most about as long, but for ``exp`` of float32 alone (1.16); the others are
the C library's there. Functions that it has for one element alone are taken from the runtime as
well, which is quicker for a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from frazil.link.c.hyperbolic import TANH
from frazil.link.c.static_function import StaticFunction
from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp


class Form(Enum):
    """The form that a function of a block has in the text of a kernel."""

    ELEMENTS = auto()
    """The steps of one element, which the compiler makes those of a register."""
    BLOCK = auto()
    """The steps of a block, in registers."""
    CALL = auto()
    """A call of the runtime's function of many elements."""


OF_ELEMENTS: Mapping[ScalarOp, Mapping[str, StaticFunction]] = {Elementary("tanh"): TANH}
"""The steps of one element, by the C type of that."""

_BOTH = ("float64", "float32")

_DTYPES: Mapping[Form, Mapping[str, tuple[str, ...]]] = {
    Form.ELEMENTS: {"tanh": _BOTH},
    Form.BLOCK: {"exp": _BOTH, "expm1": _BOTH},
    Form.CALL: {
        "arccos": ("float64",),
        "arccosh": ("float64",),
        "arcsinh": _BOTH,
        "arctanh": _BOTH,
        "gammaln": _BOTH,
        "psi": _BOTH,
    },
}
"""The functions of each form, and the dtypes for which they have it."""

_FORMS: Mapping[tuple[ScalarOp, str], Form] = {
    (Elementary(name), dtype): form
    for form, names in _DTYPES.items()
    for name, dtypes in names.items()
    for dtype in dtypes
}


def short_form(op: ScalarOp, dtype: str) -> Form | None:
    """The form of a function of elements of ``dtype``; None if it is the C library's.

    Examples
    --------
    >>> from frazil.link.c.short_registers import short_form
    >>> from frazil.scalar import exp, sin
    >>> short_form(exp, "float64"), short_form(sin, "float64")
    (<Form.BLOCK: 2>, None)
    """
    return _FORMS.get((op, dtype))
