"""The capabilities of the namespace, which the standard lets users ask for."""

from __future__ import annotations

import numpy as np

from frazil.array_api import data_types
from frazil.array_api.array import DEVICE, check_device

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = (*_KINDS["signed integer"], *_KINDS["unsigned integer"])
_KINDS["numeric"] = (
    *_KINDS["integral"],
    *_KINDS["real floating"],
    *_KINDS["complex floating"],
)


class Info:
    """Facts about the namespace: see the methods."""

    def capabilities(self) -> dict[str, object]:
        """Return what the standard leaves open, and is given here."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device of new arrays."""
        return DEVICE

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[np.generic]]:
        """Return the dtypes of arrays that are made of Python's numbers."""
        check_device(device)
        return {
            "real floating": data_types.float64,
            "complex floating": data_types.complex128,
            "integral": data_types.int64,
            "indexing": data_types.int64,
        }

    def devices(self) -> list[str]:
        """Return all devices: one."""
        return [DEVICE]

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[np.generic]]:
        """Return the dtypes, or those of a kind, or of several, by name."""
        check_device(device)
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        unknown = [each for each in kinds if each not in _KINDS]
        if unknown:
            raise ValueError(f"no kind of dtype is named {unknown[0]!r}; there are {list(_KINDS)}")
        return {name: getattr(data_types, name) for each in kinds for name in _KINDS[each]}


def __array_namespace_info__() -> Info:
    """Return an object whose methods tell facts about the namespace."""
    return Info()
