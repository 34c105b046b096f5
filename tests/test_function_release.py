"""What compiled functions hold on to is given back when they are dropped."""

import gc
import os
import sys
import tempfile
import weakref
from pathlib import Path

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.link.numba.compiler import _PLACED
from frazil.link.toolchain import keeping


def collect():
    """Collect garbage; what waits to be written to the cache is none until it is written."""
    keeping.finish()
    gc.collect()


def libraries():
    """The libraries of kernels that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {line.split()[0] for line in lines if "/frazil-" in line or "/memfd:frazil-" in line}


def some_functions(count):
    x = ft.vector("x")
    functions = [fz.function([x], ft.exp(x * (0.5 + at)).sum(), mode="c") for at in range(count)]
    for function in functions:
        function(np.ones(3))
    return functions


@pytest.mark.parametrize("cached", [False, True])
def test_libraries_are_unmapped_and_their_files_removed(monkeypatch, tmp_path, cached):
    assert sys.platform == "linux", "what is mapped is read as Linux tells it"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("FRAZIL_CACHE", "1" if cached else "0")
    if cached:
        some_functions(5)
    collect()
    before, files = libraries(), set(os.listdir(tmp_path))
    functions = some_functions(5)
    assert {function.compiled.found for function in functions} == {"disk" if cached else "made"}
    assert len(libraries() - before) >= 5
    assert set(os.listdir(tmp_path)) == files
    functions.clear()
    collect()
    assert libraries() == before


def test_machine_code_that_numba_made_is_freed():
    collect()
    before = set(_PLACED)
    x = ft.vector("x")
    function = fz.function([x], ft.exp(x * 0.375) + 5.0, mode="numba")
    value = np.linspace(-1.0, 1.0, 5)
    np.testing.assert_allclose(function(value), np.exp(value * 0.375) + 5.0)
    libraries = [weakref.ref(_PLACED[kernel].library) for kernel in set(_PLACED) - before]
    assert libraries
    del function
    collect()
    assert [library() for library in libraries] == [None] * len(libraries)


def test_nodes_are_freed(mode):
    collect()
    container = fz.Container.default()
    before = container.stats().nodes

    def compile_and_call():
        x = ft.vector("x")
        for at in range(3):
            fz.function([x], [ft.sin(x * at), ft.cos(x) + at], mode=mode)(np.ones(2))

    compile_and_call()
    collect()
    between = container.stats().nodes
    for _ in range(3):
        compile_and_call()
    collect()
    assert container.stats().nodes == between >= before


def test_a_program_that_waits_for_c_goes_with_its_functions():
    x = ft.vector("x")
    function = fz.function([x], x * 3.25 + 1.0, mode="tiered")
    assert function.explain((3,)).waiting == 1
    program = weakref.ref(function.program)
    del function
    collect()
    assert program() is None
