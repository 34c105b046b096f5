"""Generators in shared variables, and streams that never give a number twice."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeVar

import numpy as np

import frazil._core as _core
from frazil._core import SharedVariable, Variable
from frazil.random.states import Seed, generator_of, state_of
from frazil.tensor.docstrings import described, described_like

T = TypeVar("T")

_is_built_once: ContextVar[bool] = ContextVar("is_built_once", default=False)


@contextmanager
def built_once() -> Iterator[None]:
    """Refuse draws of streams: what is built here runs many times, and would draw the same."""
    token = _is_built_once.set(True)
    try:
        yield
    finally:
        _is_built_once.reset(token)


@described
def shared_rng(seed: Seed = None, name: str | None = None) -> SharedVariable:
    """Return a shared variable whose value is the state of a generator.

    seed (None, int, sequence of int, SeedSequence, BitGenerator or Generator): As for
        :func:`numpy.random.default_rng`. The state of a generator is copied.
    name (str): The name shown to people.
    returns (SharedVariable): A vector of uint64. A function that draws from it leaves in it the
        state after its last draw, unless its ``updates`` say otherwise.

    >>> import frazil as fz
    >>> from frazil import random
    >>> rng = random.shared_rng(42)
    >>> next_rng, x = random.normal(rng, size=2)
    >>> f = fz.function([], x)
    >>> f(), f()
    (array([ 0.30471708, -1.03998411]), array([0.7504512 , 0.94056472]))
    >>> rng.set_value(random.state_of(42))
    >>> f()
    array([ 0.30471708, -1.03998411])
    """
    return _core.shared(state_of(seed), name, None)


class Drawer(ABC):
    """An object with a method for each function of :mod:`frazil.random` that draws."""

    _lock: Lock

    def draw(
        self, function: Callable[..., tuple[Variable, T]], *args: object, **kwargs: object
    ) -> T:
        """Return what a function draws, from a state that no other draw starts from.

        Parameters
        ----------
        function : callable
            Takes a state, and returns the state after its draws, and a result.
        *args, **kwargs
            Further arguments.

        Returns
        -------
        object
            The result.

        Examples
        --------
        >>> from frazil import random
        >>> def dice(rng, size):
        ...     rng, first = random.integers(rng, 1, 7, size)
        ...     rng, second = random.integers(rng, 1, 7, size)
        ...     return rng, first + second
        >>> random.default_rng(42).draw(dice, size=3).eval()
        array([ 4,  8, 10])
        """
        if _is_built_once.get():
            raise ValueError(
                "the function of a step builds the graph of all steps, so that a stream would draw "
                "the same numbers in each. Make the state of the generator a state of the scan: "
                "give random.shared_rng(seed) in outputs_info, draw by next_rng, x = "
                "random.normal(rng), and return next_rng with the step's other results"
            )
        return self._draw(lambda state: function(state, *args, **kwargs))

    @abstractmethod
    def _draw(self, function: Callable[[Variable], tuple[Variable, T]]) -> T:
        """Return what a function draws from the next state, or from one of its own."""

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _lock=Lock())


class Stream(Drawer):
    """Random numbers, one draw after the other, as :class:`numpy.random.Generator` gives them.

    Its methods are the functions of :mod:`frazil.random` without the state: each draws from the
    state that the draw before left, so no two draws give the same numbers, and together they give
    what a generator of NumPy's would give, called in this order.

    A function draws what its outputs need, and all that the stream drew before that. It leaves the
    state after its last draw in :attr:`rng`, from which the next call goes on.

    Attributes
    ----------
    rng : SharedVariable
        The state from which calls start.
    next_rng : Variable
        The state after all draws so far.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> from frazil import random
    >>> stream = random.default_rng(42)
    >>> f = fz.function([], [stream.normal(size=2), stream.integers(10, size=3)])
    >>> f()
    [array([ 0.30471708, -1.03998411]), array([4, 8, 0])]
    >>> generator = np.random.default_rng(42)
    >>> generator.normal(size=2), generator.integers(10, size=3)
    (array([ 0.30471708, -1.03998411]), array([4, 8, 0]))
    """

    def __init__(self, seed: Seed = None, name: str | None = None) -> None:
        self.rng = shared_rng(seed, name)
        self.next_rng: Variable = self.rng
        self._lock = Lock()

    def _draw(self, function: Callable[[Variable], tuple[Variable, T]]) -> T:
        while True:
            before = self.next_rng
            after, drawn = function(before)
            with self._lock:
                if self.next_rng is before:  # else another thread has drawn from it meanwhile
                    self.next_rng = after
                    return drawn

    def updates(self) -> dict[SharedVariable, Variable]:
        """Return the update that moves the stream on by all draws so far.

        :func:`frazil.function` does so by itself, by those draws that its outputs need.

        Examples
        --------
        >>> import frazil as fz
        >>> from frazil import random
        >>> stream = random.default_rng(42)
        >>> x, y = stream.random(), stream.random()
        >>> f = fz.function([], x, updates=stream.updates())
        >>> f(), f()  # the first number and the third
        (array(0.77395605), array(0.85859792))
        """
        return {self.rng: self.next_rng}

    def seed(self, seed: Seed = None) -> None:
        """Let the next call start from another state.

        Parameters
        ----------
        seed : None, int, sequence of int, SeedSequence, BitGenerator or Generator
            As for :func:`numpy.random.default_rng`.

        Examples
        --------
        >>> import frazil as fz
        >>> from frazil import random
        >>> stream = random.default_rng(42)
        >>> f = fz.function([], stream.random())
        >>> f(), f()
        (array(0.77395605), array(0.43887844))
        >>> stream.seed(42)
        >>> f()
        array(0.77395605)
        """
        self.rng.set_value(state_of(seed))

    @property
    def generator(self) -> np.random.Generator:
        """A new generator of NumPy's in the state from which the next call starts."""
        return generator_of(self.rng.get_value())

    def __repr__(self) -> str:
        return f"<frazil.random.Stream of {type(self.generator.bit_generator).__name__}>"


