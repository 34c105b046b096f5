"""``fz.jit``: Python functions, compiled for the arguments that they are called with."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

import frazil._core as _core
from frazil._core import FrozenFunctionGraph
from frazil.compile.function import Function
from frazil.compile.mode import ModeLike, as_mode
from frazil.graph.call_site import users_level
from frazil.jit.captures import Captures, Watch, as_policies
from frazil.jit.entry import Entry, Run, evaluated
from frazil.jit.errors import SharpEdgeError, TracedValueError
from frazil.jit.explanation import (
    CacheInfo,
    Form,
    JitExplanation,
    changed_arguments,
    changed_guard,
    shown_arguments,
)
from frazil.jit.lowered import lowered
from frazil.jit.progress import Calls, is_behind
from frazil.jit.record import Record, Uncacheable
from frazil.jit.specialization import (
    Specialization,
    holds_repeated,
    parameter_names,
    static_names,
)
from frazil.jit.trace import current_trace, is_array

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

_CHANGES = 5
_ALIKE = 4
"""The number of forms kept of one graph that are for other elements of captured arrays."""
_RUNS_AT_ONCE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class JitFunction(_core.CallCache, Generic[P, ResultT]):
    """A Python function that is compiled when it is called; :func:`jit` makes one."""

    def __init__(
        self,
        fn: Callable[P, ResultT],
        captures: Captures = "guard",
        mode: ModeLike = None,
        static_argnums: int | Iterable[int] | None = None,
        static_argnames: str | Iterable[str] | None = None,
        max_entries: int = 32,
        roots: Sequence[Callable[..., object]] | None = None,
        static_shapes: bool = False,
    ) -> None:
        self._fn = fn
        self._policies = as_policies(captures)
        self._mode = as_mode(mode)
        self._static = static_names(fn, static_argnums, static_argnames)
        self._names = parameter_names(fn)
        self._max_entries = max_entries
        self._static_shapes = static_shapes
        self._is_derived = roots is not None  # plain Python cannot run it
        self._roots = [fn] if roots is None else list(roots)
        self._entries: dict[Hashable, list[Entry]] = {}
        self._uncacheable: dict[Hashable, Uncacheable] = {}
        self._met: dict[CodeType, dict[str, Any]] = {}
        self._record = Record()
        functools.update_wrapper(self, fn, updated=())

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ResultT: ...

    def _call(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        refusal: tuple[_core.Guards, ValueError] | None = None,
    ) -> object:
        """A call that Rust knows no compiled form for, or whose form raised an error.

        ``refusal`` has the guards of that form, and the error.
        """
        if current_trace() is not None or (not self._is_derived and _runs_later(self._fn)):
            return self._fn(*args, **kwargs)
        if is_behind() and not self._is_derived:
            return self._plainly(args, kwargs)
        called = self._static.specialize(args, kwargs)
        failed: tuple[Entry, ValueError] | None = None
        earlier = 0
        for entry in self._entries.get(called.key, ()):
            lifted = entry.lifted(called.leaves)
            if lifted is not None and not _is_one_twice(entry, args, kwargs, lifted):
                calls = entry.calls(called.leaves, lifted)
                try:
                    if refusal is not None and entry.guards is refusal[0]:
                        raise refusal[1]
                    with calls.running():
                        result = entry(called.leaves, lifted)
                except np.linalg.LinAlgError:
                    raise
                except (ValueError, SharpEdgeError) as error:
                    if calls.is_unsure and not self._is_derived:
                        self._record.plain += 1
                        return self._plainly(args, kwargs, calls.made)
                    if calls.changed is not None:
                        self._give_up(called.key, f"{calls.changed} was changed by a callback")
                    if calls.error is not None or not isinstance(error, ValueError):
                        raise
                    if entry.has_effects and not self._is_derived:
                        return self._go_on(called.key, entry, calls.made, args, kwargs)
                    failed = entry, error  # lengths that were equal may not be any more
                    earlier = calls.made
                    break
                self._record.hits += 1
                return result
        known = self._uncacheable.get(called.key)
        if known is not None and not known.is_over() and not self._is_derived:
            self._record.plain += 1
            return evaluated(self._fn(*args, **kwargs))
        return self._trace(called, args, kwargs, failed, earlier)

    def _go_on(
        self,
        key: Hashable,
        entry: Entry,
        earlier: int,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """Run as plain Python a call that a compiled form did not serve to its end.

        It made the callbacks that came ``earlier``. Where plain Python serves, the form is wrong.
        """
        result = self._plainly(args, kwargs, earlier)
        self._record.plain += 1
        self._entries[key].remove(entry)
        return result

    def _give_up(self, key: Hashable, reason: str) -> None:
        """Run calls of a kind as plain Python from now on."""
        self._entries.pop(key, None)
        self._uncacheable[key] = Uncacheable([reason], is_final=True)

    def _trace(
        self,
        called: Specialization,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        failed: tuple[Entry, ValueError] | None = None,
        earlier: int = 0,
    ) -> object:
        self._record.misses += 1
        names = called.paths(self._names, args, kwargs)
        shown = shown_arguments(called, names)
        self._note_change(called, shown)
        watch = Watch(self._captured_roots(called, names), self._met, self._policies)
        given = (*args, *kwargs.values())
        seen = watch.snapshot.seen
        if watch.blind:
            return self._run_blind(called.key, watch.blind, args, kwargs)
        if watch.reasons and not self._is_derived:
            return self._run_blind(called.key, watch.reasons, args, kwargs)
        if watch.snapshot.tells_identity and holds_repeated(given, seen) and not self._is_derived:
            reasons = ["one object is given twice, and code asks by 'is' which are one"]
            return self._run_blind(called.key, reasons, args, kwargs)
        arrays = [called.leaves[at] for at in called.arrays]
        guards = self._policies.default == "guard" and not self._is_derived
        if guards and watch.is_overlapped(arrays):
            self._note("an argument shares memory with a captured array: it ran as plain Python")
            return evaluated(self._fn(*args, **kwargs))
        calls = Calls(earlier)
        try:
            with calls.running():
                run = Run(self._fn, called, names, list(kwargs), given, watch, self._static_shapes)
        except Exception as error:
            if not watch.blind:
                raise
            if watch.touched:
                raise TracedValueError(watch.blind[0]) from error
            return self._run_blind(called.key, watch.blind, args, kwargs, calls.made)
        self._met.update(watch.unknown)
        if watch.blind:
            if watch.touched or run.changed_arguments:
                raise TracedValueError(watch.blind[0])  # what it did cannot be done again
            return self._run_blind(called.key, watch.blind, args, kwargs, calls.made)
        unwritten = run.why_not_written(given)
        if unwritten is not None:
            if watch.wrote is not None or self._is_derived:
                raise TracedValueError(unwritten)
            return self._run_blind(called.key, [unwritten], args, kwargs, calls.made)
        if run.reasons:
            if not watch.disturbed:
                known = self._uncacheable.setdefault(called.key, Uncacheable([]))
                known.reasons = run.reasons
            return run.plain_result()
        if failed is not None and run.computes_as(failed[0]):
            raise failed[1]
        self._uncacheable.pop(called.key, None)
        entry = run.entry(self._mode)
        entry.arguments = shown
        self._keep(called.key, entry)
        with Calls(calls.made).running():
            return entry(called.leaves, run.lifted_inputs())

    def _captured_roots(
        self, called: Specialization, names: Sequence[str]
    ) -> list[tuple[object, str]]:
        """The objects from which captures are looked for, with their names."""
        roots = [(root, getattr(root, "__name__", "fn")) for root in self._roots]
        roots += [
            (leaf, f"argument {name!r}")
            for at, (leaf, name) in enumerate(zip(called.leaves, names, strict=True))
            if at not in called.arrays and not is_array(leaf)
        ]
        return [*roots, *((kind, kind.__qualname__) for kind in called.classes())]

    def _run_blind(
        self,
        key: Hashable,
        reasons: list[str],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        earlier: int = 0,
    ) -> object:
        """Run as plain Python a function that would do otherwise with traced arrays.

        So many callbacks were made before.
        """
        if self._policies.default != "guard":
            raise SharpEdgeError(
                f'{reasons[0]}. captures="guard" allows it, and runs the function as plain Python'
            )
        if self._is_derived:
            raise TracedValueError(reasons[0])
        self._uncacheable.setdefault(key, Uncacheable([])).reasons = reasons
        return self._plainly(args, kwargs, earlier)

    def _plainly(self, args: tuple[Any, ...], kwargs: dict[str, Any], earlier: int = 0) -> object:
        """The result of plain Python; so many callbacks were made before."""
        if not earlier:
            return evaluated(self._fn(*args, **kwargs))
        with Calls(earlier).running():
            return evaluated(self._fn(*args, **kwargs))

    def _note_change(self, called: Specialization, shown: tuple[str, ...]) -> None:
        """Record why no compiled form served."""
        changes = [
            changed_guard(entry.guards, entry.told, entry.expected)
            for entry in self._entries.get(called.key, ())[:1]
        ]
        others = [entry for entries in self._entries.values() for entry in entries]
        if changes:
            self._note(changes[0] or "lengths of arguments")
        elif others:
            self._note(changed_arguments(others[-1].arguments, shown))

    def _note(self, change: str) -> None:
        self._record.changes.append(change)
        del self._record.changes[:-_CHANGES]

    def _keep(self, key: Hashable, entry: Entry) -> None:
        """Keep a compiled form, the newest first; the oldest goes if there are too many.

        Of those that differ in elements of captured arrays alone, few are kept.
        """
        known = self._entries.get(key, [])
        alike = [own for own in known if own.differs_in_arrays(entry)]
        dropped = alike[_ALIKE - 1 :]
        self._entries[key] = [entry, *(own for own in known if own not in dropped)]
        if sum(map(len, self._entries.values())) <= self._max_entries:
            self._tell_forms()
            return
        oldest = next(iter(self._entries))
        self._entries[oldest].pop()
        if not self._entries[oldest]:
            del self._entries[oldest]
        self._tell_forms()
        warnings.warn(
            f"{self._name} was compiled for more than {self._max_entries} kinds of calls. What "
            f"changed last: {'; '.join(self._record.changes)}. Pass what changes as an array, or "
            "raise max_entries",
            stacklevel=users_level(),
        )

    def _tell_forms(self) -> None:
        """Hand the compiled forms to Rust, the newest first."""
        entries = [entry for own in reversed(self._entries.values()) for entry in own]
        self._set_forms([entry.form for entry in entries if entry.form is not None])

    @property
    def _name(self) -> str:
        return str(getattr(self, "__name__", self._fn))

    def graph(self, *args: object, **kwargs: object) -> FrozenFunctionGraph:
        """Return the graph that a call with these arguments computes, traced if it was not yet.

        Parameters
        ----------
        *args, **kwargs
            The arguments of a call.

        Returns
        -------
        FrozenFunctionGraph
            Its inputs are the arrays of the arguments, then captured arrays.

        Raises
        ------
        ValueError
            If calls with these arguments run as plain Python, or compute nothing from arrays.

        Examples
        --------
        >>> import numpy as np
        >>> import frazil as fz
        >>> square = fz.jit(lambda x: x * x)
        >>> print(fz.pp(square.graph(np.ones(2))))
        *0 * *0
        """
        return self._compiled_for(args, kwargs).fgraph

    def lower(self, *args: object, **kwargs: object) -> str:
        """Return what a call with these arguments runs: its instructions, and its kernels.

        Kernels are written as the mode writes them: in C, for Numba, or for the code generator of
        the mode ``"cranelift"``; the mode ``"py"`` has none.

        Parameters
        ----------
        *args, **kwargs
            The arguments of a call.

        Raises
        ------
        ValueError
            As for :meth:`graph`.

        Examples
        --------
        >>> import numpy as np
        >>> import frazil as fz
        >>> square = fz.jit(lambda x: x * x)
        >>> "v0 * v0" in square.lower(np.ones(2))
        True
        """
        return lowered(self._compiled_for(args, kwargs))

    def _compiled_for(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Function:
        called = self._static.specialize(args, kwargs)

        def found() -> list[Entry]:
            entries = self._entries.get(called.key, ())
            return [entry for entry in entries if entry.lifted(called.leaves) is not None]

        if not found():
            self._trace(called, args, kwargs)
        compiled = [entry.compiled for entry in found()]
        if not compiled or compiled[0] is None:
            known = self._uncacheable.get(called.key)
            why = "; ".join(known.reasons) if known else "it computes nothing from arrays"
            raise ValueError(f"{self._name} has no graph for these arguments: {why}")
        return compiled[0]

    def explain(self) -> JitExplanation:
        """The guards, why calls run as plain Python, and the reasons for the last traces.

        Returns
        -------
        JitExplanation
            ``str`` shows it.

        Examples
        --------
        >>> import numpy as np
        >>> import frazil as fz
        >>> power = 2
        >>> square = fz.jit(lambda x: x**power)
        >>> square(np.arange(3.0))
        array([0., 1., 4.])
        >>> print(square.explain())
        <lambda>: 1 compiled forms
        form 0: x: float64[?]
            guards global 'power'
            guards <lambda>.__code__
            guards <lambda>.__defaults__
            guards <lambda>.__kwdefaults__
            guards the attributes of <lambda>
        """
        forms = tuple(
            Form(
                entry.arguments,
                tuple(dict.fromkeys(entry.told)),
                tuple(f"{entry.arguments[at]}, axis {axis}: {n}" for at, axis, n in entry.pins),
            )
            for entries in self._entries.values()
            for entry in entries
        )
        reasons = [own for known in self._uncacheable.values() for own in known.reasons]
        changes = tuple(self._record.changes)
        return JitExplanation(self._name, forms, tuple(dict.fromkeys(reasons)), changes)

    def cache_info(self) -> CacheInfo:
        """The counts of hits, misses and plain calls, and of the compiled forms that are kept."""
        record = self._record
        hits = record.hits + self._hits - record.hits_before
        entries = sum(map(len, self._entries.values()))
        return CacheInfo(hits, record.misses, record.plain, entries)

    def cache_clear(self) -> None:
        """Forget the compiled forms, and what was found out about calls."""
        self._entries.clear()
        self._uncacheable.clear()
        self._met.clear()
        self._record = Record(hits_before=self._hits)
        self._tell_forms()

    def __reduce__(self) -> str | tuple[object, ...]:
        """A pickle is the name in a module, as of functions; else the function and its options."""
        name = name_in_module(self)
        if name is not None:
            return name
        if self._is_derived:
            raise TypeError(
                f"{self!r} is made by a transformation, and no pickle can hold that. Pickle the "
                "function that was transformed, and transform it again"
            )
        options = {
            "captures": dict(self._policies.of_names) or self._policies.default,
            "mode": self._mode,
            "static_argnums": sorted(self._static.positions),
            "static_argnames": sorted(self._static.names),
            "max_entries": self._max_entries,
            "static_shapes": self._static_shapes,
        }
        return _unpickled, (self._fn, options)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<frazil.jit of {self._fn!r}>"


def _is_one_twice(
    entry: Entry, args: tuple[object, ...], kwargs: dict[str, object], lifted: Sequence[object]
) -> bool:
    """Whether a function that asks by ``is`` could tell a call from that which was traced."""
    if entry.distinct is None:
        return False
    known = {*entry.distinct, *map(id, lifted)}
    return holds_repeated((*args, *kwargs.values()), known)


def _runs_later(fn: Callable[..., object]) -> bool:
    """Whether a call only makes a generator or a coroutine, which runs after the trace."""
    code = getattr(fn, "__code__", None)
    return code is not None and bool(code.co_flags & _RUNS_AT_ONCE)


def name_in_module(function: object) -> str | None:
    """Return the name by which its module has a function, where a pickle can hold that alone."""
    qualified = str(getattr(function, "__qualname__", ""))
    found: object = sys.modules.get(getattr(function, "__module__", ""))
    for name in qualified.split("."):
        found = getattr(found, name, None)
    return qualified if found is function else None


def _unpickled(fn: Callable[..., object], options: dict[str, Any]) -> JitFunction[..., object]:
    return JitFunction(fn, **options)


@overload
def jit(
    fn: Callable[P, ResultT],
    captures: Captures = "guard",
    mode: ModeLike = None,
    *,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    static_shapes: bool = False,
    max_entries: int = 32,
) -> JitFunction[P, ResultT]: ...


@overload
def jit(
    fn: None = None,
    captures: Captures = "guard",
    mode: ModeLike = None,
    *,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    static_shapes: bool = False,
    max_entries: int = 32,
) -> Callable[[Callable[P, ResultT]], JitFunction[P, ResultT]]: ...


def jit(
    fn: Callable[..., object] | None = None,
    captures: Captures = "guard",
    mode: ModeLike = None,
    *,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    static_shapes: bool = False,
    max_entries: int = 32,
) -> object:
    """Compile a Python function of arrays, for each kind of arguments when it is first called.

    Parameters
    ----------
    fn : callable
        A function that computes with NumPy's functions, operators and methods. Arguments and
        results may be dicts, lists, tuples, dataclasses and registered classes of arrays.
    captures : {"guard", "bind", "error"} or dict of str to these
        The treatment of values that the function reads and writes outside of it: globals, variables
        of outer functions, defaults, attributes. ``guard``: calls return what Python would; a
        change is noticed, and a function that writes, or reads what cannot be compared, runs as
        plain Python. ``bind``: values stay as at the first call of the kind, and a write raises.
        ``error``: reading data raises, as do writes. A dict says so for some names; others are
        guarded.
    mode : {"c", "numba", "py", "debug"} or Mode, optional
        As for :func:`frazil.function`.
    static_argnums : int or sequence of int, optional
        Positions of arguments that are Python values and not traced, arrays too.
    static_argnames : str or sequence of str, optional
        Their names.
    static_shapes : bool
        Compile for the lengths of arguments, each shape by itself: code is made for these alone,
        and what asks for a length gets an ``int``. By default one form serves other lengths too.
    max_entries : int
        The number of compiled forms that are kept.

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
    SharpEdgeError
        If the function does what its policy of captures does not allow.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> scale = 2.0
    >>> @fz.jit
    ... def distance(a, b):
    ...     return scale * np.sqrt(((a - b) ** 2).sum())
    >>> a, b = np.array([1.0, 2.0]), np.array([4.0, 6.0])
    >>> float(distance(a, b))
    10.0
    >>> scale = 3.0
    >>> float(distance(a, b))
    15.0
    """
    if fn is None:
        return functools.partial(
            jit,
            captures=captures,
            mode=mode,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            static_shapes=static_shapes,
            max_entries=max_entries,
        )
    if not callable(fn):
        raise TypeError(f"fz.jit takes a function, given {fn!r}")
    return JitFunction(
        fn,
        captures,
        mode,
        static_argnums,
        static_argnames,
        max_entries,
        static_shapes=static_shapes,
    )
