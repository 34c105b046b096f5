"""What the documentation shows is what happens.

In the README and in docs/, the ``python`` blocks of a page run one after the other in one
namespace. What a block prints must be what the ``output`` block after it shows, where ``...``
stands for anything; a block of ``>>>`` lines is a doctest. The docstrings' examples run too, module
by module.
"""

import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from pages import FENCE, OPTIONS, blocks

import frazil
import frazil.tensor

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path, tmp_path):
    """A page shows what a reader sees: in a new process, who has compiled nothing before."""
    command = [sys.executable, "-W", "error", str(ROOT / "tests" / "pages.py"), str(path)]
    environment = {**os.environ, "FRAZIL_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links(path):
    prose = FENCE.sub("", path.read_text())
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def modules() -> list[str]:
    found = pkgutil.walk_packages(frazil.__path__, "frazil.")
    return ["frazil", *(module.name for module in found)]


def functions_made_elsewhere(module: ModuleType) -> Iterator[FunctionType]:
    """The functions that say that they are of ``module``, but whose code another one holds."""
    for function in set(filter(inspect.isfunction, vars(module).values())):
        if function.__module__ == module.__name__ and function.__globals__ is not vars(module):
            yield function


@pytest.mark.parametrize("name", modules())
def test_docstrings(name):
    module = importlib.import_module(name)
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        failed, _ = doctest.testmod(module, optionflags=OPTIONS)
        for function in functions_made_elsewhere(module):
            runner = doctest.DocTestRunner(optionflags=OPTIONS)
            for test in doctest.DocTestFinder().find(function):
                failed += runner.run(test).failed
    assert failed == 0, report.getvalue()


def test_docstrings_of_functions_that_a_factory_made_are_tested():
    made = {function.__name__ for function in functions_made_elsewhere(frazil.tensor)}
    assert {"add", "exp", "bitwise_and"} <= made


def test_docstrings_of_elementwise_functions_say_what_the_scalar_table_knows():
    returns = section_of(inspect.getdoc(frazil.tensor.less), "Returns")
    assert "shape of the operands" in returns
    assert "Data type: bool." in returns
    assert "x1, x2 : tensor_like" in section_of(inspect.getdoc(frazil.tensor.less), "Parameters")


def test_readme_opens_with_a_short_example_and_its_output():
    example, output = blocks((ROOT / "README.md").read_text())[:2]
    assert (example.language, output.language) == ("python", "output")
    lines = [line for line in example.text.splitlines() if line.strip()]
    assert len(lines) <= 10


PUBLIC = [
    "frazil",
    "frazil.compile",
    "frazil.gradient",
    "frazil.graph.inplace",
    "frazil.interop.pytensor",
    "frazil.link",
    "frazil.optimize",
    "frazil.rewrite",
    "frazil.scalar",
    "frazil.tensor",
    "frazil.tensor.fft",
    "frazil.tensor.linalg",
    "frazil.tensor.sparse",
    "frazil.testing",
]


def public_functions() -> dict[str, object]:
    """The functions of the modules that people import from, by their full names."""
    found = {}
    for name in PUBLIC:
        if name == "frazil.interop.pytensor" and importlib.util.find_spec("pytensor") is None:
            continue  # as for Pythons without a GIL
        own = name in ("frazil.tensor.sparse", "frazil.testing")  # what they import is not meant
        for key, value in vars(importlib.import_module(name)).items():
            if key.startswith("_") or not inspect.isroutine(value):
                continue
            if value.__module__ == name or not own:
                found[f"{name}.{key}"] = value
    return found


def section_of(doc: str, title: str) -> str | None:
    """The text of a section of a numpydoc docstring."""
    parts = re.split(r"(?m)^(\w[\w ]*)\n-{3,}$", doc)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title)


@pytest.mark.parametrize("name", public_functions())
def test_public_functions_are_documented(name):
    function = public_functions()[name]
    doc = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    if signature.parameters:
        told = re.findall(r"(?m)^(\S.*)$", section_of(doc, "Parameters") or "")
        names = {word.strip(" *") for line in told for word in line.partition(" :")[0].split(",")}
        assert signature.parameters.keys() <= names
    if signature.return_annotation not in (None, "None"):
        assert section_of(doc, "Returns") or section_of(doc, "Yields")
    assert ">>> " in (section_of(doc, "Examples") or "")
