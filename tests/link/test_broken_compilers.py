"""Compilers that are missing or do not work: another linker takes over, and a warning says so."""

import os
import platform
import re
import stat
import subprocess
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.compile import fallback, mode
from frazil.link.c import build, search
from frazil.link.kernel.compiler import BrokenCompilerError, KernelCompileError
from frazil.link.numba import NumbaCompiler
from frazil.scalar import ScalarOp

# What a compiler does but for telling its version, and what of that a user reads.
COMPILING = {
    "fails": ("echo no space left in my heart >&2; exit 1", "no space left in my heart"),
    "writes nothing": ("exit 0", "wrote no library"),
    "writes nonsense": (
        'while [ "$1" != -o ]; do shift; done; echo nonsense > "$2"',
        "could not be loaded",
    ),
    "is killed": ("kill -9 $$", "ended by signal 9"),
}


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Each test finds this machine as a new process does; the cache knows nothing."""

    def clear():
        for known in (search._search, mode._made):
            known.cache_clear()
        fallback._broken.clear()
        fallback._told.clear()

    monkeypatch.setenv("FRAZIL_CACHE", "0")
    clear()
    yield
    monkeypatch.undo()
    clear()


@pytest.fixture
def no_numba(monkeypatch):
    monkeypatch.setattr(NumbaCompiler, "find", classmethod(lambda cls: None))


@pytest.fixture
def no_code(monkeypatch):
    """A system that runs no code that a process makes."""
    monkeypatch.setattr(_core, "native_code_fault", lambda: "operation not permitted")


@pytest.fixture
def pretend(monkeypatch, tmp_path):
    """Make $CC a compiler of that script, below a line that tells its version."""

    def make(script, version="echo pretended 1.0; exit 0"):
        path = tmp_path / "pretended-cc"
        path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then {version}; fi\n{script}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("CC", str(path))
        return path

    return make


C_FIRST = fz.Mode(tiered=False)


def compiled(mode=C_FIRST):
    x = ft.vector("x")
    function = fz.function([x], ft.exp(x) + 1, mode=mode)
    np.testing.assert_allclose(function([0.0, 1.0]), [2.0, np.e + 1])
    return function


def says_once(pattern):
    with pytest.warns(RuntimeWarning, match=pattern) as told:
        first = compiled()
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled().mode == first.mode
    return first.mode, str(told[0].message)


@pytest.mark.parametrize("what", COMPILING)
def test_the_extension_takes_over_from_a_compiler_that_does_not_work(pretend, what):
    script, said = COMPILING[what]
    path = pretend(script)
    took_over, message = says_once(said)
    assert took_over == "cranelift"
    for word in (str(path), "Repair", "CC", "mode='cranelift'"):
        assert word in message


def test_numba_takes_over_where_no_code_may_run(pretend, no_code):
    pretend("exit 1")
    assert says_once("operation not permitted")[0] == "numba"
    with pytest.raises(RuntimeError, match="'cranelift' is not available here"):
        compiled(mode="cranelift")


@pytest.mark.parametrize("what", COMPILING)
def test_who_asks_for_c_is_told_what_the_compiler_said_and_finds_the_source(pretend, what):
    script, said = COMPILING[what]
    path = pretend(script)
    for _ in range(2):
        with pytest.raises(BrokenCompilerError, match=said) as raised:
            compiled(mode="c")
        message = str(raised.value)
        assert f"command: {path}" in message
        kept = re.search(r"source kept in (\S+)", message)[1]
        with open(kept) as source:
            assert source.read() == raised.value.source
        os.unlink(kept)


def test_numpy_is_the_last_to_take_over(pretend, no_numba, no_code):
    pretend("exit 1")
    took_over, message = says_once("neither a C compiler nor Numba")
    assert took_over == "py"
    assert "ended with status 1" in message


def test_without_any_compiler_one_warning_says_what_to_install(
    monkeypatch, tmp_path, no_numba, no_code
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    took_over, message = says_once("neither a C compiler nor Numba")
    assert took_over == "py"
    for word in ("gcc", "clang", "CC", "pip install 'frazil[numba]'", "mode='py'"):
        assert word in message
    with pytest.raises(RuntimeError, match="not available here; install a C compiler"):
        compiled(mode="c")


def test_who_asks_for_a_linker_is_not_warned(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(mode="py")
        compiled(mode="numba")
        assert compiled().mode == "cranelift"  # as good, and nothing to repair


@pytest.mark.parametrize(
    ("given", "said"),
    [("no-such-compiler", "is no program"), ("'gcc", "is no command"), ("", None)],
)
def test_a_compiler_that_is_not_there_is_named(monkeypatch, given, said):
    monkeypatch.setenv("CC", given)
    if said is None:
        assert compiled().mode == "c"
        return
    assert says_once(said)[0] == "cranelift"
    with pytest.raises(RuntimeError, match=f"{said}.*install a C compiler"):
        compiled(mode="c")


def test_a_compiler_that_does_not_tell_its_version_is_quoted(pretend):
    pretend("exit 1", version="echo licence expired >&2; exit 3")
    assert says_once("--version ended with status 3: licence expired")[0] == "cranelift"
    with pytest.raises(RuntimeError, match="licence expired"):
        compiled(mode="c")


def test_a_folder_that_is_not_there_is_no_crash(monkeypatch, tmp_path):
    monkeypatch.setattr(build.tempfile, "tempdir", str(tmp_path / "gone"))
    assert says_once("No such file")[0] == "cranelift"


@dataclass(frozen=True, eq=False)
class Misspelt(ScalarOp):
    """Its text is no C."""

    nin = 1
    rule = "float"
    c = "no_such_function({0})"

    def impl(self, x):
        return x


def test_a_source_that_is_wrong_is_nobody_elses_fault():
    x = ft.vector("x")
    for how in (None, "c"):
        with pytest.raises(KernelCompileError, match="no_such_function") as raised:
            fz.function([x], Misspelt()(x), mode=how)
        assert not isinstance(raised.value, BrokenCompilerError)
        os.unlink(re.search(r"source kept in (\S+)", str(raised.value))[1])
    assert compiled().mode == "c"


def test_a_numba_that_cannot_be_imported_is_told(monkeypatch, tmp_path, no_code):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)

    class Refuses:
        def find_spec(self, name, path=None, target=None):
            if name in needing:
                raise ImportError("Numba needs another NumPy")

    needing = ("frazil.link.numba.source", "frazil.link.numba.objects")
    for name in needing:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses(), *sys.meta_path])
    took_over, message = says_once("Numba needs another NumPy")
    assert took_over == "py"
    assert "neither" in message


BARE = """
import sys
import warnings
warnings.simplefilter("error")
sys.modules["numba"] = None
sys.modules["llvmlite"] = None
import numpy as np
import frazil as fz
import frazil.tensor as ft

