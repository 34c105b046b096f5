"""Forks: what other threads held when the process forked is free in the child."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.graph.cached_property import cached_property
from frazil.link.toolchain.once import SingleFlight

FORKS = Path(__file__).with_name("forks_under_load.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work):
    """Whether ``work`` gives something true in a forked child, which has 30 seconds for it."""
    child = os.fork()
    if child == 0:
        threading.Timer(30, os._exit, (2,)).start()
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(3)
    return exit_code(child) == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_finds_no_lock_held():
    command = [sys.executable, "-W", "ignore", str(FORKS), "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_claims_what_a_thread_of_its_parent_was_making():
    flights = SingleFlight()
    begun, end = threading.Event(), threading.Event()

    def slowly(keys):
        begun.set()
        end.wait()
        return [len(key) for key in keys]

    def nothing(key):
        return None

    maker = threading.Thread(target=flights.make, args=(["abc"], nothing, slowly))
    maker.start()
    begun.wait()
    try:
        made = in_child(
            lambda: flights.make(["abc"], nothing, lambda keys: [7 for _ in keys]) == {"abc": 7}
        )
    finally:
        end.set()
        maker.join()
    assert made


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_compiles_while_a_thread_of_its_parent_does():
    x = ft.vector("x")
    stop = threading.Event()

    def compile_on(turn=0):
        while not stop.is_set():
            turn += 1
            fz.function([x], ft.exp(x) * turn, mode="py")

    compiler = threading.Thread(target=compile_on)
    compiler.start()
    try:
        for turn in range(3):
            time.sleep(0.01)
            assert in_child(
                lambda turn=turn: (
                    fz.function([x], x * turn + 1, mode="py")(np.ones(2))[0] == turn + 1
                )
            )
    finally:
        stop.set()
        compiler.join()


class Slow:
    def __init__(self):
        self.begun, self.end = threading.Event(), threading.Event()

    @cached_property
    def value(self):
        self.begun.set()
        self.end.wait()
        return 3


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_works_out_what_a_thread_of_its_parent_was_working_out():
    slow, other = Slow(), Slow()
    other.end.set()
    worker = threading.Thread(target=lambda: slow.value)
    worker.start()
    slow.begun.wait()
    try:
        assert in_child(lambda: slow.end.set() or slow.value == other.value == 3)
    finally:
        slow.end.set()
        worker.join()


def test_attributes_wait_for_no_lock_of_functools():
    sources = [source.read_text() for source in Path(fz.__file__).parent.rglob("*.py")]
    decorated = [source for source in sources if "    @cached_property\n    def " in source]
    assert len(decorated) > 5
    own = "from frazil.graph.cached_property import cached_property\n"
    assert all(own in source for source in decorated)


FIRST_USE = """
import ctypes, os, signal, threading
import numpy as np
import frazil as fz

begun, end, cast = threading.Event(), threading.Event(), ctypes.cast

def slow_cast(*arguments):
    if threading.current_thread() is worker:
        begun.set()
        end.wait()
    return cast(*arguments)

# What looks for a function of CPython, once in a process, calls this.
ctypes.cast = slow_cast
double = fz.jit(lambda x: x * 2)
worker = threading.Thread(target=double, args=(np.ones(3),))
worker.start()
assert begun.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if double(np.ones(3))[0] == 2 else 1)
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
end.set()
worker.join()
assert ended == 0, ended
"""


def test_a_child_waits_for_no_first_use_of_its_parent():
    command = [sys.executable, "-W", "ignore", "-c", FIRST_USE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_cell_of_pyo3_holds_what_is_made_once():
    folder = Path(__file__).parents[2] / "rust" / "py" / "src"
    sources = [source.read_text() for source in folder.rglob("*.rs")]
    assert len(sources) > 20
    assert not any("PyOnceLock" in source for source in sources)


def test_no_cell_that_is_filled_without_the_gil_lets_others_wait():
    """A child would wait for ever for a thread of its parent that was filling such a cell."""
    folder = Path(__file__).parents[2] / "rust"
    sources = [
        source
        for crate in ("core", "runtime", "codegen")
        for source in (folder / crate / "src").rglob("*.rs")
    ]
    assert len(sources) > 100
    waiting = re.compile(r"\b(OnceLock|LazyLock)\b[<:]")
    assert not [source.name for source in sources if waiting.search(source.read_text())]
