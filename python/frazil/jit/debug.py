"""Looking into compiled functions: ``fz.debug.print`` and ``fz.debug.callback``.

Calls happen in the order of the code, once for each time that the code comes there, and their
output is flushed. A trace makes them at once, with the values of its call.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

import numpy as np

from frazil.graph.op import Array
from frazil.jit.effects import add_effect
from frazil.jit.errors import SharpEdgeError
from frazil.jit.kinds import SCALARS
from frazil.jit.progress import make
from frazil.jit.pytree import flatten, unflatten
from frazil.jit.trace import Trace, current_trace, users_line
from frazil.jit.traced import TracedLength, is_traced

__all__ = ["callback", "print"]


def callback(function: Callable[..., object], *args: object, **kwargs: object) -> None:
    """Call a Python function whenever a compiled function comes here.

    Parameters
    ----------
    function : callable
        It takes the arguments, with arrays in place of traced ones, and other containers in place
        of those that the call has made; its result is dropped.
    *args, **kwargs
        Trees of arrays and other values.

    Raises
    ------
    TypeError
        If it is called within a loop or a branch of a compiled function.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> seen = []
    >>> f = fz.jit(lambda x: [fz.debug.callback(seen.append, x.sum()), x * 2][1])
    >>> f(np.ones(2)), f(np.ones(3)), [float(x) for x in seen]
    (array([2., 2.]), array([2., 2., 2.]), [2.0, 3.0])
    """
    trace = current_trace()
    if trace is None:
        make(lambda: function(*args, **kwargs))
        return
    if trace.depth:
        raise TypeError(
            f"{users_line()}: fz.debug works outside of loops and branches; return the value from "
            "the loop or the branch, and look at it there"
        )
    leaves, structure = flatten((args, kwargs), trace.is_captured)
    places = [at for at, leaf in enumerate(leaves) if is_traced(leaf)]
    numbers = frozenset(at for at in places if type(leaves[at]) is TracedLength)

    def call(arrays: Sequence[Array]) -> None:
        given = list(leaves)
        copies = []
        for at, array in zip(places, arrays, strict=True):
            copy = np.array(array)
            copies.append((copy, copy.tobytes()))
            given[at] = copy.item() if at in numbers else copy[()]
        handed = unflatten(structure, given)
        contents = _Contents(handed, trace)
        own_args, own_kwargs = handed
        function(*own_args, **own_kwargs)
        if any(copy.tobytes() != before for copy, before in copies):
            raise SharpEdgeError(
                "a callback changed an array in place that a compiled function gave it: a copy. "
                "Return what is new from the function instead"
            )
        if contents.differ():
            raise SharpEdgeError(
                "a callback changed a container or object that a compiled function gave it: a "
                "copy. Return what is new from the function instead"
            )

    rest = [leaf for at, leaf in enumerate(leaves) if at not in places]
    if function is not _print or any(type(leaf) not in SCALARS for leaf in rest):
        trace.note_callback(function, rest)
    add_effect(trace, call, [leaves[at]._variable for at in places])


class _Contents:
    """The contents of containers that are handed to a callback."""

    def __init__(self, handed: object, trace: Trace) -> None:
        self._handed, self._is_leaf = handed, trace.is_captured
        self._leaves, self._structure = self._now()
        # Classes of users may make leaves at each look: those are not told from new ones.
        again, _ = self._now()
        self._stay = [one is other for one, other in zip(self._leaves, again, strict=True)]

    def differ(self) -> bool:
        """Whether they hold something else by now."""
        leaves, structure = self._now()
        if structure != self._structure:
            return True
        pairs = zip(self._stay, self._leaves, leaves, strict=True)
        return any(stays and one is not other for stays, one, other in pairs)

    def _now(self) -> tuple[list[object], object]:
        return flatten(self._handed, self._is_leaf)


def print(form: str, *args: object, **kwargs: object) -> None:
    """Print a text whenever a compiled function comes here.

    Parameters
    ----------
    form : str
        As for :meth:`str.format`.
    *args, **kwargs
        The values to format.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> @fz.jit
    ... def f(x):
    ...     fz.debug.print("the sum is {}", x.sum())
    ...     return x * 2
    >>> f(np.ones(2))
    the sum is 2.0
    array([2., 2.])
    """
    callback(_print, form, *args, **kwargs)


def _print(form: str, *args: object, **kwargs: object) -> None:
    builtins.print(form.format(*args, **kwargs), flush=True)
