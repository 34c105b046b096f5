"""Handlers of signals that run in the middle of a trace are not taken for what is traced."""

import functools
import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest

import frazil as fz

ran = []
limit = 1


def note(*_):
    with open(os.devnull):  # a traced function that opens files cannot be compiled
        ran.append(1)


class Noting:
    def method(self, number, frame):
        note()

    def __call__(self, number, frame):
        (lambda: note())()


def raise_limit(number, frame):
    global limit
    limit = 2
    note()


HANDLERS = {
    "function": lambda number, frame: note(),
    "starred": lambda *both: note(),
    "method": Noting().method,
    "object": Noting(),
    "partial": functools.partial(lambda own, number, frame: note(), 1),
}


@contextmanager
def handled(handler):
    """Raise signals every millisecond; each runs the handler."""
    before = signal.signal(signal.SIGALRM, handler)
    ran.clear()
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def slow(x):
    for _ in range(400_000):
        y = x
    return y * 2


def slow_with_limit(x):
    y = x
    for _ in range(400_000):
        y = x
    return y * limit


@pytest.mark.parametrize("name", HANDLERS)
def test_handlers_leave_a_function_compiled(name):
    f = fz.jit(slow, captures="error", mode="py")
    with handled(HANDLERS[name]):
        f(np.ones(2))
    assert ran
    assert (f.cache_info().entries, f.explain().uncacheable) == (1, ())


@pytest.mark.parametrize("captures", ["guard", "bind"])
def test_what_a_handler_changes_is_not_what_the_function_changes(captures):
    global limit
    limit = 1
    f = fz.jit(slow_with_limit, captures=captures, mode="py")
    x = np.ones(2)
    with handled(raise_limit):
        found = f(x)[0]
    assert ran
    assert found in (1.0, 2.0)
    assert f.explain().uncacheable == ()
    assert f(x)[0] == 2.0
    assert f(x)[0] == 2.0
    assert f.cache_info().entries == 1


def test_a_handler_that_the_function_calls_is_watched():
    def fn(x):
        note(1, None)
        return x * 2

    f = fz.jit(fn, mode="py")
    f(np.ones(2))
    assert any("open is called" in reason for reason in f.explain().uncacheable)
