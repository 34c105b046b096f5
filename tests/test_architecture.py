"""What ARCHITECTURE.md says never happens, as far as one can see it from outside."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUST = ROOT / "rust"


@pytest.mark.parametrize("crate", ["core", "runtime"])
def test_crate_never_knows_python(crate):
    manifest = tomllib.loads((RUST / crate / "Cargo.toml").read_text())
    assert not {"numpy", "pyo3", "frazil-py"} & manifest["dependencies"].keys()


def test_core_depends_on_no_other_layer():
    manifest = tomllib.loads((RUST / "core" / "Cargo.toml").read_text())
    assert not [name for name in manifest["dependencies"] if name.startswith("frazil")]


def test_unsafe_code_of_the_core_is_in_the_interner():
    unsafe = re.compile(r"\bunsafe\b")
    found = {
        path.name
        for path in (RUST / "core" / "src").glob("*.rs")
        for line in path.read_text().splitlines()
        if unsafe.search(line.partition("//")[0])
    }
    assert found <= {"intern.rs"}


def test_import_neither_imports_numba_nor_starts_a_compiler():
    code = (
        "import subprocess, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError(args)\n"
        "subprocess.Popen.__init__ = refuse\n"
        "import frazil, frazil.tensor\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_map_names_what_exists():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    paths = re.findall(r"`((?:python|rust|benches|tests)/[\w./]*)`", page)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
