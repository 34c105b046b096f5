"""NumPy's functions for random numbers, which draws call without Python."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

import frazil._core as _core
from frazil.random.states import BIT_GENERATORS, state_of


@cache
def install() -> None:
    """Give the runtime all functions for random numbers that NumPy exports; once."""
    for kind in BIT_GENERATORS:
        _install_bits(kind)
    for symbol in _symbols().values():
        address = _address(symbol)
        if address is not None:
            _core.set_sampler(symbol, address)


@cache
def reason_against(distribution: str, dtype: str) -> str | None:
    """Why numbers of a distribution are drawn by a call of Python; None if they are not.

    Examples
    --------
    >>> from frazil.link.toolchain.draws import reason_against
    >>> reason_against("normal", "float64") is None
    True
    """
    symbol = _symbols()[distribution, dtype]
    if _address(symbol) is None:
        return f"NumPy exports no {symbol}"
    unknown = [kind.__name__ for kind in BIT_GENERATORS if not _install_bits(kind)]
    return f"NumPy has the states of {', '.join(unknown)} in another form" if unknown else None


@cache
def _symbols() -> dict[tuple[str, str], str]:
    return {(name, dtype): symbol for name, dtype, symbol in _core.distributions()}


@cache
def _address(symbol: str) -> int | None:
    """The address of a function that the module of NumPy's generators exports."""
    module = sys.modules[np.random.Generator.__module__]
    try:
        library = ctypes.CDLL(str(module.__file__))
        return ctypes.addressof(ctypes.c_char.in_dll(library, symbol))
    except (OSError, ValueError):
        return None


@cache
def _install_bits(kind: type[np.random.BitGenerator]) -> bool:
    """Tell the runtime how a bit generator makes bits; whether it understood."""
    generator = np.random.Generator(kind(42))
    state = state_of(generator).tolist()
    # A pointer to the state, then those to functions.
    address = generator.bit_generator.ctypes.bit_generator.value
    _, *functions = (ctypes.c_size_t * 5).from_address(address)
    # Nothing but 64 bits of each is asked for here.
    expected = generator.integers(2**64 - 1, size=5, dtype=np.uint64, endpoint=True).tolist()
    return _core.set_bit_generator(kind.__name__, functions, state, expected)
