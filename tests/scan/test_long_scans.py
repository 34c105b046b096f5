"""Scans of many steps: one kernel does them in pieces, and Ctrl-C ends them."""

import os
import subprocess
import sys
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ("c", "cranelift", "numba")


def mixed(state, x):
    """A step whose every bit depends on all steps before it."""
    return (state * 31 + x) % 10_007


@cache
def scan(mode, *, backwards, ends):
    """The states of all steps, the last one, and the number of steps."""
    xs, start, end = ft.lvector("xs"), ft.lscalar("start"), ft.lscalar("end")

    def step(x, state, done):
        state, done = mixed(state, x), done + 1
        return [state, done], fz.until(ft.ge(done, end)) if ends else {}

    (states, done), _ = fz.scan(
        step,
        sequences=[xs],
        outputs_info=[start, ft.constant(0, dtype="int64")],
        go_backwards=backwards,
    )
    outputs = [states, states[-1], done[-1]]
    f = fz.function([xs, start, end], outputs, mode=mode, on_unused_input="ignore")
    assert sum(" scan k" in line for line in str(f.explain()).splitlines()) == 1
    return f


@settings(max_examples=30)
@given(
    n=st.integers(1, 40_000),
    end=st.integers(1, 45_000),
    seed=st.integers(0, 9),
    stride=st.sampled_from([1, 2, -1]),
    backwards=st.booleans(),
    ends=st.booleans(),
    mode=st.sampled_from(MODES),
)
@example(n=30_000, end=8192, seed=0, stride=1, backwards=False, ends=True, mode="c")
@example(n=30_000, end=8193, seed=0, stride=1, backwards=False, ends=True, mode="c")
@example(n=16_384, end=16_384, seed=0, stride=1, backwards=True, ends=True, mode="numba")
def test_pieces_are_one_scan(n, end, seed, stride, backwards, ends, mode):
    xs = np.random.default_rng(seed).integers(0, 1000, 2 * n)[::stride][:n]
    rows = xs[::-1] if backwards else xs
    rows = rows[: min(n, end)] if ends else rows
    wanted = list(accumulate(map(int, rows), mixed, initial=seed))[1:]
    states, last, done = scan(mode, backwards=backwards, ends=ends)(xs, seed, end)
    assert done == len(wanted)
    assert last == wanted[-1]
    np.testing.assert_array_equal(states, wanted)


INTERRUPT = """
import os, signal, threading, time
import numpy as np
import frazil as fz, frazil.tensor as ft

mode, kind = os.environ["MODE"], os.environ["KIND"]
size = 20_000 if kind == "blocks" else 3
total = fz.shared(0.0, name="total")
n, m = ft.lscalar("n"), ft.lscalar("m")
start = ft.constant(np.zeros(3)) if kind == "kernel" else ft.zeros(m)
states, _ = fz.scan(lambda state: 0.5 * state + 1.0, outputs_info=[start], n_steps=n)
last = states[-1].sum()
f = fz.function([n, m], last, mode=mode, updates={total: total + last}, on_unused_input="ignore")
assert (" scan k" in str(f.explain())) == (kind == "kernel"), str(f.explain())
once = f(10, size)
assert total.get_value() == once > 0
begun = []

def interrupt():
    begun.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.3, interrupt).start()
try:
    f(10**14, size)
except KeyboardInterrupt:
    print(time.process_time() - begun[0])
assert total.get_value() == once
f(10, size)
assert total.get_value() == 2 * once
"""


@pytest.mark.parametrize("kind", ["kernel", "program", "blocks"])
@pytest.mark.parametrize("mode", MODES)
def test_an_interrupt_ends_a_scan_and_leaves_shared_variables_alone(mode, kind):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT],
        env={**os.environ, "MODE": mode, "KIND": kind},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Of the processors' time: what else runs on the machine does not count.
    assert float(done.stdout) < 0.05 * (os.cpu_count() or 1)
