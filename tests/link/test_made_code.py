"""Machine code made in the process: where it lies, what profilers are told, when it stops."""

import os
import struct
import subprocess
import sys

import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.link.cranelift import CraneliftCompiler

pytestmark = pytest.mark.skipif(CraneliftCompiler.find() is None, reason="no code may be made")

MAPS = """
import sys
import frazil as fz, frazil.tensor as ft
from frazil.link.linkers.tiered import replaceable
from frazil.compile import tiering
x = ft.vector("x")
f = fz.function([x], ft.sqrt(x) * 3 + x.sum())
f([1.0, 2.0])
if replaceable(f.program):
    tiering._on_heat(f.program)
    assert tiering._worker.wait(60)
    f([1.0, 2.0])
with open("/proc/self/maps") as maps:
    made = [line.split() for line in maps]
both = [line for line in made if "w" in line[1] and "x" in line[1]]
run = [line for line in made if "x" in line[1] and len(line) == 5]
print(len(both), len(run) > 0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="maps are Linux's")
def test_no_page_is_writable_and_executable():
    """In a process that runs nothing else that makes code."""
    done = subprocess.run(
        [sys.executable, "-c", MAPS],
        env={**os.environ, "FRAZIL_CACHE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 True\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the format is Linux's")
def test_profilers_are_told_of_kernels(monkeypatch, tmp_path):
    monkeypatch.setenv("FRAZIL_CACHE", "0")
    monkeypatch.setenv("FRAZIL_JITDUMP", str(tmp_path))
    x = ft.vector("x")
    fz.function([x], ft.exp(x) * 3.25 - 1.75, mode="cranelift")
    ((made, _),) = fz.function([x], ft.exp(x) * 3.5 - 1.75, mode="cranelift").program.kernels
    data = (tmp_path / f"jit-{os.getpid()}.dump").read_bytes()
    magic, version, size, machine, _, process = struct.unpack_from("<6I", data)
    assert (magic, version, size, process) == (0x4A695444, 1, 40, os.getpid())
    assert machine in (62, 183)
    records = []
    while size < len(data):
        kind, length = struct.unpack_from("<2I", data, size)
        name = data[size + 56 : data.index(b"\0", size + 56)].decode()
        start, _, count, number = struct.unpack_from("<4Q", data, size + 24)
        assert kind == 0
        assert length == 56 + len(name) + 1 + count
        records.append((name, start, number))
        size += length
    assert [name for name, _, _ in records] == ["frazil_loop_exp_mul_sub"] * 2
    # The entry, to which C's code may be put, lies behind the kernel.
    assert records[1][1] < made.address < records[1][1] + 2**16
    assert records[0][2] < records[1][2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the format is Linux's")
def test_profilers_find_each_folder_that_was_named(monkeypatch, tmp_path):
    monkeypatch.setenv("FRAZIL_CACHE", "0")
    x = ft.vector("x")
    for turn, folder in enumerate(["first", "second", "first"]):
        (tmp_path / folder).mkdir(exist_ok=True)
        monkeypatch.setenv("FRAZIL_JITDUMP", str(tmp_path / folder))
        fz.function([x], ft.exp(x) * (5.25 + turn) - 1.75, mode="cranelift")
    told = [(tmp_path / folder / f"jit-{os.getpid()}.dump") for folder in ("first", "second")]
    assert [path.read_bytes().count(b"frazil_loop_exp_mul_sub\0") for path in told] == [2, 1]


LISTED = """
import ctypes, os, struct, sys
import frazil as fz, frazil.tensor as ft
from frazil import _core

class Entry(ctypes.Structure):
    pass

Link = ctypes.POINTER(Entry)
Entry._fields_ = [
    ("next", Link), ("previous", Link), ("file", ctypes.c_void_p), ("size", ctypes.c_uint64)
]

class List(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32),
        ("action", ctypes.c_uint32),
        ("changed", Link),
        ("first", Link),
    ]

def symbols():
    listed = List.in_dll(ctypes.CDLL(_core.__file__), "__jit_debug_descriptor")
    assert listed.version == 1
    entry = listed.first
    while entry:
        data = ctypes.string_at(entry.contents.file, entry.contents.size)
        assert data.startswith(b"\\x7fELF\\x02\\x01\\x01")
        (start,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<2H", data, 58)
        parts = [struct.unpack_from("<2I4Q2I2Q", data, start + k * size) for k in range(count)]
        _, text, table, strings, _ = parts
        for at in range(table[4] + 24, table[4] + table[5], 24):
            name, kind, _, section, offset, length = struct.unpack_from("<I2BH2Q", data, at)
            assert (kind, section) == (0x12, 1)
            begins = strings[4] + name
            yield data[begins : data.index(0, begins)].decode(), text[3] + offset, length
        entry = entry.contents.next

x = ft.vector("x")
untold = fz.function([x], ft.exp(x) * 4.25 - 1.75, mode="cranelift")
assert not list(symbols())
os.environ["FRAZIL_JITDUMP"] = sys.argv[1]
f = fz.function([x], ft.log(x) * 4.5 - 1.75, mode="cranelift")
((made, _),) = f.program.kernels
((name, start, size),) = symbols()
print(name, start + size <= made.address < start + 2**16)
"""


def test_debuggers_are_told_of_kernels(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LISTED, str(tmp_path)],
        env={**os.environ, "FRAZIL_CACHE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    # The entry, to which C's code may be put, lies behind the kernel.
    assert done.stdout == "frazil_loop_log_mul_sub True\n"


def test_a_folder_that_takes_no_file_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("FRAZIL_CACHE", "0")
    monkeypatch.setenv("FRAZIL_JITDUMP", str(tmp_path / "missing"))
    x = ft.vector("x")
    with pytest.raises(Exception, match="could not be written for profilers"):
        fz.function([x], ft.exp(x) * 3.75 - 1.75, mode="cranelift")


STOPPED = """
import _thread, sys, threading, time
import numpy as np
import frazil as fz, frazil.tensor as ft
from frazil.scalar import ScalarLoop
x, state = ft.vector("x"), ft.dscalar("state")
until = {until}
loop = ScalarLoop([state], [ft.{function}(state) * 0.5], until=until)
f = fz.function([x], loop(np.int64(2**40), x), mode="cranelift")
begun = []

def stop():
    time.sleep(0.2)
    begun.append(time.process_time())
    _thread.interrupt_main()

threading.Thread(target=stop).start()
try:
    f(np.linspace(0.1, 0.9, 9))
except KeyboardInterrupt:
    print(time.process_time() - begun[0])
"""


@pytest.mark.parametrize("until", ["None", "state > 4"])
@pytest.mark.parametrize("function", ["sin", "gammaln", "cbrt", "sqrt"])
def test_a_long_loop_is_interrupted(function, until):
    done = subprocess.run(
        [sys.executable, "-c", STOPPED.format(function=function, until=until)],
        env={**os.environ, "FRAZIL_CACHE": "0"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    # Of the processor's time: what else runs on the machine does not count.
    assert float(done.stdout) < 0.05
