"""What ARCHITECTURE.md says never happens, as far as one can see it from outside."""

import ast
import graphlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import frazil

ROOT = Path(__file__).resolve().parent.parent
RUST = ROOT / "rust"
LAYERS = ("python/", "rust/", "benches/", "tests/")


@pytest.mark.parametrize("crate", ["core", "runtime"])
def test_crate_never_knows_python(crate):
    manifest = tomllib.loads((RUST / crate / "Cargo.toml").read_text())
    assert not {"numpy", "pyo3", "frazil-py"} & manifest["dependencies"].keys()


def test_core_depends_on_no_other_layer():
    manifest = tomllib.loads((RUST / "core" / "Cargo.toml").read_text())
    assert not [name for name in manifest["dependencies"] if name.startswith("frazil")]


def test_version_is_that_of_the_packages():
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert frazil.__version__ == python == rust


def test_what_runs_calls_is_compiled_for_speed():
    # The level of the crate that is linked last decides whether loops of any crate are vectorised.
    profiles = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]
    packages = profiles["release"]["package"]
    assert not {"frazil-py", "frazil-runtime"} & set(packages)
    assert "opt-level" not in {*profiles["release"], *profiles["wheel"]}


def test_unsafe_code_of_the_core_is_in_the_interner():
    unsafe = re.compile(r"\bunsafe\b")
    found = {
        path.parent.name
        for path in (RUST / "core" / "src").rglob("*.rs")
        for line in path.read_text().splitlines()
        if unsafe.search(line.partition("//")[0])
    }
    assert found == {"intern"}


def test_import_neither_imports_numba_or_pytensor_nor_starts_a_compiler():
    code = (
        "import subprocess, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError(args)\n"
        "subprocess.Popen.__init__ = refuse\n"
        "import frazil, frazil.tensor\n"
        "assert not {'numba', 'opt_einsum', 'pytensor'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def places_of_the_map() -> list[Path]:
    """The files and folders that the tables of the map name.

    A name without its folder is that of a file beside the one before it in its row or paragraph.
    """
    page = (ROOT / "ARCHITECTURE.md").read_text()
    part = page[page.index("## Where things live") : page.index("## Concepts")]
    rows = re.split(r"\n\n|\n(?=\|)", part)
    places = []
    for row in rows:
        folder = ROOT
        for name in re.findall(r"`([\w./]+(?:\.rs|\.py|/))`", row):
            if name.startswith(LAYERS):
                folder = ROOT / (name if name.endswith("/") else Path(name).parent)
                places.append(ROOT / name)
            else:
                places.append(folder / name)
    return places


def test_the_map_names_what_exists():
    places = places_of_the_map()
    assert len(places) > 100
    assert [place for place in places if not place.exists()] == []


def test_the_map_leads_to_every_module():
    # A file is named, or lies in a folder that is named, or in that of a file which is named.
    places = places_of_the_map()
    named = {*places, *(place.with_suffix("") for place in places)}
    modules = [*ROOT.glob("rust/*/src/**/*.rs"), *(ROOT / "python" / "frazil").rglob("*.py")]
    assert len(modules) > 200
    lost = [
        str(module.relative_to(ROOT))
        for module in modules
        if module.name not in ("lib.rs", "__init__.py", "__main__.py")
        and named.isdisjoint((module, *module.parents))
    ]
    assert lost == []


def test_no_module_is_in_a_folder_that_tools_pass_over():
    # What .gitignore names is in no release, and ruff looks at no folder called build or dist.
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().split()}
    package = ROOT / "python" / "frazil"
    modules = [path for path in package.rglob("*.py") if path.name != "__init__.py"]
    folders = {path.parent.relative_to(package) for path in modules}
    assert len(folders) > 15
    names = {name for folder in folders for name in folder.parts}
    assert not names & (ignored | {"build", "dist", "venv", "site-packages"})
    assert [folder for folder in folders if not (package / folder / "__init__.py").exists()] == []


