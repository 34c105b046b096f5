"""gcc's programs are called without its driver, and make what they make with it."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.cache.store import find_store
from frazil.link.c import build, driver
from frazil.link.c.driver import Commands, find_commands
from frazil.link.c.search import Toolchain, find_toolchain
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.toolchain.keeping import finish

SOURCE = "extern double exp(double);\ndouble f(double x) { return exp(x) * 0.5; }\n"


@pytest.fixture(autouse=True)
def forget(monkeypatch, tmp_path):
    """Each test asks the driver anew."""
    monkeypatch.setenv("FRAZIL_CACHE_DIR", str(tmp_path / "cache"))
    driver._known.clear()
    yield
    finish()
    driver._known.clear()


def known_commands(toolchain):
    """The commands of a compiler, asked for when the first library was made."""
    find_commands(toolchain, toolchain.flags)
    finish()
    return find_commands(toolchain, toolchain.flags)


def told(toolchain):
    command = [*toolchain.command, *toolchain.flags, "-x", "c", "-", "-o", driver._LIBRARY]
    asked = [*command, *toolchain.link_flags, "-###"]
    return subprocess.run(asked, input=b"", capture_output=True, check=True).stderr.decode()


def is_called_directly(toolchain):
    return sys.platform == "linux" and toolchain.is_gcc


def compiled(number):
    """A function with a kernel of its own, as exponents are part of the text."""
    x = ft.vector("x")
    return fz.function([x], ft.exp(x) ** number, mode="c")


def test_the_library_is_that_of_the_driver(tmp_path):
    toolchain = find_toolchain()
    commands = known_commands(toolchain)
    assert (commands is not None) == is_called_directly(toolchain)
    if commands is not None:
        direct, by_driver = tmp_path / "direct.so", tmp_path / "driver.so"
        assert commands.make(SOURCE, str(direct))
        asked = [*toolchain.command, *toolchain.flags, "-x", "c", "-", "-o", str(by_driver)]
        subprocess.run([*asked, *toolchain.link_flags], input=SOURCE.encode(), check=True)
        assert direct.read_bytes() == by_driver.read_bytes()


def test_functions_are_compiled_without_the_driver(monkeypatch):
    made = []

    def make(self, source, library, make=Commands.make):
        made.append(make(self, source, library))
        return made[-1]

    monkeypatch.setattr(Commands, "make", make)
    compiled(2.9375)
    assert not made  # a first result waits for no answer
    finish()
    np.testing.assert_allclose(compiled(2.8125)([1.0]), np.exp(2.8125), rtol=1e-13)
    assert made == ([True] if is_called_directly(find_toolchain()) else [])


@pytest.mark.parametrize(
    ("part", "program"),
    [
        *((part, "/bin/false") for part in ("compiler", "assembler", "linker")),
        *((part, "/no/such/program") for part in ("compiler", "assembler", "linker")),
        ("linker", "/bin/true"),  # it ends as if all were well
    ],
)
def test_the_driver_takes_over_where_a_program_fails(monkeypatch, part, program):
    number = 3.1875 + len(part) / 64 + len(program) / 1024

    found = known_commands(find_toolchain())

    def broken(toolchain, flags):
        return None if found is None else replace(found, **{part: (program,)})

    monkeypatch.setattr(build, "find_commands", broken)
    np.testing.assert_allclose(compiled(number)([1.0]), np.exp(number), rtol=1e-12)


def test_a_rejected_source_is_told_by_the_driver():
    toolchain = find_toolchain()
    with pytest.raises(build._Failure) as raised:
        build._make_library(toolchain, toolchain.flags, "int f(void) { return no_name; }\n", None)
    assert "no_name" in raised.value.output
    assert not isinstance(raised.value, KernelCompileError)


ALTERED = {
    "nothing": lambda text: "",
    "no assembler": lambda text: "\n".join(
        line for line in text.splitlines() if not line.startswith(" as ")
    ),
    "another front end": lambda text: text.replace("/cc1 ", "/cc1plus "),
    "another linker": lambda text: text.replace("/collect2 ", "/lld "),
    "a plugin": lambda text: text.replace("/collect2 ", "/collect2 -plugin some.so "),
    "a file between": lambda text: text.replace(" -o - |", " -o /tmp/some.s"),
    "another library": lambda text: text.replace(driver._LIBRARY, "/tmp/a.out"),
    "two objects": lambda text: text + "\n" + text,
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_is_not_expected_leaves_the_work_to_the_driver(name):
    toolchain = find_toolchain()
    if is_called_directly(toolchain):
        text = told(toolchain)
        assert driver._checked(text) is not None
        altered = ALTERED[name](text)
        assert altered != text
        assert driver._checked(altered) is None


def test_a_script_and_other_compilers_are_called_as_they_are(tmp_path):
    toolchain = find_toolchain()
    script = tmp_path / "gcc"
    script.write_text('#!/bin/sh\nexec cc "$@"\n')
    script.chmod(0o700)
    assert find_commands(Toolchain((str(script),), toolchain.version), toolchain.flags) is None
    assert find_commands(Toolchain(toolchain.command, "clang 14"), toolchain.flags) is None
    wrapped = Toolchain(("ccache", *toolchain.command), toolchain.version)
    assert find_commands(wrapped, toolchain.flags) is None


def test_settings_of_the_driver_are_left_to_it(monkeypatch):
    toolchain = find_toolchain()
    monkeypatch.setenv("COMPILER_PATH", "/opt/other")
    assert find_commands(toolchain, toolchain.flags) is None


def test_the_driver_is_called_where_nobody_is_told_how_children_end():
    """A compiler that was killed would look like one that made all of its text."""
    toolchain = find_toolchain()
    assert (known_commands(toolchain) is not None) == is_called_directly(toolchain)
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert find_commands(toolchain, toolchain.flags) is None
        np.testing.assert_allclose(compiled(3.40625)([1.0]), np.exp(3.40625), rtol=1e-13)
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize("content", [None, b"", b"commands of another"])
def test_commands_are_asked_once_for_a_cache(monkeypatch, content):
    toolchain = find_toolchain()
    first = known_commands(toolchain)
    driver._known.clear()
    store = find_store()
    files = [own.path for own in store.entries() if own.path.name.startswith("commands-")]
    assert len(files) == is_called_directly(toolchain)
    for path in files:
        if content is not None:
            store.write(Path(path).stem, content)
    asked = []

    def run(*arguments, run=driver.run, **options):
        asked.append(arguments)
        return run(*arguments, **options)

    monkeypatch.setattr(driver, "run", run)
    again = known_commands(toolchain)
    assert (again is None) == (first is None)
    if first is not None:
        assert again.compiler == first.compiler
        assert again.linker[:-1] == first.linker[:-1]  # the last is the object, of another name
        assert bool(asked) == (content is not None)
