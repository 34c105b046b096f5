"""``fz.In`` and ``fz.Out``: parameters and results, and the use of their memory."""

from __future__ import annotations

from typing import Any

from frazil._core import Variable
from frazil.graph.dataclass import dataclass
from frazil.scalar.constants import TensorLike


@dataclass(frozen=True, eq=False)
class In:
    """A parameter of a function, with a default and permissions to use its memory.

    Parameters
    ----------
    variable : Variable
        The variable that takes the argument.
    name : str, optional
        The name of the parameter. Default: the variable's name.
    value : array_like, optional
        The default, for a call without the argument.
    mutable : bool
        Let calls write to the argument: after a call its elements are undefined, unless a result
        shares its memory. A call first copies an argument that is read-only, that shares memory
        with another, or that is no array of the right type.
    borrow : bool, optional
        Let results that are given as ``Out(..., borrow=True)`` share the argument's memory.
        Default: ``mutable``.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> x = ft.dvector("x")
    >>> updated = fz.Out(ft.inc_subtensor(x[1:], 10.0), borrow=True)
    >>> f = fz.function([fz.In(x, mutable=True)], updated, mode="c")
    >>> value = np.array([1.0, 2.0, 3.0])
    >>> result = f(value)
    >>> value
    array([ 1., 12., 13.])
    >>> result.base is value
    True
    """

    variable: Variable
    name: str | None = None
    value: Any = None
    mutable: bool = False
    borrow: bool | None = None

    @property
    def lends(self) -> bool:
        """Whether results may share the argument's memory."""
        return self.mutable if self.borrow is None else self.borrow


@dataclass(frozen=True, eq=False)
class Out:
    """A result of a function, with permission to share memory.

    Parameters
    ----------
    variable : tensor_like
        The result.
    borrow : bool
        Let the result be a view of an argument that its :class:`In` lends; two borrowed results may
        then share memory. Otherwise a result shares memory with no argument and no other result.
        No result ever shares memory with a constant, with the value of a shared variable, or with
        another call.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> x = ft.dvector("x")
    >>> f = fz.function([fz.In(x, borrow=True)], [fz.Out(x[1:], borrow=True), x[1:]])
    >>> value = np.array([1.0, 2.0, 3.0])
    >>> view, copy = f(value)
    >>> np.shares_memory(view, value), np.shares_memory(copy, value)
    (True, False)
    """

    variable: TensorLike
    borrow: bool = False
