"""docs/pytensor_names.md says of each name of PyTensor's what it is here, and that is true."""

import importlib
import os
import re
from pathlib import Path

import pytensor
import pytensor_names as names
import pytest

import frazil as fz
import frazil.tensor as ft

PAGE = Path(__file__).parents[2] / "docs" / "pytensor_names.md"
NEW = int(pytensor.__version__.partition(".")[0]) >= 3
START = "<!-- written by tests/interop/test_pytensor_names.py -->\n"


def test_the_page_is_the_table():
    head, found, table = PAGE.read_text().partition(START)
    assert found
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(head + START + names.table())
        return
    version, said = names.read(table)
    if version == pytensor.__version__:
        assert table == names.table(), "run UPDATE_GOLDEN=1 pytest on this file, and read the diff"
    # Other versions have other names too; what both have is the same in frazil.
    installed = names.explained()
    both = said.keys() & installed.keys()
    assert len(both) > len(said) / 2
    assert {name: said[name] for name in both} == {name: installed[name] for name in both}


def test_each_name_is_explained():
    known = names.public_names()
    assert [name for name, (first, *_) in known.items() if names.here(name, first) is None] == []
    none = [name for name, (first, *_) in known.items() if names.here(name, first)[:4] == "none"]
    assert len(none) < len(known) / 10


def test_patterns_are_names_of_pytensor():
    # A line may be of a name that one version has: the installed one, or the page's.
    known = [
        text
        for name, modules in names.public_names().items()
        for text in (name, *(f"{module}:{name}" for module in modules))
    ]
    known += names.read(PAGE.read_text().partition(START)[2])[1]
    unused = [
        pattern
        for pattern in names.SPELLINGS
        if not any(re.fullmatch(pattern, text) for text in known)
    ]
    assert unused == ([] if NEW else list(names.OF_VERSION_3))


TEXT = " ".join(names.SPELLINGS.values())
SAID = sorted({*re.findall(r"\b(?:ft|fz|linalg|frazil)(?:\.\w+)+", TEXT)})


@pytest.mark.parametrize("path", SAID)
def test_what_is_said_instead_exists(path):
    first, *rest = path.split(".")
    found = {"ft": ft, "fz": fz, "linalg": ft.linalg, "frazil": fz}[first]
    for at, part in enumerate(rest):
        if first == "frazil" and not hasattr(found, part):
            importlib.import_module(".".join(["frazil", *rest[: at + 1]]))
        found = getattr(found, part)