x, y, m = ft.vector("x"), ft.vector("y"), ft.matrix("m")
data = np.linspace(0.1, 0.9, 12)
score = m @ x
loss = ft.softplus(-score).sum() + ft.sqr(x).sum()
variances, _ = fz.scan(
    lambda e, v: 0.1 + 0.2 * e * e + 0.7 * v, sequences=[y], outputs_info=[ft.constant(0.5)]
)
schools = -0.5 * ft.sqr((y - x.mean()) / ft.exp(x)).sum() - ft.log1p(ft.exp(x)).sum()
outputs = [loss, fz.grad(loss, x), variances, schools, fz.grad(schools, x)]
f = fz.function([x, y, m], outputs)
assert f.mode == "cranelift", f.mode
assert "call" not in str(f.explain())
g = fz.function([x, y, m], outputs, mode="py")
given = (data, data[::-1].copy(), np.add.outer(data, -data))
for made, known in zip(f(*given), g(*given)):
    np.testing.assert_allclose(made, known, rtol=1e-12, atol=1e-14)
"""


def test_a_machine_with_nothing_but_the_wheel_runs_native_code(tmp_path):
    """Neither a compiler nor Numba: nobody is warned, and no Python runs in a call."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CC", "PATH")}
    subprocess.run([sys.executable, "-c", BARE], env={**kept, "PATH": str(tmp_path)}, check=True)


