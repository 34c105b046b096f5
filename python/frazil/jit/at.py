"""``x.at[index]`` of a traced array: a part of it, to be replaced in a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import frazil._core as _core
from frazil.jit.array_methods import add_item, get_item, set_item


class At:
    """Parts of an array, to be replaced in a copy of it by ``apply``."""

    __slots__ = ("_apply", "_array", "_index")

    def __init__(
        self, array: _core.Traced, apply: Callable[..., object], index: object = None
    ) -> None:
        self._array, self._apply, self._index = array, apply, index

    def __getitem__(self, index: object) -> At:
        return At(self._array, self._apply, index)

    def get(self) -> Any:
        """Return the part."""
        return self._apply(get_item, (self._array, self._index), {})

    def set(self, value: object) -> Any:
        """Return the array with ``value`` in this part."""
        return self._apply(set_item, (self._array, self._index, value), {})

    def add(self, value: object) -> Any:
        """Return the array with ``value`` added in this part, as :func:`numpy.add.at` adds it."""
        return self._apply(add_item, (self._array, self._index, value), {})
