"""What public modules show: what users call, and nothing else."""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import frazil as fz

PACKAGE = Path(fz.__file__).parent

PUBLIC = {
    "frazil": {"batching", "debug", "gradient", "inplace", "random", "rewrite", "scalar", "tensor"},
    "frazil.array_api": {"fft", "linalg"},
    "frazil.compile": set(),
    "frazil.gradient": set(),
    "frazil.interop.pytensor": set(),
    "frazil.link": set(),
    "frazil.optimize": set(),
    "frazil.random": set(),
    "frazil.rewrite": set(),
    "frazil.scalar": set(),
    "frazil.tensor": {"fft", "linalg", "sparse"},
    "frazil.tensor.fft": set(),
    "frazil.tensor.linalg": set(),
}
"""Public modules, each with the modules that it shows."""


@pytest.mark.parametrize("name", PUBLIC)
def test_public_modules_show_what_users_call(name):
    module = importlib.import_module(name)
    assert dir(module) == module.__all__ == sorted(set(module.__all__))
    shown = {key: getattr(module, key) for key in module.__all__}
    modules = {key for key, value in shown.items() if isinstance(value, ModuleType)}
    # A function may have the name of the package that it lies in, as fz.scan has.
    assert modules == PUBLIC[name]
    assert not [key for key in shown if key.startswith("_")]
    assert [
        key for key, value in shown.items() if inspect.isroutine(value) and not value.__doc__
    ] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_all_that_a_public_module_imports_for_users_is_shown(name):
    module = importlib.import_module(name)
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {
        alias.asname
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert imported - {"__version__"} == set(module.__all__)


def test_no_module_imports_the_face_of_the_package():
    # The layers of imports in pyproject.toml do not tell the face from what lies behind it.
    found = [
        (str(path.relative_to(PACKAGE)), node.lineno)
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "__init__.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.ImportFrom) and node.module == "frazil")
        or (isinstance(node, ast.Import) and any(own.name == "frazil" for own in node.names))
    ]
    assert found == []
