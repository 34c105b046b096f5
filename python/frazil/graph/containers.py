"""Where what is built over variables belongs: in their container, whichever is current."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from frazil._core import Constant, Container, Variable


@contextmanager
def in_company_of(variables: Iterable[Variable]) -> Iterator[None]:
    """Make the container of the first of ``variables`` that is no constant the current one.

    A node over constants alone goes to the current container, and could not meet the variables of
    another one afterwards.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.graph.containers import in_company_of
    >>> with fz.Container() as container:
    ...     x = ft.vector("x")
    >>> with in_company_of([x]):
    ...     ft.vector("y").container is container
    True
    """
    first = next((x for x in variables if not isinstance(x, Constant)), None)
    if first is None or first.container is Container.current():
        yield
        return
    with first.container:
        yield
