"""``Variable.eval``: a function compiled for one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from frazil._core import Variable
from frazil.compile.function import function


def evaluate(
    self: Variable, inputs_to_values: Mapping[Variable, npt.ArrayLike] | None = None
) -> Any:
    """Return the value of the variable, given the values of the inputs that it depends on.

    Compiles a function for the one call; to call more often use :func:`frazil.function`.

    Parameters
    ----------
    inputs_to_values : mapping of Variable to array_like, optional
        The value of each input.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> (x * 2).eval({x: [1.0, 2.0]})
    array([2., 4.])
    """
    given = dict(inputs_to_values or {})
    return function(list(given), self)(*given.values())


evaluate.__name__, evaluate.__qualname__ = "eval", "Variable.eval"  # as messages of Python name it
Variable.eval = evaluate  # type: ignore[method-assign]
