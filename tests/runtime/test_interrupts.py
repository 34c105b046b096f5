"""Ctrl-C during one long step: the call is back soon after the signal, whatever the step does."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.linalg import CholeskyGradient
from frazil.tensor.repetition import RepeatedPositions

AFTER = 0.03
"""Seconds of the processor after which the signal comes; each call takes many times as long."""

BOUND = 0.5
"""Seconds of the processor in which the call is back then, of all threads of the process; a few
hundredths are usual. What else runs on the machine does not count."""


class Stop(Exception):
    """What the handler of the signal raises."""


def returns_after(f, *arguments):
    """Seconds of the processor from a signal during a call until the call is back."""

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGPROF, stop)
    try:
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, AFTER)
        with pytest.raises(Stop):
            f(*arguments)
        return time.process_time() - start - AFTER
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def same(value, *shape):
    """An array as large as one likes: all its elements are one."""
    return np.broadcast_to(value, shape)


def numbers(*shape, dtype="float64"):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


x, m, k = ft.vector("x"), ft.matrix("m"), ft.lvector("k")
n, t = ft.lmatrix("n"), ft.tensor3("t")
ENDLESS = 1 << 50


def _power(m):
    steps = {"n_steps": 100_000, "return_updates": False}
    return fz.scan(lambda a: a @ m, outputs_info=[m], **steps)[-1]


CASES = {
    # Arrays of one element have no end, and take no memory.
    "sum": lambda: ([x], ft.exp(x).sum(), [same(1.0, ENDLESS)]),
    "sum of rows": lambda: ([m], m.sum(), [same(1.0, 1 << 25, 1 << 25)]),
    "sum of short rows": lambda: ([m, x], (m * x).sum(), [same(1.0, 1 << 48, 3), np.ones(3)]),
    "sum of columns": lambda: ([m], m.sum(axis=0), [same(1.0, 1 << 48, 3)]),
    "max": lambda: ([x], x.max(), [same(1.0, ENDLESS)]),
    "all": lambda: ([x], (x > 0).all(), [same(1.0, ENDLESS)]),
    "any": lambda: ([x], (x < 0).any(), [same(1.0, ENDLESS)]),
    "argmax": lambda: ([x], ft.argmax(x), [same(1.0, ENDLESS)]),
    "argmin of columns": lambda: ([m], ft.argmin(m, axis=0), [same(1.0, 1 << 48, 3)]),
    "nonzero": lambda: ([x], ft.nonzero(x)[0], [same(0.0, ENDLESS)]),
    "nonzero of rows": lambda: ([m], ft.nonzero(m)[0], [same(0.0, 1 << 40, 2)]),
    "repeats": lambda: ([k], RepeatedPositions()(k), [same(0, ENDLESS)]),
    "dot of integers": lambda: ([k], ft.dot(k, k), [same(2, ENDLESS)]),
    "product of integers": lambda: ([n], ft.dot(n, n.T), [same(2, 8, 1 << 40)]),
    # Others are as large as they must be to take long.
    "sort": lambda: ([x], ft.sort(x), [numbers(15_000_000)]),
    "argsort": lambda: ([x], ft.argsort(x), [numbers(15_000_000)]),
    "sort of lines": lambda: ([m], ft.sort(m, axis=1), [numbers(100_000, 500)]),
    "dot": lambda: ([m], m @ (m + 1.0), [numbers(4000, 4000)]),
    "dot with itself": lambda: ([m], m @ m.T, [numbers(5000, 5000)]),
    "many products": lambda: (
        [t],
        t @ ft.permute_dims(t, (0, 2, 1)),
        [same(1.0, 1 << 24, 1, 600)],
    ),
    "system": lambda: (
        [m],
        ft.linalg.solve_triangular(m, m + 1.0),
        [numbers(4000, 4000) + 9e3 * np.eye(4000)],
    ),
    "gradient of a factor": lambda: ([m], CholeskyGradient()(m, m), [np.eye(4000)]),
    "steps": lambda: ([m], _power(m), [numbers(300, 300)]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_long_step_is_interrupted(case):
    inputs, output, arguments = CASES[case]()
    f = fz.function(inputs, output, mode="c")
    assert returns_after(f, *arguments) < BOUND


@pytest.mark.parametrize("case", ["sum", "sum of rows", "max"])
def test_a_long_kernel_of_numba_is_interrupted(case):
    inputs, output, arguments = CASES[case]()
    f = fz.function(inputs, output, mode="numba")
    assert returns_after(f, *arguments) < BOUND
