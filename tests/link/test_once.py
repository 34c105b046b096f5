"""What an exception at any line of a compilation leaves behind keeps nobody waiting."""

import linecache
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.link.toolchain import once as once_module
from frazil.link.toolchain.once import SingleFlight

PACKAGE = str(Path(fz.__file__).parent)
NUMBERS = count(1)


class Interruption:
    """Raises at one of the lines that are run in files below a folder, as Ctrl-C may."""

    def __init__(self, within, line):
        self.within, self.left = within, line

    def __call__(self, frame, event, _):
        file = frame.f_code.co_filename
        if not file.startswith(self.within):
            return None
        # Between the body of a `with` of a lock and its end, the interpreter looks for no signal;
        # only a tracer could raise there.
        if event == "line" and "with _" not in linecache.getline(file, frame.f_lineno):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def interrupted(work, within, line):
    """Whether ``work`` was interrupted at its ``line``-th line."""
    before = sys.gettrace()
    tracer = Interruption(within, line)
    sys.settrace(tracer)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    # An exception in a weak reference's callback or a finalizer is only told.
    return tracer.left <= 0


def in_another_thread(work, seconds=60):
    """What ``work`` gives there; an error if that takes too long."""
    results = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert results, "it waits for somebody"
    return results[0]


def compilation(mode):
    """Compiles a graph that nobody has compiled before, and no kernel of it."""
    x = ft.vector("x")
    number = next(NUMBERS) + os.getpid() / 2**22
    y = ft.exp(x * number)

    def compile_it():
        return fz.function([x], y, mode=mode)

    def check(f):
        np.testing.assert_allclose(f([0.0, 0.001]), np.exp([0.0, 0.001 * number]))

    return compile_it, check


def check_every(mode, within, lines):
    ends = 0
    for line in lines:
        compile_it, check = compilation(mode)
        ends += not interrupted(compile_it, within, line)
        check(in_another_thread(compile_it))
        check(compile_it())
        if ends == 2:
            break
    return ends


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_of_the_work_leaves_nobody_waiting():
    assert check_every("py", once_module.__file__, count(1)) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("mode", "step"), [("py", 150), ("c", 400)])
def test_an_interrupt_at_any_line_of_a_compilation_leaves_nobody_waiting(mode, step):
    assert check_every(mode, PACKAGE, (k * step + k for k in count(1))) == 2


def test_interrupted_work_is_taken_over_at_once():
    def make(flights, *keys):
        return flights.make(keys, {}.get, lambda keys: [key.upper() for key in keys])

    file = once_module.__file__
    for line in count(1):
        flights = SingleFlight()
        was = interrupted(partial(make, flights, "a", "b"), file, line)
        assert in_another_thread(partial(make, flights, "b"), 10) == {"b": "B"}
        assert make(flights, "a") == {"a": "A"}
        assert not flights._running
        if not was:
            break


def test_those_who_wait_for_an_interrupted_one_make_it_themselves():
    file = once_module.__file__
    for line in count(1):
        flights, made = SingleFlight(), threading.Event()

        def slow(keys, made=made):
            made.set()
            threading.Event().wait(0.02)
            return keys

        def first(flights=flights, line=line, slow=slow):
            return interrupted(lambda: flights.make(["a"], {}.get, slow), file, line)

        with ThreadPoolExecutor(2) as threads:
            owner = threads.submit(first)
            made.wait(0.05)
            waiting = threads.submit(flights.make, ["a"], {}.get, lambda keys: keys)
            assert waiting.result(10) == {"a": "a"}
            if not owner.result(10):
                break


def test_work_that_asks_for_itself_is_done_once_more():
    flights = SingleFlight()
    depth = []

    def work(keys):
        depth.append(len(depth))
        if len(depth) < 3:
            return [flights.make(keys, {}.get, work)[key] + 1 for key in keys]
        return [0 for _ in keys]

    assert in_another_thread(lambda: flights.make(["a"], {}.get, work), 10) == {"a": 2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_child_takes_over_what_threads_of_its_parent_began():
    flights = SingleFlight()
    begun, release = threading.Event(), threading.Event()

    def slow(keys):
        begun.set()
        release.wait(30)
        return keys

    thread = threading.Thread(target=flights.make, args=(["a"], {}.get, slow))
    thread.start()
    assert begun.wait(30)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if flights.make(["a"], {}.get, lambda keys: keys) == {"a": "a"} else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    release.set()
    thread.join()
