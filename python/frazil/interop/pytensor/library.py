"""PyTensor's classes, wherever the installed version keeps them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = (
    "pytensor.compile.ops",
    "pytensor.conditional.op",
    "pytensor.ifelse",
    "pytensor.scalar.basic",
    "pytensor.scalar.math",
    "pytensor.scalar.loop",
    "pytensor.tensor.basic",
    "pytensor.tensor.math",
    "pytensor.tensor.extra_ops",
    "pytensor.tensor.special",
    "pytensor.tensor.xlogx",
    "pytensor.tensor.reshape",
    "pytensor.tensor.shape",
    "pytensor.tensor.subtensor",
    "pytensor.tensor.sort",
    "pytensor.tensor.blas",
    "pytensor.tensor.slinalg",
    "pytensor.tensor.nlinalg",
    "pytensor.tensor.linalg.constructors",
    "pytensor.tensor.linalg.decomposition.cholesky",
    "pytensor.tensor.linalg.decomposition.eigen",
    "pytensor.tensor.linalg.decomposition.lu",
    "pytensor.tensor.linalg.decomposition.qr",
    "pytensor.tensor.linalg.decomposition.svd",
    "pytensor.tensor.linalg.inverse",
    "pytensor.tensor.linalg.products",
    "pytensor.tensor.linalg.solvers.general",
    "pytensor.tensor.linalg.solvers.psd",
    "pytensor.tensor.linalg.solvers.triangular",
    "pytensor.tensor.linalg.summary",
)


def classes(*names: str) -> tuple[type, ...]:
    """Return PyTensor's classes of these names; one that the installed version lacks is left out.

    Examples
    --------
    >>> from frazil.interop.pytensor.library import classes
    >>> [found.__name__ for found in classes("DimShuffledNothing", "Join")]
    ['Join']
    """
    found = []
    for name in names:
        for module in _modules():
            own = vars(module).get(name)
            if isinstance(own, type):
                found.append(own)
                break
    return tuple(found)


_FOUND: list[Any] = []


def _modules() -> list[object]:
    if not _FOUND:
        for place in _PLACES:
            try:
                _FOUND.append(import_module(place))
            except ModuleNotFoundError as error:
                if not place.startswith(f"{error.name}"):
                    raise
    return _FOUND
