"""Looking into compiled functions: ``fz.debug.print`` and ``fz.debug.callback``.

Calls happen when the compiled function runs, in the order of the code, and their output is flushed.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Op
from frazil.jit.pytree import flatten, unflatten
from frazil.jit.trace import Trace, current_trace, users_line
from frazil.jit.traced import is_traced
from frazil.scalar.constants import as_tensor

__all__ = ["callback", "print"]

_DONE = TensorType("bool", ())


def callback(function: Callable[..., object], *args: object, **kwargs: object) -> None:
    """Call a Python function whenever a compiled function comes here.

    Parameters
    ----------
    function : callable
        It takes the arguments, with arrays in place of traced ones; its result is dropped.
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
        function(*args, **kwargs)
        return
    leaves, structure = flatten((args, kwargs))
    places = [at for at, leaf in enumerate(leaves) if is_traced(leaf)]

    def call(arrays: Sequence[Array]) -> None:
        given = list(leaves)
        for at, array in zip(places, arrays, strict=True):
            given[at] = np.array(array)[()]
        own_args, own_kwargs = unflatten(structure, given)
        function(*own_args, **own_kwargs)

    _add_effect(trace, call, [leaves[at]._variable for at in places])


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


def _add_effect(
    trace: Trace, call: Callable[[Sequence[Array]], None], variables: list[Variable]
) -> None:
    if trace.depth:
        raise TypeError(
            f"{users_line()}: fz.debug works outside of loops and branches; return the value from "
            "the loop or the branch, and look at it there"
        )

    @dataclass(frozen=True, eq=False)
    class Callback(Op):  # a class of its own, as ops are known by their class
        pure: ClassVar[bool] = False

        def make_node(self, *inputs: Variable) -> FrozenApply:
            return FrozenApply(self, inputs, [_DONE])

        def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
            call(inputs[1:])
            return (np.array(True),)

    before = trace.effects[-1] if trace.effects else as_tensor(_core.constant(np.array(True)))
    trace.effects.append(Callback()(before, *variables))
