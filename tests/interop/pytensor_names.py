"""What PyTensor's names are here: those that have another spelling, and those that have none.

A name of ``pytensor.tensor`` and its submodules that is also one of ``frazil.tensor``,
``frazil.tensor.linalg`` or ``frazil.random`` needs no line. For others the first line
of pytensor_names.txt that fits counts: a pattern of names, or of ``module:name``.
The lines are right for every version that is tested, a table is of the installed one.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import types
import warnings
from functools import cache
from pathlib import Path

import pytensor

import frazil as fz
import frazil.tensor as ft

NONE = "none"
"""Begins what is said where nothing stands for a name."""

NEWER = "# From PyTensor 3 on:\n"
"""Begins the lines of names that PyTensor 2 lacks, the last ones."""


def _lines(text: str) -> dict[str, str]:
    return dict(line.split(" => ", 1) for line in text.splitlines() if not line.startswith("#"))


SPELLINGS = _lines(Path(__file__).with_suffix(".txt").read_text())
"""Names or patterns, and what to write."""

OF_VERSION_3 = _lines(Path(__file__).with_suffix(".txt").read_text().partition(NEWER)[2])
"""Those of :data:`SPELLINGS` that stand for names of PyTensor 3 alone."""


@cache
def public_names() -> dict[str, list[str]]:
    """The public names of ``pytensor.tensor`` and its submodules, with the modules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top = importlib.import_module("pytensor.tensor")
        modules = [top]
        for found in pkgutil.walk_packages(top.__path__, "pytensor.tensor."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                modules.append(importlib.import_module(found.name))
    names: dict[str, list[str]] = {}
    for module in modules:
        for name, value in vars(module).items():
            if name.startswith("_") or isinstance(value, types.ModuleType):
                continue
            if type(value).__name__ == "_LazyScipyModule":  # a module that is not imported yet
                continue
            plain = inspect.isclass(value) or inspect.isfunction(value)
            home = value.__module__ if plain else type(value).__module__
            if str(home).startswith("pytensor.tensor" if plain else "pytensor"):
                names.setdefault(name, []).append(module.__name__)
    return {
        name: sorted(modules, key=lambda m: (m.count("."), m)) for name, modules in names.items()
    }


def here(name: str, module: str) -> str | None:
    """What to write for a name of PyTensor's; None where nothing is said."""
    places = (("ft", ft), ("ft.linalg", ft.linalg), ("fz.random", fz.random), ("fz", fz))
    if "random" in module:
        places = (places[2], *places)
    for place, namespace in places:
        if name in namespace.__all__ and not inspect.ismodule(getattr(namespace, name)):
            return f"`{place}.{name}`"
    if name in ft.absent.from_above:
        return f"`fz.{name}`"
    for pattern, said in SPELLINGS.items():
        if re.fullmatch(pattern, name) or re.fullmatch(pattern, f"{module}:{name}"):
            return said
    return None


def explained() -> dict[str, str]:
    """What the table says of each public name of the installed version."""
    found = {}
    for name, (module, *_) in sorted(public_names().items()):
        said = here(name, module) or "?"
        own = re.fullmatch(r"`(ft|ft\.linalg|fz\.random|fz)\.(\w+)`", said)
        found[name] = f"the same, in `{own[1]}`" if own and own[2] == name else said
    return found


def table() -> str:
    """The table of docs/pytensor_names.md, of the installed version."""
    names = explained()
    kinds: dict[str, list[str]] = {}
    for name, said in names.items():
        kinds.setdefault(said, []).append(name)
    same = sum(said.startswith("the same") for said in names.values())
    lines = [
        f"PyTensor {pytensor.__version__}: {len(names)} names; {same} are the same here.",
        "",
        "| PyTensor's | here |",
        "|---|---|",
    ]
    order = sorted(kinds, key=lambda said: (not said.startswith("the same"), kinds[said][0]))
    for said in order:
        shown = ", ".join(f"`{name}`" for name in kinds[said])
        lines.append(f"| {shown} | {said} |")
    return "\n".join(lines) + "\n"


def read(table: str) -> tuple[str, dict[str, str]]:
    """The version that a table is of, and what it says of each name."""
    version = re.match(r"PyTensor (\S+):", table)
    assert version, "a table begins with the version of PyTensor that it is of"
    rows = re.findall(r"^\| (`.*?`) \| (.*) \|$", table, re.MULTILINE)
    return version[1], {name: said for names, said in rows for name in re.findall(r"\w+", names)}
