"""One function called by many threads: who waits for whom, and that none sees another's values."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft


def counting(mode):
    """A function that makes so many steps, which its arguments alone tell."""
    n, start = ft.lscalar("n"), ft.dscalar("start")
    states, _ = fz.scan(lambda state: 0.5 * state + 1.0, outputs_info=[start], n_steps=n)
    return fz.function([n, start], states[-1], mode=mode)


def test_a_call_that_is_long_for_once_leaves_the_interpreter_to_others(mode):
    f = counting(mode)
    for _ in range(200):
        f(2, 0.0)  # the last of these calls were brief
    steps, seconds = 1000, 0.0
    while seconds < 0.3:
        steps *= 4
        started = time.perf_counter()
        f(steps, 0.0)
        seconds = time.perf_counter() - started
        f(2, 0.0)
    begun, ended = threading.Event(), threading.Event()

    def call():
        f(2, 0.0)
        begun.set()
        f(steps, 0.0)
        ended.set()

    thread = threading.Thread(target=call)
    thread.start()
    begun.wait()
    turns = 0
    while not ended.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns >= 5, f"{turns} turns while a call of about {seconds:.1f} s ran"


@settings(max_examples=10)
@given(
    mode=st.sampled_from(["py", "c"]),
    lengths=st.lists(st.sampled_from([0, 1, 8, 300, 70_000]), min_size=2, max_size=6),
)
def test_calls_at_once_give_what_calls_one_after_the_other_do(mode, lengths):
    x = ft.vector("x")
    f = fz.function([x], [ft.exp(-x) * 2.0, x.sum()], mode=mode)
    values = [np.linspace(0.0, 1.0 + k, length) for k, length in enumerate(lengths)]
    wanted = [f(value) for value in values]
    together = threading.Barrier(len(values), timeout=60)

    def call(k):
        together.wait()
        for _ in range(40):
            for result, expected in zip(f(values[k]), wanted[k], strict=True):
                np.testing.assert_array_equal(result, expected)
            other = (k + 1) % len(values)
            np.testing.assert_array_equal(f(values[other])[1], wanted[other][1])

    with ThreadPoolExecutor(len(values)) as threads:
        list(threads.map(call, range(len(values))))


@pytest.mark.parametrize("mode", ["py", "c"])
def test_threads_that_come_and_go_leave_one_binding(mode):
    x = ft.vector("x")
    f = fz.function([x], ft.exp(x) + 1.0, mode=mode)
    values = np.zeros(8)
    for _ in range(30):
        thread = threading.Thread(target=f, args=(values,))
        thread.start()
        thread.join()
    told = f.explain()
    assert (told.bindings, told.hits) == (1, 29)


@pytest.mark.parametrize("threads", [2, 8])
def test_no_increment_is_lost(threads):
    total = fz.shared(0.0)
    count = fz.function([], [], updates=[(total, total + 1.0)], mode="c")

    def work(_):
        for _ in range(200):
            count()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    assert total.get_value() == 200 * threads
