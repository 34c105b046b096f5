"""The dtype in which operands meet, and which casts keep values: known before anything runs."""

from __future__ import annotations

import builtins
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from frazil._core import Variable
from frazil.tensor.docstrings import described

Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


@described
def can_cast(
    from_: Variable | npt.DTypeLike, to: npt.DTypeLike, casting: Casting = "safe"
) -> builtins.bool:
    """Tell whether a cast is allowed; by default, whether it keeps every value.

    from_ (Variable or dtype): The dtype to cast, or a variable of that dtype.
    to (dtype): The dtype of the result.
    casting ({"no", "equiv", "safe", "same_kind", "unsafe"}): The casts that are allowed, as in
        :func:`numpy.can_cast`.
    returns (bool): A bool of Python: it does not wait for values.
    raises TypeError: If ``from_`` is a number of Python, ``to`` is a variable, or no dtype is
        called so.

    >>> ft.can_cast(ft.ivector("i"), "float64"), ft.can_cast("float64", "float32")
    (True, False)
    """
    if isinstance(to, Variable):
        raise TypeError(f"can_cast: to must be a dtype; a variable was given. Write {to}.dtype")
    return np.can_cast(_dtype_or_given(from_), to, casting)


@described
def result_type(*arrays_and_dtypes: object) -> np.dtype[np.generic]:
    """Return the dtype in which variables, arrays, dtypes and numbers meet.

    arrays_and_dtypes (Variable, array, dtype or number): Numbers of Python take the dtype of the
        others where they are of its kind.
    returns (numpy.dtype): As :func:`numpy.result_type` gives.
    raises ValueError: If nothing is given.
    raises TypeError: If an argument has no dtype.

    >>> ft.result_type(ft.vector("x", dtype="float32"), 1.0)
    dtype('float32')
    >>> ft.result_type(ft.ivector("i"), "float32")
    dtype('float64')
    """
    return np.result_type(*map(_dtype_or_given, arrays_and_dtypes))


def _dtype_or_given(x: object) -> Any:
    return x.type.numpy_dtype if isinstance(x, Variable) else x
