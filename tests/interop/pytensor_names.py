"""What PyTensor's names are here: those that have another spelling, and those that have none.

A name of ``pytensor.tensor`` and its submodules that is also one of ``frazil.tensor``,
``frazil.tensor.linalg`` or ``frazil.random`` needs no line. For others the first line
of pytensor_names.txt that fits counts: a pattern of names, or of ``module:name``.
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

import frazil as fz
import frazil.tensor as ft

NONE = "none"
"""Begins what is said where nothing stands for a name."""

SPELLINGS = dict(
    line.split(" => ", 1)
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines()
    if not line.startswith("#")
)
"""Names or patterns, and what to write."""


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
    if name in ft.absent.OF_FRAZIL:
        return f"`fz.{name}`"
    for pattern, said in SPELLINGS.items():
        if re.fullmatch(pattern, name) or re.fullmatch(pattern, f"{module}:{name}"):
            return said
    return None


def table() -> str:
    """The table of docs/pytensor_names.md."""
    names = public_names()
    kinds: dict[str, list[str]] = {}
    same = 0
    for name in sorted(names):
        said = here(name, names[name][0])
        own = re.fullmatch(r"`(?:ft|ft\.linalg|fz\.random|fz)\.(\w+)`", said or "")
        if own and own[1] == name:
            same += 1
            kinds.setdefault(f"the same, in `{said.strip('`').rpartition('.')[0]}`", []).append(
                name
            )
        else:
            kinds.setdefault(said or "?", []).append(name)
    lines = [
        f"{len(names)} names; {same} are the same here.",
        "",
        "| PyTensor's | here |",
        "|---|---|",
    ]
    order = sorted(kinds, key=lambda said: (not said.startswith("the same"), kinds[said][0]))
    for said in order:
        shown = ", ".join(f"`{name}`" for name in kinds[said])
        lines.append(f"| {shown} | {said} |")
    return "\n".join(lines) + "\n"
