"""The node of a matched variable."""

from __future__ import annotations

from frazil._core import FrozenApply, Variable


def application(x: Variable) -> FrozenApply:
    """Return the node of ``x``, which a pattern with an op has matched.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.matched import application
    >>> str(application(ft.exp(ft.vector("x"))).op)
    'exp'
    """
    node = x.owner
    if node is None:
        raise TypeError(f"{x} is the result of no op")
    return node
