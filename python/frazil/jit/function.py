"""``fz.jit``: Python functions, compiled for the arrays that they are called with."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from frazil.compile.mode import ModeLike, as_mode
from frazil.jit.entry import Entry, run_traced
from frazil.jit.specialization import parameter_names, static_names
from frazil.jit.trace import Trace, current_trace


class JitFunction:
    """A Python function that is compiled when it is called; :func:`jit` makes one."""

    def __init__(
        self,
        fn: Callable[..., Any],
        mode: ModeLike = None,
        static_argnums: int | Iterable[int] | None = None,
        static_argnames: str | Iterable[str] | None = None,
    ) -> None:
        self._fn = fn
        self._mode = as_mode(mode)
        self._static = static_names(fn, static_argnums, static_argnames)
        self._names = parameter_names(fn)
        self._entries: dict[Any, list[Entry]] = {}
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            return self._fn(*args, **kwargs)
        called = self._static.specialize(args, kwargs)
        for entry in self._entries.get(called.key, ()):
            if entry.holds(called.leaves):
                try:
                    return entry(called.leaves)
                except ValueError:
                    break  # lengths that were equal are not any more: trace again, or say so
        entry, result = run_traced(
            Trace(),
            self._fn,
            called,
            called.paths(self._names, args, kwargs),
            list(kwargs),
            self._mode,
        )
        self._entries.setdefault(called.key, []).insert(0, entry)
        return result

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<frazil.jit of {self._fn!r}>"


def jit(
    fn: Callable[..., Any] | None = None,
    *,
    mode: ModeLike = None,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
) -> Any:
    """Compile a Python function of arrays, for each kind of arguments when it is first called.

    Parameters
    ----------
    fn : callable
        A function that computes with NumPy's functions, operators and methods. Arguments and
        results may be dicts, lists, tuples, dataclasses and registered classes of arrays.
    mode : {"c", "numba", "py", "debug"} or Mode, optional
        As for :func:`frazil.function`.
    static_argnums : int or sequence of int, optional
        Positions of arguments that are Python values and not traced, arrays too.
    static_argnames : str or sequence of str, optional
        Their names.

    Returns
    -------
    JitFunction
        It takes the arguments of ``fn`` and returns what ``fn`` would. NumPy's arrays and numbers
        are inputs of a graph; for other values, for another dtype or number of dimensions, and
        where a length becomes 1 or is no longer 1, the function is traced again. Without ``fn`` a
        decorator.

    Raises
    ------
    TracedValueError
        If Python code asks for the value of a traced array, as ``if x > 0`` does.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> @fz.jit
    ... def distance(a, b):
    ...     return np.sqrt(((a - b) ** 2).sum())
    >>> float(distance(np.array([1.0, 2.0]), np.array([4.0, 6.0])))
    5.0
    """
    if fn is None:
        return functools.partial(
            jit, mode=mode, static_argnums=static_argnums, static_argnames=static_argnames
        )
    if not callable(fn):
        raise TypeError(f"fz.jit takes a function, given {fn!r}")
    return JitFunction(fn, mode, static_argnums, static_argnames)
