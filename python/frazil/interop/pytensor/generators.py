"""NumPy's generators as arrays: a state word by word, for programs that hold numbers only."""

from __future__ import annotations

from typing import Any

import numpy as np

_WORD = (1 << 64) - 1
_KINDS: tuple[Any, ...] = (
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.Philox,
    np.random.SFC64,
    np.random.MT19937,
)
_RATCHETED = ("has_uint32", "uinteger")
"""What all of them but the last keep of a number that was drawn as two halves."""


def to_words(generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return the state of a generator, as unsigned numbers.

    Raises
    ------
    TypeError
        If it draws by a bit generator that NumPy does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from frazil.interop.pytensor.generators import from_words, to_words
    >>> words = to_words(np.random.default_rng(3))
    >>> bool(from_words(words).normal() == np.random.default_rng(3).normal())
    True
    """
    bits = generator.bit_generator
    if type(bits) not in _KINDS:
        raise TypeError(
            f"a generator must draw by a bit generator of NumPy's ({_names()}) to be given to a "
            f"compiled function; given {type(bits).__name__}"
        )
    kind = _KINDS.index(type(bits))
    state: Any = bits.state
    inner = state["state"]
    words = [np.array([kind], np.uint64)]
    for value in inner.values():
        if isinstance(value, int) and kind < 2:
            value = np.array([value & _WORD, value >> 64], np.uint64)
        words.append(np.atleast_1d(np.asarray(value)).astype(np.uint64))
    if "buffer" in state:
        words += [state["buffer"].astype(np.uint64), np.array([state["buffer_pos"]], np.uint64)]
    if "has_uint32" in state:
        words.append(np.array([state[name] for name in _RATCHETED], np.uint64))
    return np.concatenate(words)


def from_words(words: np.ndarray[Any, Any]) -> np.random.Generator:
    """Return a new generator in the state that :func:`to_words` gave."""
    kind = int(words[0])
    bits = _KINDS[kind](0)
    state: Any = bits.state
    rest = iter(words[1:])
    for name, value in state["state"].items():
        if isinstance(value, int) and kind < 2:
            state["state"][name] = int(next(rest)) | int(next(rest)) << 64
        elif isinstance(value, int):
            state["state"][name] = int(next(rest))
        else:
            state["state"][name] = np.array([next(rest) for _ in value], value.dtype)
    if "buffer" in state:
        state["buffer"] = np.array([next(rest) for _ in state["buffer"]], np.uint64)
        state["buffer_pos"] = int(next(rest))
    if "has_uint32" in state:
        for name in _RATCHETED:
            state[name] = int(next(rest))
    bits.state = state
    return np.random.Generator(bits)


def _names() -> str:
    return ", ".join(kind.__name__ for kind in _KINDS)