BAN = """
import ctypes
import platform
import sys

if "later" in sys.argv:
    import frazil as fz, frazil.tensor as ft

    x = ft.vector("x")
    before = fz.function([x], ft.exp(x))
    assert before([0.0]) == 1

mmap, mprotect = {"x86_64": (9, 10), "aarch64": (222, 226)}[platform.machine()]


class Filter(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("yes", ctypes.c_uint8),
        ("no", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    ]


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint16), ("filters", ctypes.POINTER(Filter))]


LOAD, EQUAL, SET, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, PROTECTION, FLAGS = 0, 32, 40
rows = [
    (LOAD, 0, 0, NUMBER),
    (EQUAL, 3, 0, mprotect),
    (EQUAL, 0, 5, mmap),
    (LOAD, 0, 0, FLAGS),
    (SET, 0, 3, 0x20),  # memory of no file
    (LOAD, 0, 0, PROTECTION),
    (SET, 0, 1, 4),  # that code runs in
    (RETURN, 0, 0, 0x50000 | 1),  # is not permitted
    (RETURN, 0, 0, 0x7FFF0000),
]
filters = (Filter * len(rows))(*rows)
system = ctypes.CDLL(None, use_errno=True)
assert system.prctl(38, 1, 0, 0, 0) == 0
asked = system.prctl(22, 2, ctypes.byref(Program(len(rows), filters)), 0, 0)
assert asked == 0, ctypes.get_errno()

import warnings
import numpy as np
import frazil as fz, frazil.tensor as ft

x = ft.vector("x")
steps, _ = fz.scan(lambda v, s: s / 2 + v, sequences=[x], outputs_info=[x[0]])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    f = fz.function([x], [ft.exp(x).sum(), steps])
    again = fz.function([x], x + 1)
total, made = f(np.array([0.0, 1.0]))
assert abs(total - 1 - np.e) < 1e-12 and made.tolist() == [0.0, 1.0]
assert again([1.0]).tolist() == [2.0]
known = set()  # what was found before the ban
if "later" in sys.argv:
    assert before([0.0]) == 1
    known.add(before.mode)
for asked in ("cranelift", "numba"):
    refusal = "executable memory" if asked in known else "not available here"
    try:
        fz.function([x], x * 3, mode=asked)
    except RuntimeError as error:
        assert refusal in str(error), error
    else:
        raise AssertionError(asked)
print(f.mode, len(told), *[warning.message for warning in told])
"""


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64") or not sys.platform.startswith("linux"),
    reason="the ban is one of Linux, by numbers of system calls",
)
@pytest.mark.parametrize("since", ["the start", "later"])
@pytest.mark.parametrize("has_c", [True, False])
def test_functions_run_where_no_memory_may_hold_code(tmp_path, has_c, since):
    """Libraries may be loaded, so C works; the code generator and Numba are passed over."""
    kept = {name: value for name, value in os.environ.items() if has_c or name != "CC"}
    environment = {**kept, "FRAZIL_CACHE": "0"}
    if not has_c:
        environment["PATH"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", BAN, since],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if has_c:
        assert done.stdout == "c 0\n"
    else:
        assert done.stdout.startswith("py 1 fz.function found neither a C compiler nor Numba")
        assert "may run no code of its own" in done.stdout
        assert "executable memory" in done.stdout
        assert "pip install" not in done.stdout  # Numba would not help


def test_a_text_that_calls_an_unknown_function_is_not_the_folders_fault():
    @dataclass(frozen=True, eq=False)
    class Magnitude(ScalarOp):
        nin, rule, c = 1, "float", "fabbs({0})"

        def impl(self, x):
            return abs(x)

    x = ft.vector("x")
    with pytest.raises(KernelCompileError, match=r"undefined symbol: fabbs") as failed:
        fz.function([x], Magnitude()(x), mode="c")([1.0])
    assert "functions of C" in str(failed.value)
    assert "TMPDIR" not in str(failed.value)
