"""The names that a public module shows to ``dir`` and ``from module import *``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import ModuleType


def public_names(namespace: Mapping[str, object], modules: Collection[str] = ()) -> list[str]:
    """Return the public names of a module; of modules in it only those that ``modules`` names.

    Examples
    --------
    >>> import math
    >>> from frazil.graph.namespace import public_names
    >>> public_names({"_hidden": 1, "exp": math.exp, "math": math, "m": math}, modules=["m"])
    ['exp', 'm']
    """
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_") and (name in modules or not isinstance(value, ModuleType))
    )


def publish(namespace: dict[str, object], modules: Collection[str] = ()) -> None:
    """Let ``dir`` and ``from module import *`` show the :func:`public_names` of a module.

    Checkers of types know by themselves what is public: what was imported under its own name.

    Examples
    --------
    >>> from frazil.graph.namespace import publish
    >>> names = {"_hidden": 1, "exp": 2}
    >>> publish(names)
    >>> names["__all__"], names["__dir__"]()
    (['exp'], ['exp'])
    """
    shown = namespace["__all__"] = public_names(namespace, modules)
    namespace["__dir__"] = lambda: shown
