"""Kernels that compile at once, and what becomes of their exceptions."""

import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from native import kernel

import frazil as fz
import frazil.tensor as ft
from frazil.link import compiled_kernels
from frazil.link.c import CCompiler
from frazil.link.c.search import Toolchain
from frazil.link.cranelift.compiler import parts_for_threads
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.toolchain import pool
from frazil.link.toolchain.once import SingleFlight
from frazil.scalar import add, psi, tanh


def chain(n, literal):
    """A kernel of ``n`` steps, which no other test has if ``n`` is its own."""
    steps = [(add, (0, 1))] + [(tanh, (k + 1,)) for k in range(1, n)]
    return kernel(["float64"], steps, [n + 1], [("float64", literal)])


@given(count=st.integers(0, 12), threads=st.integers(1, 5))
def test_results_come_in_order(count, threads):
    with fz.compile_threads(threads):
        assert pool.compile_all(lambda k: k * k, range(count)) == [k * k for k in range(count)]


def test_so_many_compile_at_once_as_were_asked_for():
    both = threading.Barrier(2, timeout=30)

    def meet(_):
        both.wait()
        return threading.get_ident()

    with fz.compile_threads(2):
        found = pool.compile_all(meet, range(2))
    # The caller would only wait: it is one of them.
    assert threading.get_ident() in found
    assert len({*found}) == 2


def test_one_thread_is_the_callers_own(monkeypatch):
    own = threading.get_ident()
    with fz.compile_threads(1):
        assert set(pool.compile_all(lambda _: threading.get_ident(), range(5))) == {own}
    monkeypatch.setenv("FRAZIL_COMPILE_THREADS", "1")
    assert set(pool.compile_all(lambda _: threading.get_ident(), range(5))) == {own}


def test_what_says_how_many_threads(monkeypatch):
    monkeypatch.delenv("FRAZIL_COMPILE_THREADS", raising=False)
    assert pool.thread_count() >= 1
    monkeypatch.setenv("FRAZIL_COMPILE_THREADS", "7")
    assert pool.thread_count() == 7
    with fz.compile_threads(3):
        assert pool.thread_count() == 3
        with fz.compile_threads(2):
            assert pool.thread_count() == 2
        with ThreadPoolExecutor(1) as other:
            assert other.submit(pool.thread_count).result() == 7
            # Some Pythons start threads in a copy of the context.
            assert other.submit(copy_context().run, pool.thread_count).result() == 7
        assert copy_context().run(pool.thread_count) == 3
    assert pool.thread_count() == 7


@pytest.mark.parametrize("count", [0, -1, 1.5, True, None, "2.5"])
def test_a_number_of_threads_that_is_none_is_refused(count, monkeypatch):
    with (
        pytest.raises(ValueError, match="compile_threads takes a positive number"),
        fz.compile_threads(count),
    ):
        pass
    monkeypatch.setenv("FRAZIL_COMPILE_THREADS", str(count))
    with pytest.raises(ValueError, match=r"\$FRAZIL_COMPILE_THREADS must be a positive number"):
        pool.thread_count()


@given(
    failing=st.sets(st.integers(0, 5), min_size=1),
    count=st.integers(6, 8),
    threads=st.integers(1, 8),
    kind=st.sampled_from([ValueError, KernelCompileError, KeyboardInterrupt]),
)
def test_an_exception_reaches_the_caller_whole(failing, count, threads, kind):
    begun = []

    def work(k):
        begun.append(k)
        if k in failing:
            raise kind(f"no {k}")
        return k

    with fz.compile_threads(threads), pytest.raises(kind) as raised:
        pool.compile_all(work, range(count))
    assert any(f"no {k}" in str(raised.value) for k in failing)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert frames[-1].name == "work"
    if threads == 1:
        assert begun == list(range(min(failing) + 1))
        assert str(raised.value) == f"no {min(failing)}"


