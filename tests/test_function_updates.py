"""Calls that update shared variables, and run at once, do as if one came after the other."""

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft


def in_threads(*works):
    """Run functions at once, each in a thread that is often put aside."""
    failures = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]


def test_no_update_is_lost(mode):
    x = ft.vector("x")
    calls, total = fz.shared(0, name="calls"), fz.shared(np.zeros(3), name="total")
    f = fz.function([x], calls, updates={calls: calls + 1, total: total + ft.exp(x)}, mode=mode)
    seen = []
    in_threads(*[lambda: seen.extend(int(f(np.zeros(3))) for _ in range(60))] * 8)
    assert calls.get_value() == 480
    np.testing.assert_array_equal(total.get_value(), np.full(3, 480.0))
    assert sorted(seen) == list(range(480))


def test_nobody_sees_some_of_the_updates_of_a_call(mode):
    a, b = fz.shared(0, name="a"), fz.shared(0, name="b")
    step = fz.function([], updates={a: a + 1, b: b + 1}, mode=mode)
    both = fz.function([], [a, b], mode=mode)
    seen = []

    def look():
        seen.extend(both() for _ in range(200))

    in_threads(*[lambda: [step() for _ in range(50)]] * 2, look, look)
    assert [int(x) for x in both()] == [100, 100]
    assert all(x == y for x, y in seen)


def test_different_functions_with_the_same_variable(mode):
    x = fz.shared(0, name="x")
    up = fz.function([], updates={x: x + 3}, mode=mode)
    down = fz.function([], updates={x: x - 1}, mode=mode)
    in_threads(*[lambda: [up() for _ in range(50)], lambda: [down() for _ in range(150)]] * 3)
    assert x.get_value() == 0


@dataclass(frozen=True, eq=False)
class Meanwhile(fz.Op):
    """Gives what it is given; what :attr:`does` holds is called first."""

    does: ClassVar[list[Callable[[], Any]]] = []

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        for work in self.does:
            work()
        return (inputs[0],)


@pytest.fixture
def meanwhile():
    """What happens while a call runs."""
    yield Meanwhile.does
    Meanwhile.does.clear()


def test_a_value_set_in_the_meantime_counts(mode, meanwhile):
    total = fz.shared(1.0, name="total")
    f = fz.function([], total, updates={total: Meanwhile()(total) * 2}, mode=mode)
    runs = []

    def once():
        runs.append(None)
        if len(runs) == 1:
            in_threads(lambda: total.set_value(10.0))

    meanwhile.append(once)
    assert f() == 10.0
    assert total.get_value() == 20.0
    assert len(runs) == 2


def test_a_variable_that_is_not_read_is_stored_at_once(mode, meanwhile):
    x = ft.dscalar("x")
    latest = fz.shared(0.0, name="latest")
    f = fz.function([x], updates={latest: Meanwhile()(x)}, mode=mode)
    runs = []
    meanwhile.append(lambda: (runs.append(None), in_threads(lambda: latest.set_value(7.0))))
    f(3.0)
    assert latest.get_value() == 3.0
    assert len(runs) == 1


def test_a_call_within_a_call_comes_first(mode, meanwhile):
    total = fz.shared(1.0, name="total")
    f = fz.function([], total, updates={total: Meanwhile()(total) * 2}, mode=mode)
    inner = fz.function([], updates={total: total + 5}, mode=mode)
    meanwhile.append(inner)
    assert f() == 1.0
    assert total.get_value() == 2.0


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_a_call_that_wrote_to_its_argument_does_not_start_again(mode, meanwhile):
    x = ft.vector("x")
    total = fz.shared(np.zeros(2), name="total")
    increased = Meanwhile()(total) + ft.inc_subtensor(x[0], 1.0)
    f = fz.function([fz.In(x, mutable=True)], updates={total: increased}, mode=mode)
    meanwhile.append(lambda: in_threads(lambda: total.set_value([7.0, 7.0])))
    with pytest.raises(RuntimeError, match=r"another call updated total .*mutable=True"):
        f(np.zeros(2))
    np.testing.assert_array_equal(total.get_value(), [7.0, 7.0])
    meanwhile.clear()
    f(np.zeros(2))
    np.testing.assert_array_equal(total.get_value(), [8.0, 7.0])


def test_a_failure_after_a_new_start_stores_nothing(mode, meanwhile):
    total, other = fz.shared(1.0, name="total"), fz.shared(5.0, name="other")
    x = Meanwhile()(total)
    f = fz.function([], updates={total: x * 2, other: other + 1}, mode=mode)
    runs = []

    def fail_the_second_time():
        runs.append(None)
        if len(runs) == 2:
            raise ArithmeticError("not again")
        in_threads(lambda: total.set_value(3.0))

    meanwhile.append(fail_the_second_time)
    with pytest.raises(ArithmeticError, match="not again"):
        f()
    assert (total.get_value(), other.get_value()) == (3.0, 5.0)
