"""Shared variables: values that are kept between calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil._core import SharedVariable


def shared(
    value: object,
    name: str | None = None,
    borrow: bool = False,
    shape: Sequence[int | None] | None = None,
) -> SharedVariable:
    """Return a variable whose value is kept between calls and changed by updates.

    Parameters
    ----------
    value : array_like
        The first value. Its dtype and number of dimensions are the variable's for ever.
    name : str, optional
        The name shown to people.
    borrow : bool
        Keep the array itself, not a copy: changes of it change the variable's value.
    shape : sequence of int or None, optional
        The static shape. Default: no length is known, so an update may change it.

    Returns
    -------
    SharedVariable
        ``get_value()`` and ``set_value(value)`` read and write it.

    Examples
    --------
    >>> import frazil as fz
    >>> step = fz.shared(1, name="step")
    >>> count = fz.function([], step, updates={step: step + 1})
    >>> [int(count()), int(count()), int(step.get_value())]
    [1, 2, 3]
    """
    array = np.asarray(value)
    return _core.shared(array if borrow else np.array(array), name, shape)
