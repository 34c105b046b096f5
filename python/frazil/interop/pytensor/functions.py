"""PyTensor's functions that call frazil's directly, and their maker."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from pytensor.compile.mode import Mode
from pytensor.tensor.type import TensorType

from frazil.graph.dataclass import dataclass


def _class(name: str) -> Any:
    """A class of PyTensor's that moved between its versions."""
    for place in ("maker", "executor", "function.types"):
        try:
            found = getattr(import_module(f"pytensor.compile.{place}"), name, None)
        except ModuleNotFoundError:
            continue
        if found is not None:
            return found
    raise ImportError(f"this version of PyTensor has no {name}")


_Function: Any = _class("Function")
_Maker: Any = _class("FunctionMaker")


@dataclass(frozen=True)
class _Way:
    """The parts of a call whose arguments are arrays of exactly the inputs' types."""

    run: Callable[..., list[Any]]
    kinds: tuple[tuple[np.dtype[np.generic], int, tuple[int, ...] | None], ...]
    cells: tuple[list[Any], ...]
    updated: tuple[list[Any], ...]
    returned: int


class FrazilFunction(_Function):
    """A function of PyTensor's that frazil computes.

    A call with arrays of the inputs' types goes to frazil at once, which checks them; it touches
    none of PyTensor's storage, so that calls may run in many threads. All other calls go the way of
    PyTensor's own functions.
    """

    _way: _Way | None = None

    def __init__(self, *args: object, **settings: object) -> None:
        super().__init__(*args, **settings)
        self._way = _way_of(self)

    def __call__(self, *args: Any, **named: object) -> Any:
        """The results, after updates of shared variables."""
        way = self._way
        if way is None or named or self.profile or len(args) != len(way.kinds):
            return super().__call__(*args, **named)
        at = 0  # a sampler pays for each object made here, such as that of zip
        for value in args:
            dtype, ndim, shape = way.kinds[at]
            at += 1  # noqa: SIM113
            if type(value) is not np.ndarray or value.dtype is not dtype or value.ndim != ndim:
                return super().__call__(*args)
            if shape is not None and value.shape != shape:
                return super().__call__(*args)
        values = [cell[0] for cell in way.cells] if way.cells else way.cells
        results = way.run(*args, *values)
        if way.updated:
            for cell, value in zip(way.updated, results[way.returned :], strict=True):
                cell[0] = value
            results = results[: way.returned]
        if self.unpack_single:
            return results[0]
        return None if self.return_none else results


def _way_of(function: Any) -> _Way | None:
    """The short way; None where a call has more to do than to hand on arrays."""
    maker, storage = function.maker, function.input_storage
    if getattr(function, "output_keys", None) is not None:
        return None
    given = [x for x in maker.inputs if not x.shared]
    if given != list(maker.inputs[: len(given)]) or len(storage) != len(maker.inputs):
        return None
    kinds = []
    for x in given:
        kind = x.variable.type
        if x.update is not None or getattr(x, "value", None) is not None:
            return None
        if not isinstance(kind, TensorType) or _partly_known(kind.shape):
            return None
        whole = tuple(kind.shape) if None not in kind.shape else None
        kinds.append((np.dtype(kind.dtype), kind.ndim, whole if kind.ndim else None))
    cells = tuple(one.storage for one in storage)
    updated = tuple(
        cell for x, cell in zip(maker.inputs, cells, strict=True) if x.update is not None
    )
    returned = len(function.output_storage) - len(updated)
    return _Way(function.vm.jit_fn, tuple(kinds), cells[len(given) :], updated, returned)


def _partly_known(shape: tuple[int | None, ...]) -> bool:
    return None in shape and any(n is not None for n in shape)


class FrazilMaker(_Maker):
    """Makes such functions of graphs."""

    def create(self, *args: object, **settings: object) -> Any:
        """A function, with storage of its own."""
        self.function_builder = self.function_class = FrazilFunction
        return super().create(*args, **settings)


def let_linkers_choose() -> None:
    """Let a linker's ``function_maker`` make the functions of each mode that has this linker.

    PyTensor asks the mode alone, and PyMC makes modes of its own with the linker of the given one.
    """
    theirs = vars(Mode).get("function_maker")

    def function_maker(mode: Any) -> object:
        own = getattr(mode.linker, "function_maker", None)
        if own is not None:
            return own
        return _Maker if theirs is None else theirs.__get__(mode, type(mode))

    Mode.function_maker = property(function_maker)


copyreg.pickle(FrazilFunction, copyreg.dispatch_table[_Function])