@pytest.mark.parametrize("threads", [1, 3])
def test_a_kernel_that_fails_shows_its_source(threads, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(CCompiler, "_unit_statements", 1)
    script = tmp_path / "cc"
    # One of the units fails: that of the kernel with this function in it.
    script.write_text(
        '#!/bin/sh\nsource=$(cat)\ncase "$source" in *psi*)\n'
        "echo '<stdin>:3:1: error: I do not like this' >&2; exit 1;; esac\n"
        'printf "%s" "$source" | cc "$@"\n'
    )
    script.chmod(0o755)
    compiler = CCompiler(Toolchain((str(script),), ""))
    failing = kernel(["float64"], [(psi, (0,))], [1])
    with fz.compile_threads(threads), pytest.raises(KernelCompileError) as raised:
        compiler.compile([chain(2, 0.8125), failing, chain(2, 0.81252)])
    assert "I do not like this" in str(raised.value)
    assert "psi" in raised.value.source
    assert raised.value.source.splitlines()[2] in str(raised.value)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[-2:] == ["_compile_unit", "build"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_the_same_on_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    monkeypatch.setattr(CCompiler, "_unit_statements", 1)
    x = ft.dmatrix("x")
    made = [ft.tanh(x * float(k)) / x.sum() for k in range(1, 4)]
    with fz.compile_threads(threads):
        f = fz.function([x], made, mode="c")
    value = np.arange(6.0).reshape(2, 3)
    for k, found in enumerate(f(value), 1):
        np.testing.assert_allclose(found, np.tanh(value * k) / value.sum())


def test_threads_that_want_one_kernel_compile_it_once():
    kernels = [chain(21 + k, 0.9375) for k in range(3)]
    start = compiled_kernels()["c"]
    together = threading.Barrier(4, timeout=30)

    def compile_some(k):
        together.wait()
        return CCompiler().compile([kernels[k % 3], kernels[(k + 1) % 3]])

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(compile_some, range(4)))
    assert compiled_kernels()["c"] - start == 3
    assert len({native.address for natives in made for native in natives}) == 3


def test_who_waits_for_what_fails_elsewhere_makes_it_himself():
    flights = SingleFlight()
    begun, release = threading.Event(), threading.Event()

    def fail(_):
        begun.set()
        assert release.wait(30)
        raise ValueError("here only")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(flights.make, ["a"], {}.get, fail)
        assert begun.wait(30)
        second = threads.submit(flights.make, ["a", "b"], {}.get, lambda keys: keys)
        release.set()
        with pytest.raises(ValueError, match="here only"):
            first.result(30)
        assert second.result(30) == {"a": "a", "b": "b"}
    assert flights.make(["a"], {}.get, lambda keys: ["again"]) == {"a": "again"}


def test_threads_that_compile_equal_graphs_share_a_program(mode):
    def compile_one(_):
        x = ft.vector("x")
        return fz.function([x], ft.exp(x) * 41.0 + x.sum(), mode=mode)

    with ThreadPoolExecutor(8) as threads:
        functions = list(threads.map(compile_one, range(8)))
    assert len({id(f.program) for f in functions}) == 1
    for f in functions:
        np.testing.assert_allclose(f(np.zeros(2)), [41.0, 41.0])


@given(lengths=st.lists(st.integers(1, 4500), max_size=20), threads=st.integers(1, 5))
def test_parts_hold_each_text_once(lengths, threads):
    parts = parts_for_threads(lengths, threads)
    assert sorted(k for part in parts for k in part) == [*range(len(lengths))]
    assert len(parts) <= threads
    if len(parts) > 1:
        assert sum(lengths) >= 1500 * len(parts)
        assert all(parts)


def test_kernels_of_the_extension_are_made_by_several_threads():
    def compiled():
        x = ft.dvector("x")
        outputs = [x]
        for k in range(4):
            y = outputs[-1].cumsum()
            for step in range(40):
                y = ft.tanh(y) * (1 + step / (k + 2.0))
            outputs.append(y)
        return fz.function([x], outputs[1:], mode="cranelift")

    with fz.compile_threads(1):
        alone = compiled()
    codes = {id(made.code) for made, _ in alone.program.kernels}
    assert len(codes) == 1
    given = np.linspace(-1.0, 1.0, 101)
    expected = alone(given)
    del alone
    with fz.compile_threads(3):
        together = compiled()
    codes = {id(made.code) for made, _ in together.program.kernels}
    assert 1 < len(codes) <= 3
    for found, wanted in zip(together(given), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


AT_EXIT = """
import atexit
import frazil as fz
from frazil.link.toolchain.pool import compile_all

@atexit.register
def late():
    with fz.compile_threads(2):
        print(compile_all(lambda k: k * k, [1, 2, 3]))
"""


def test_kernels_compile_while_the_interpreter_ends():
    run = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "[1, 4, 9]\n", "")
