"""Where what is built over variables belongs: in their container, whichever is current."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Concatenate, ParamSpec, TypeVar

from frazil._core import Constant, Container, FrozenFunctionGraph, Variable

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def in_company_of(variables: Iterable[Variable]) -> Iterator[None]:
    """Make the container of the first of ``variables`` that is no constant the current one.

    A node over constants alone goes to the current container, and could not meet the variables of
    another one afterwards.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.company import in_company_of
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


def beside_the_graph(
    build: Callable[Concatenate[FrozenFunctionGraph, P], T],
) -> Callable[Concatenate[FrozenFunctionGraph, P], T]:
    """Return ``build`` run with the container of its graph as the current one."""

    @functools.wraps(build)
    def run(graph: FrozenFunctionGraph, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with in_company_of(graph.inputs):
            return build(graph, *args, **kwargs)

    return run
