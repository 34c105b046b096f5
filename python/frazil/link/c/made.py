"""Machine code of kernels that were compiled before, by this process or by another.

Kernels are known by their text, in which the constants of a table have no values. So a kernel that
differs from another one in such a constant is found, and no compiler is called.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import frazil._core as _core
from frazil.cache import entry
from frazil.cache.store import Store, find_store
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.link.c.library import load
from frazil.link.c.unit import Unit
from frazil.link.kernel.image import Image, LoadedKernel, loaded_kernels
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.toolchain.keeping import write_soon


@dataclass(frozen=True, eq=False)
class MadeCode:
    """The library of a unit as bytes."""

    made_by: str
    """The identity of the compiler."""
    content: bytes
    """The library."""
    kernels: Mapping[str, int]
    """The texts of its kernels, in order, with the bytes of each in the table of constants."""

    @cached_property
    def places(self) -> Mapping[str, tuple[int, int]]:
        """For each text, the number of the kernel and where its constants are in the table."""
        ends = itertools.accumulate(self.kernels.values())
        pairs = zip(self.kernels.items(), ends, strict=True)
        return {text: (k, end - size) for k, ((text, size), end) in enumerate(pairs)}

    @property
    def table_size(self) -> int:
        """The bytes of the table."""
        return sum(self.kernels.values())


class Found(NamedTuple):
    """A kernel in code that was made before."""

    code: MadeCode
    number: int
    """The number of the kernel in the code."""
    start: int
    """Where its constants begin in the table."""

    @staticmethod
    def of(code: MadeCode, text: str) -> Found:
        """The kernel of that text."""
        return Found(code, *code.places[text])


_alive: weakref.WeakValueDictionary[tuple[str, str], MadeCode] = weakref.WeakValueDictionary()
"""The code in use, by its compiler and the text of a kernel."""


def find(made_by: str, text: str) -> Found | None:
    """The kernel of that text, in memory or on disk; None if no compiler made it before."""
    code = _alive.get((made_by, text)) or _read(made_by, text)
    return None if code is None else Found.of(code, text)


def note(made_by: str, units: Sequence[Unit], content: bytes) -> MadeCode:
    """Note the library of some units, each of one kernel, as long as it is in use and on disk."""
    sizes = {unit.text(): len(unit.table.content) for unit in units}
    code = MadeCode(made_by, content, sizes)
    _remember(code)
    store = find_store()
    if store is not None:
        write_soon(_unit_key(code), partial(_write, store, code))
    return code


def load_all(
    wanted: Sequence[tuple[AnyKernel, Unit, Found]],
) -> dict[AnyKernel, LoadedKernel]:
    """Kernels in code that was made before, each with the constants of its own unit.

    Code is loaded once for all kernels that it holds, and again for the same kernel with other
    constants.

    Raises
    ------
    OSError, ValueError, KeyError
        If the code cannot be loaded, or lacks a kernel.
    """
    loads: dict[MadeCode, list[dict[int, tuple[AnyKernel, Unit, Found]]]] = {}
    for kernel, unit, found in wanted:
        several = loads.setdefault(found.code, [])
        with_room = next((load for load in several if found.number not in load), None)
        if with_room is None:
            several.append(with_room := {})
        with_room[found.number] = kernel, unit, found
    placed: dict[AnyKernel, LoadedKernel] = {}
    for code, several in loads.items():
        for chosen in several:
            library = load(_image(code, [(unit, found) for _, unit, found in chosen.values()]))
            library.code = code
            kernels = loaded_kernels(library, [f"kernel_{number}" for number in chosen])
            placed.update(zip((kernel for kernel, *_ in chosen.values()), kernels, strict=True))
    return placed


def _image(code: MadeCode, chosen: Sequence[tuple[Unit, Found]]) -> Image:
    """The code with the constants of some kernels."""
    table, pointers = bytearray(code.table_size), dict[str, str]()
    for unit, found in chosen:
        own = unit.table.content
        table[found.start : found.start + len(own)] = own
        pointers.update(unit.pointers)
    return Image(code.content, pointers, bytes(table))


def _remember(code: MadeCode) -> None:
    for text in code.kernels:
        _alive[code.made_by, text] = code


def _write(store: Store, code: MadeCode) -> None:
    """Write the code, and for each kernel where its code is."""
    key = _unit_key(code)
    texts = (text.encode() for text in code.kernels)
    sizes = " ".join(map(str, code.kernels.values()))
    store.write(key, entry.pack([code.made_by.encode(), sizes.encode(), code.content, *texts]))
    for text in code.kernels:
        store.write(_kernel_key(code.made_by, text), key.encode())


def _read(made_by: str, text: str) -> MadeCode | None:
    store = find_store()
    key = None if store is None else store.read(_kernel_key(made_by, text))
    if store is None or key is None:
        return None
    try:
        content = store.read(key.decode())
        if content is None:
            return None
        identity, sizes, library, *texts = entry.unpack(content)
        pairs = zip((own.decode() for own in texts), map(int, sizes.split()), strict=True)
        code = MadeCode(identity.decode(), library, dict(pairs))
    except ValueError:
        return None
    # The digest in a name only says where to look.
    if code.made_by != made_by or text not in code.kernels:
        return None
    _remember(code)
    return code


def _unit_key(code: MadeCode) -> str:
    told = "\n".join((code.made_by, *code.kernels))
    return f"unit-{_core.digest_of(told.encode()).hex()}"


def _kernel_key(made_by: str, text: str) -> str:
    told = f"{made_by}\n{text}"
    return f"kernel-{_core.digest_of(told.encode()).hex()}"
