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