class RandomStream(Drawer):
    """Random numbers, with a generator for each draw, as PyTensor's ``RandomStream``.

    It has the methods of :class:`Stream`. Draws do not wait for each other, and a function draws
    what its outputs need and no more. The generators' seeds are spawned from one, so that their
    numbers have nothing to do with each other; they are those of PyTensor's class for that seed.

    Parameters
    ----------
    seed : None, int, sequence of int or SeedSequence
        As for :class:`numpy.random.SeedSequence`.

    Examples
    --------
    >>> import frazil as fz
    >>> from frazil import random
    >>> stream = random.RandomStream(42)
    >>> x, y = stream.normal(), stream.normal()
    >>> f = fz.function([], y)
    >>> f(), f()
    (array(1.25449437), array(0.60628944))
    """

    def __init__(self, seed: Seed = None) -> None:
        self._seeds = _sequence(seed)
        self._drawn: list[tuple[SharedVariable, Variable]] = []
        self._lock = Lock()

    def _draw(self, function: Callable[[Variable], tuple[Variable, T]]) -> T:
        with self._lock:
            (seed,) = self._seeds.spawn(1)
        rng = shared_rng(seed)
        after, drawn = function(rng)
        with self._lock:
            self._drawn.append((rng, after))
        return drawn

    def updates(self) -> list[tuple[SharedVariable, Variable]]:
        """Return the updates that move the generators of all draws on.

        :func:`frazil.function` does so by itself, for those that its outputs need.
        """
        with self._lock:
            return list(self._drawn)

    def seed(self, seed: Seed = None) -> None:
        """Give the generators of all draws other states.

        Parameters
        ----------
        seed : None, int, sequence of int or SeedSequence
            As for :class:`numpy.random.SeedSequence`.

        Examples
        --------
        >>> import frazil as fz
        >>> from frazil import random
        >>> stream = random.RandomStream(1)
        >>> f = fz.function([], stream.random())
        >>> stream.seed(2)
        >>> bool(f() == random.RandomStream(2).random().eval())
        True
        """
        seeds = _sequence(seed)
        with self._lock:
            self._seeds = seeds
            drawn = list(self._drawn)
            spawned = seeds.spawn(len(drawn))
        for (rng, _), own in zip(drawn, spawned, strict=True):
            rng.set_value(state_of(own))


def _sequence(seed: Seed) -> np.random.SeedSequence:
    return seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)


@described_like(shared_rng)
def default_rng(seed: Seed = None) -> Stream:
    """Return a stream of the numbers that :func:`numpy.random.default_rng` gives.

    returns (Stream): Draws of it are variables.

    >>> from frazil import random
    >>> random.default_rng(42).normal(size=2).eval()
    array([ 0.30471708, -1.03998411])
    """
    return Stream(seed)


def add_methods(functions: Mapping[str, Callable[..., tuple[Variable, object]]]) -> None:
    """Give streams a method for each function that draws."""
    for name, function in functions.items():
        setattr(Drawer, name, _method(function))


def _method(function: Callable[..., tuple[Variable, T]]) -> Callable[..., T]:
    @functools.wraps(function)
    def drawn(self: Drawer, *args: object, **kwargs: object) -> T:
        return self.draw(function, *args, **kwargs)

    name = function.__name__
    drawn.__qualname__ = f"Drawer.{name}"
    drawn.__doc__ = (
        f"Return what :func:`frazil.random.{name}` draws from a state of the stream; the arguments "
        "are those of that function without the first."
    )
    return drawn
