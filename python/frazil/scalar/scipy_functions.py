"""Rows whose native form is a function of ``scipy.special.cython_special``.

These functions take and give float64; float32 is computed in it, too, in every linker. Kernels call
them one element at a time through a pointer, which is looked up anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frazil.graph.op import Array
from frazil.scalar.elementary import Elementary, function
from frazil.scalar.op import GradientFunction

ARITIES: dict[str, int] = {}
"""By name, how many operands each function of SciPy takes that a row calls."""


def scipy_function(
    name: str,
    gradient: GradientFunction,
    *,
    nin: int = 1,
    commutative: bool = False,
    reference: Callable[..., object] | None = None,
) -> Elementary:
    """The op of a row that calls the function of SciPy that has its name.

    With a ``reference`` it is computed otherwise where SciPy's digits are few. Compilers that have
    no form of their own for that call SciPy's function.
    """
    ARITIES[name] = nin
    return function(name, reference or of_scipy(name), gradient, nin=nin, commutative=commutative)


def of_scipy(name: str) -> Callable[..., Any]:
    """SciPy's function of that name, computed in float64.

    It is imported when it is called first: to import it takes longer than all of frazil.
    """

    def function(*operands: Array) -> Array:
        from scipy import special

        wide = [np.asarray(operand, "float64") for operand in operands]
        values: Array = getattr(special, name)(*wide)
        dtype = np.result_type(*(np.asarray(operand).dtype for operand in operands))
        return values.astype(dtype) if dtype == "float32" else values

    return function
