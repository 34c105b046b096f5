"""States of generators as arrays: the whole state of a bit generator of NumPy, in 64-bit words.

The first word names the generator, so any function that draws takes a state of any generator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from frazil.graph.op import Array

Seed: TypeAlias = Any
"""An argument of :func:`numpy.random.default_rng`."""

HALF = 2**64 - 1

Words: TypeAlias = list[int]


def state_of(seed: Seed = None) -> Array:
    """Return the state of a generator as an array.

    Parameters
    ----------
    seed : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        As for :func:`numpy.random.default_rng`. The state of a generator is copied: drawing from
        the array leaves the generator as it is.

    Returns
    -------
    ndarray
        A vector of uint64; its length depends on the kind of the generator alone.

    Raises
    ------
    TypeError
        If the bit generator is none of NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> from frazil import random
    >>> state = random.state_of(42)
    >>> state.dtype, state.shape
    (dtype('uint64'), (7,))
    >>> bool(random.generator_of(state).random() == np.random.default_rng(42).random())
    True
    """
    generator = np.random.default_rng(seed).bit_generator
    kind = type(generator).__name__
    if type(generator) not in _KINDS:
        known = ", ".join(known.__name__ for known in _KINDS)
        raise TypeError(f"the state of a {kind} has no array form; use one of {known}")
    number = 1 + list(_KINDS).index(type(generator))
    words = _KINDS[type(generator)][0](dict(generator.state))
    return np.array([number, *words], dtype=np.uint64)


def generator_of(state: Array) -> np.random.Generator:
    """Return a new generator of NumPy's in this state.

    Parameters
    ----------
    state : ndarray
        What :func:`state_of` or a draw returned.

    Returns
    -------
    Generator
        The numbers that it gives are those that draws from the state give.

    Raises
    ------
    ValueError
        If the array is no state.

    Examples
    --------
    >>> from frazil import random
    >>> generator = random.generator_of(random.state_of(1))
    >>> generator.integers(10, size=3)
    array([4, 5, 7])
    """
    words = [int(word) for word in state] if state.ndim == 1 else []
    kinds = list(_KINDS)
    if not words or not 1 <= words[0] <= len(kinds):
        raise ValueError(NO_STATE)
    kind = kinds[words[0] - 1]
    _, length, read = _KINDS[kind]
    if len(words) != length:
        raise ValueError(NO_STATE)
    generator = kind(0)
    generator.state = {"bit_generator": kind.__name__, **read(words[1:])}
    return np.random.Generator(generator)


NO_STATE = (
    "the vector is no state of a generator of random numbers; make one with "
    "fz.random.state_of(np.random.default_rng(seed)), and draw from the states that draws return"
)


def _spare(words: Sequence[int]) -> dict[str, int]:
    is_there, bits = words
    if is_there > 1 or bits >= 2**32:
        raise ValueError(NO_STATE)
    return {"has_uint32": is_there, "uinteger": bits}


def _spare_words(state: dict[str, Any]) -> Words:
    return [int(state["has_uint32"]), int(state["uinteger"])]


def _pcg_words(state: dict[str, Any]) -> Words:
    numbers = [state["state"]["state"], state["state"]["inc"]]
    return [part for n in numbers for part in (n >> 64, n & HALF)] + _spare_words(state)


def _pcg(words: Words) -> dict[str, object]:
    state, increment = (words[0] << 64) | words[1], (words[2] << 64) | words[3]
    return {"state": {"state": state, "inc": increment}, **_spare(words[4:])}


def _philox_words(state: dict[str, Any]) -> Words:
    numbers = [*state["state"]["counter"], *state["state"]["key"]]
    words = [*numbers, state["buffer_pos"], *state["buffer"]]
    return [int(word) for word in words] + _spare_words(state)


def _philox(words: Words) -> dict[str, object]:
    counter, key, buffer = (
        np.array(part, dtype=np.uint64) for part in (words[:4], words[4:6], words[7:11])
    )
    if words[6] > len(buffer):
        raise ValueError(NO_STATE)
    own = {"state": {"counter": counter, "key": key}, "buffer": buffer, "buffer_pos": words[6]}
    return own | _spare(words[11:])


def _sfc_words(state: dict[str, Any]) -> Words:
    return [int(word) for word in state["state"]["state"]] + _spare_words(state)


def _sfc(words: Words) -> dict[str, object]:
    return {"state": {"state": np.array(words[:4], dtype=np.uint64)}, **_spare(words[4:])}


def _mt_words(state: dict[str, Any]) -> Words:
    key = [int(word) for word in state["state"]["key"]]
    pairs = zip(key[::2], key[1::2], strict=True)
    return [int(state["state"]["pos"])] + [(high << 32) | low for high, low in pairs]


def _mt(words: Words) -> dict[str, object]:
    position, *pairs = words
    if position > 2 * len(pairs):
        raise ValueError(NO_STATE)
    key = [half for pair in pairs for half in (pair >> 32, pair & (2**32 - 1))]
    return {"state": {"key": np.array(key, dtype=np.uint32), "pos": position}}


_KINDS: dict[
    Any, tuple[Callable[[dict[str, Any]], Words], int, Callable[[Words], dict[str, Any]]]
] = {
    np.random.PCG64: (_pcg_words, 7, _pcg),
    np.random.PCG64DXSM: (_pcg_words, 7, _pcg),
    np.random.Philox: (_philox_words, 14, _philox),
    np.random.SFC64: (_sfc_words, 7, _sfc),
    np.random.MT19937: (_mt_words, 314, _mt),
}
"""How the state of each bit generator is written in words, how many these are, and how it is read.

They are in the order of the numbers in their first words.
"""

BIT_GENERATORS: tuple[Any, ...] = tuple(_KINDS)
"""The bit generators whose states have an array form."""
