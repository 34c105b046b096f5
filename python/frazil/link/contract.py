"""What a linker does with ops that hold graphs: which programs it needs, working in which memory.

What the graph of such an op may do in place is the linker's to say. Each op has a function of a
linker, made by :func:`in_place_contract`, whose base raises; every linker registers its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from frazil._core import FrozenFunctionGraph

if TYPE_CHECKING:
    from functools import _SingleDispatchCallable

Inner: TypeAlias = tuple[FrozenFunctionGraph, tuple[int, ...]]
"""A graph to make a program of, and the positions of the inputs whose memory it may use up."""

Answer = TypeVar("Answer")


def in_place_contract(
    contract: Callable[..., Answer],
) -> _SingleDispatchCallable[Answer]:
    """Make a function of a linker and an op, which each linker registers its answer for.

    Parameters
    ----------
    contract : callable
        A function of a linker and an op whose docstring says what is asked; it is never called.

    Examples
    --------
    >>> from frazil.link.contract import in_place_contract
    >>> from frazil.link.perform import PyLinker
    >>> @in_place_contract
    ... def loop_inputs(linker, op):
    ...     '''The inputs of a loop's body that it may use up.'''
    >>> loop_inputs(PyLinker(), "Loop")
    Traceback (most recent call last):
    ...
    NotImplementedError: PyLinker does not say what the graph of Loop may do in place; register it \
by @loop_inputs.register
    >>> @loop_inputs.register
    ... def _(linker: PyLinker, op):
    ...     return ()
    >>> loop_inputs(PyLinker(), "Loop")
    ()
    """

    def unsaid(linker: Any, op: Any) -> Answer:
        raise NotImplementedError(
            f"{type(linker).__name__} does not say what the graph of {op} may do in place; "
            f"register it by @{contract.__name__}.register"
        )

    unsaid.__name__ = contract.__name__
    unsaid.__doc__ = contract.__doc__
    unsaid.__module__ = contract.__module__
    return singledispatch(unsaid)


@singledispatch
def inner_graphs(op: Any, linker: Any) -> Sequence[Inner]:
    """The graphs of which lowering ``op`` needs programs: none, for ops without a rule."""
    return ()
