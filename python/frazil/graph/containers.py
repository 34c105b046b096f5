"""New nodes go to the container of the variables that they are built from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from frazil._core import Constant, Container, Variable


@contextmanager
def in_container_of(variables: Iterable[Variable]) -> Iterator[None]:
    """Make the container of ``variables`` the current one.

    It is the container of the first variable that is no constant. A node over constants alone goes
    to the current container, and could not be used later beside variables of another one.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.graph.containers import in_container_of
    >>> with fz.Container() as container:
    ...     x = ft.vector("x")
    >>> with in_container_of([x]):
    ...     ft.vector("y").container is container
    True
    """
    first = next((x for x in variables if not isinstance(x, Constant)), None)
    if first is None or first.container is Container.current():
        yield
        return
    with first.container:
        yield
