"""Names in the bytecode of a function: modules that it imports, and globals."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Mapping
from importlib.util import resolve_name
from typing import Any

_IMPORT = dis.opmap["IMPORT_NAME"]


def imported_modules(
    code: types.CodeType, namespace: Mapping[str, object]
) -> dict[str, types.ModuleType | None]:
    """Return the modules that ``import`` statements in ``code`` name; None if not imported yet.

    ``namespace`` holds the globals of the code.

    Examples
    --------
    >>> from frazil.cache.imports import imported_modules
    >>> def root(x):
    ...     import math
    ...     return math.sqrt(x)
    >>> list(imported_modules(root.__code__, {}))
    ['math']
    """
    found: dict[str, types.ModuleType | None] = {}
    if _IMPORT not in code.co_code[::2]:
        return found
    constants: list[Any] = []
    for instruction in dis.get_instructions(code):
        if instruction.opcode == _IMPORT:
            level, wanted = constants[-2:]
            name = _absolute(instruction.argval, level, namespace)
            found[name] = sys.modules.get(name)
            # As in ``from package import module``, and ``import package.module``.
            for part in wanted or ():
                if f"{name}.{part}" in sys.modules:
                    found[f"{name}.{part}"] = sys.modules[f"{name}.{part}"]
            top = name.partition(".")[0]
            found[top] = sys.modules.get(top)
        elif instruction.opname.startswith("LOAD_"):
            constants.append(instruction.argval)
    return found


def global_names(code: types.CodeType) -> set[str]:
    """The names that ``code`` reads as globals or builtins."""
    read = ("LOAD_GLOBAL", "LOAD_NAME")
    return {found.argval for found in dis.get_instructions(code) if found.opname in read}


def _absolute(name: str, level: int, namespace: Mapping[str, Any]) -> str:
    if level == 0:
        return name
    package = namespace.get("__package__") or namespace.get("__name__", "")
    return resolve_name("." * level + name, package)