def folders_of(crate: str) -> list[str]:
    """The folders of a crate, in the order in which the map lists them."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    return re.findall(rf"^\| `rust/{crate}/src/(\w+)\.rs` \|", page, re.MULTILINE)


def used_backwards(crate: str) -> set[tuple[str, str]]:
    """Pairs of a folder and another after it that it names."""
    folders, source = folders_of(crate), RUST / crate / "src"
    back = set()
    for at, folder in enumerate(folders):
        for path in [source / f"{folder}.rs", *(source / folder).rglob("*.rs")]:
            used = re.findall(r"\bcrate::(\w+)", path.read_text())
            back.update((folder, other) for other in used if other in folders[at + 1 :])
    return back


def test_folders_of_the_core_use_those_before_them():
    source = RUST / "core" / "src"
    assert {path.name for path in source.iterdir() if path.is_dir()} == {*folders_of("core")}
    assert {path.stem for path in source.glob("*.rs")} == {*folders_of("core"), "lib"}
    assert used_backwards("core") == set()


def test_folders_of_the_runtime_use_those_before_them():
    source = RUST / "runtime" / "src"
    folders = folders_of("runtime")
    assert {path.name for path in source.iterdir() if path.is_dir()} == {*folders, "error"}
    assert used_backwards("runtime") == set()


@pytest.mark.parametrize("crate", ["core", "runtime", "codegen"])
def test_paths_name_the_module_that_a_thing_is_in(crate):
    # Other tests read these paths: what lib.rs exports under another one would hide where it is.
    bare = re.compile(r"\bcrate::([A-Z]\w*|\{|\*)|super::super::")
    files = [*(RUST / crate / "src").rglob("*.rs")]
    assert len(files) > 30
    assert [path for path in files if bare.search(path.read_text())] == []


@pytest.mark.parametrize("crate", ["core", "runtime", "codegen"])
def test_no_module_uses_itself_by_way_of_others(crate):
    source = RUST / crate / "src"
    modules = {path.stem for path in source.glob("*.rs")} - {"lib"}
    used = {
        module: {
            name
            for path in [source / f"{module}.rs", *(source / module).rglob("*.rs")]
            if not path.stem.endswith("tests")
            for name in re.findall(r"\bcrate::(\w+)", path.read_text())
            if name in modules and name != module
        }
        for module in modules
    }
    assert any(used.values())
    graphlib.TopologicalSorter(used).prepare()  # raises CycleError


def packages() -> list[Path]:
    return sorted(path.parent for path in (ROOT / "python" / "frazil").glob("*/**/__init__.py"))


@pytest.mark.parametrize("package", packages(), ids=lambda path: path.name)
def test_packages_say_what_they_import_and_where_to_start(package):
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    assert len(told.partition("\n\n")[0]) > 20
    places = re.findall(r":mod:`~?(frazil[\w.]+)`", told)
    assert all(importlib.util.find_spec(name) is not None for name in places)
    text = " ".join(told.split())
    assert re.search(r"May import (``[\w./]+``|all packages|everything|what|the extension)", text)
    assert re.search(r"[Ss]tart reading at :mod:", text)


def package_of(module: str) -> str:
    return module.split(".")[1]


def imports_between_packages() -> dict[str, set[str]]:
    """For each package, and each module beside the packages, the others that it imports."""
    root = ROOT / "python" / "frazil"
    found: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        own = path.relative_to(root).parts[0].removesuffix(".py")
        if own == "__init__":
            continue  # the face names what all others hold
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            used = {package_of(name) for name in names if name.startswith("frazil.")}
            found.setdefault(own, set()).update(used - {own})
    return found


def test_the_picture_of_the_packages_is_what_imports_say():
    # An arrow that follows from others is not drawn.
    below: dict[str, set[str]] = {}
    imports = imports_between_packages()
    for package in graphlib.TopologicalSorter(imports).static_order():
        used = imports.get(package, set())
        below[package] = used.union(*(below[other] for other in used))
    needed = {
        (package, other)
        for package, used in imports.items()
        for other in used
        if not any(other in below[between] for between in used)
    }
    page = (ROOT / "ARCHITECTURE.md").read_text()
    picture = page.partition("```mermaid\n")[2].partition("```")[0]
    drawn = re.findall(r"^\s*(\w+)(?:\[.*?\])? --> (\w+)", picture, re.MULTILINE)
    assert len(drawn) == len(set(drawn)) > 20
    assert {(of, {"core": "_core"}.get(to, to)) for of, to in drawn} == needed


WORDS = ("Step", "State", "Place", "Lowering", "Fold")
"""Names that fit much of a compiler: each is of one thing, and others have longer names."""


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("suffix", [".py", ".rs"])
def test_a_name_that_fits_much_is_of_one_thing(word, suffix):
    defined = re.compile(
        rf"^\s*(?:pub(?:\([\w: ]+\))? )?(?:class|struct|enum|trait|type|union) {word}\b"
        rf"|^{word}(?:: TypeAlias)? = ",
        re.MULTILINE,
    )
    files = [path for path in sources() if path.suffix == suffix]
    found = [(path, name) for path in files for name in defined.findall(path.read_text())]
    assert len(found) <= 1


LONG_FUNCTIONS = {
    "rust/codegen/src/vector/x86/block.rs:compute": "one arm a kind of node",
    "rust/core/src/order/incremental.rs:reorder": "two searches take turns; each ends at the other",
    "rust/runtime/src/draws/generator.rs:with_stream": "one arm a generator",
    "rust/runtime/src/loops/loop_nest.rs:around": "each part follows from those before",
    "rust/runtime/src/program/codec/replay.rs:instr": "one arm an instruction; none may be missing",
    "rust/runtime/src/program/listing.rs:fmt": "one arm an instruction",
}
"""Functions of more than 60 lines, and the reason why none of them is cut."""


def sources() -> list[Path]:
    return [*(ROOT / "python" / "frazil").rglob("*.py"), *RUST.glob("*/src/**/*.rs")]


def python_functions(text: str) -> list[tuple[str, int]]:
    """The functions of a module, and the lines of each; those of its docstring do not count."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            told = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            docstring = told.end_lineno - told.lineno + 1 if told else 0
            found.append((node.name, node.end_lineno - node.lineno + 1 - docstring))
    return found


def rust_functions(text: str) -> list[tuple[str, int]]:
    """The functions of a file, and the lines of each; those without a body are left out."""
    head = re.compile(r"^([ \t]*)(?:[\w():]+ |\"C\" )*fn (\w+)")
    found, lines = [], text.splitlines()
    for start, line in enumerate(lines):
        if "fn " not in line or not (match := head.match(line)):
            continue
        opened = next(at for at in range(start, len(lines)) if lines[at].endswith(("{", "}", ";")))
        if lines[opened].endswith(";"):
            continue
        at_once = lines[opened].endswith("}")
        end = opened if at_once else lines.index(match[1] + "}", opened)
        found.append((match[2], end - start + 1))
    return found


def test_functions_have_at_most_60_lines():
    counted, long = 0, set()
    for path in sources():
        functions = python_functions if path.suffix == ".py" else rust_functions
        for name, lines in functions(path.read_text()):
            counted += 1
            if lines > 60:
                long.add(f"{path.relative_to(ROOT)}:{name}")
    assert counted > 7_000
    assert long == set(LONG_FUNCTIONS)


def test_files_have_at_most_600_lines():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources()
        if (lines := len(path.read_text().splitlines())) > 600
    }
    assert long == {}
