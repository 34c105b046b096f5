"""When programs are written to disk: soon after the first result, and before an exit."""

import _thread
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.cache.store import find_store
from frazil.link.toolchain import keeping


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """A cache for each test, and nothing that waits to be written."""
    monkeypatch.setenv("FRAZIL_CACHE_DIR", str(tmp_path / "cache"))
    keeping.finish()


def kept():
    """How many programs are on disk."""
    return len(find_store().entries())


def compiled(number):
    x = ft.vector("x")
    return fz.function([x], ft.exp(x) + number, mode="py")


def test_nobody_waits_for_the_disk(monkeypatch):
    monkeypatch.setattr(keeping, "_PAUSE", 1000.0)
    monkeypatch.setattr(keeping, "_writer", keeping._Writer())
    f = compiled(1.0)
    assert (kept(), f([0.0])) == (0, 2.0)
    keeping.finish("another")
    assert kept() == 0
    keeping.finish()
    assert kept() == 1
    keeping.finish()


def test_a_thread_writes_what_was_compiled_and_ends(monkeypatch):
    monkeypatch.setattr(keeping, "_PAUSE", 0.001)
    writer = keeping._Writer()
    monkeypatch.setattr(keeping, "_writer", writer)
    for number in (2.0, 3.0):
        before = kept()
        compiled(number)
        end = time.monotonic() + 60
        while (kept() == before or writer._jobs) and time.monotonic() < end:
            time.sleep(0.001)
        assert kept() == before + 1
    assert not writer._jobs


def test_what_is_asked_for_again_is_written_first(monkeypatch):
    monkeypatch.setattr(keeping, "_PAUSE", 1000.0)
    monkeypatch.setattr(keeping, "_writer", keeping._Writer())
    assert compiled(4.0).compiled.found == "made"
    assert compiled(5.0).compiled.found == "made"
    assert compiled(4.0).compiled.found == "disk"


def test_a_thread_that_cannot_start_leaves_it_to_the_exit(monkeypatch):
    def start(work, arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(keeping, "_writer", keeping._Writer())
    with monkeypatch.context() as without:
        without.setattr(_thread, "start_new_thread", start)
        assert compiled(6.0)([0.0]) == 7.0
    assert kept() == 0
    compiled(7.0)
    keeping.finish()
    assert kept() == 2


ENDS = """
import os, sys
import frazil as fz, frazil.tensor as ft
x = ft.vector("x")
f = fz.function([x], ft.exp(x) + 8.0, mode="py")
f([0.0])
if "forks" in sys.argv:
    child = os.fork()
    if child == 0:  # it has no thread, and compiles on
        g = fz.function([x], ft.exp(x) + 9.0, mode="py")
        del g
        fz.function([x], ft.exp(x) + 9.0, mode="py")([0.0])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize(("does", "count"), [("exits", 1), ("forks", 2)])
def test_an_exit_writes_what_is_left(does, count):
    subprocess.run([sys.executable, "-c", ENDS, does], timeout=60, check=True)
    assert kept() == count


CHILDREN = """
import multiprocessing, sys
import frazil as fz, frazil.tensor as ft
from frazil.link.toolchain import keeping

def work():
    keeping._PAUSE = 1000.0
    x = ft.vector("x")
    fz.function([x], ft.exp(x) + 10.0, mode="py")([0.0])

if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    child.start()
    child.join()
    assert child.exitcode == 0
"""


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_a_child_of_multiprocessing_writes_what_is_left(start, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CHILDREN)
    subprocess.run([sys.executable, program, start], timeout=60, check=True)
    assert kept() == 1
