"""The file format of an entry: several parts in one string of bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_COUNT = struct.Struct("<I")


def pack(parts: Sequence[bytes]) -> bytes:
    """Return the parts as one string of bytes.

    Examples
    --------
    >>> from frazil.cache.entry import pack, unpack
    >>> unpack(pack([b"one", b"", b"two"]))
    [b'one', b'', b'two']
    """
    lengths = struct.pack(f"<{len(parts)}Q", *map(len, parts))
    return b"".join([_COUNT.pack(len(parts)), lengths, *parts])


def unpack(content: bytes) -> list[bytes]:
    """Return the parts that :func:`pack` was given.

    Raises
    ------
    ValueError
        If ``pack`` did not make these bytes.
    """
    try:
        (count,) = _COUNT.unpack_from(content)
        start = _COUNT.size + 8 * count
        if start > len(content):
            raise ValueError("an entry ends within its head")
        lengths = struct.unpack_from(f"<{count}Q", content, _COUNT.size)
    except struct.error as error:
        raise ValueError(f"an entry ends too early: {error}") from error
    if start + sum(lengths) != len(content):
        raise ValueError("an entry is not as long as its parts")
    parts = []
    for length in lengths:
        parts.append(content[start : start + length])
        start += length
    return parts
