"""Dtypes in which numbers are stored but not computed: float16, which is computed in float32."""

from __future__ import annotations

from typing import Any, Final, Protocol

STORED: Final = "float16"
"""Ops take operands of this dtype as float32, and round a result of it, once."""

_OF_DTYPE = frozenset({"nextafter"})
"""The ops whose results depend on which numbers a dtype has."""


class Named(Protocol):
    """The part of a scalar op that is read here."""

    @property
    def table_name(self) -> str | None: ...
    @property
    def on_arrays(self) -> Any: ...


def computed_in(dtype: str) -> str:
    """The dtype in which ops compute with numbers of ``dtype``.

    Examples
    --------
    >>> from frazil.scalar.float16 import computed_in
    >>> computed_in("float16"), computed_in("float64")
    ('float32', 'float64')
    """
    return "float32" if dtype == STORED else dtype


def computes_wide(op: Named) -> bool:
    """Whether an op may compute in float32 what is float16; not if it holds a graph with dtypes.

    Examples
    --------
    >>> from frazil.scalar import add, nextafter
    >>> from frazil.scalar.float16 import computes_wide
    >>> computes_wide(add), computes_wide(nextafter)
    (True, False)
    """
    return op.table_name not in _OF_DTYPE and op.on_arrays is None
