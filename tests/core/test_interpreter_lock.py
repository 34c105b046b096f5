"""Short work on graphs keeps the interpreter's lock: giving it away for a moment costs far more."""

from __future__ import annotations

import sys
import sysconfig
import threading

import pytest

import frazil as fz
import frazil.tensor as ft

x = ft.vector("x")


def chain(number: int, length: int) -> fz.Variable:
    y = x
    for k in range(length):
        y = y * (number + k / 32)
    return y


def freeze(number: int, length: int) -> None:
    fz.FrozenFunctionGraph([x], [chain(number, length)])


def freeze_from_graph(number: int, length: int) -> None:
    graph = fz.FunctionGraph([x], [chain(number, length)])
    graph.replace({x: ft.exp(x)})
    graph.freeze().unfreeze()


def rewrite(number: int, length: int) -> None:
    fz.rewrite.rewrite(ft.exp(ft.log(chain(number, length) + 0.0)))


def another_ran(work, length: int) -> bool:
    """Whether another thread got the lock while this one worked, if nobody takes it by force."""
    interval, gate, turns = sys.getswitchinterval(), threading.Lock(), []
    started = threading.Event()

    def other() -> None:
        started.set()
        with gate:
            turns.append(None)

    work(-1, length)
    gate.acquire()
    thread = threading.Thread(target=other)
    sys.setswitchinterval(1e3)
    try:
        thread.start()
        started.wait()  # the other thread goes on until it waits at the gate
        gate.release()
        for number in range(1000):
            work(number, length)
            if turns:
                break
        return bool(turns)
    finally:
        sys.setswitchinterval(interval)
        thread.join()


if not sysconfig.get_config_var("Py_GIL_DISABLED"):  # there is no lock to keep

    @pytest.mark.parametrize(
        ("work", "length"), [(freeze, 55), (freeze_from_graph, 55), (rewrite, 8)]
    )
    def test_short_work_keeps_the_lock(work, length):
        assert not another_ran(work, length)

    @pytest.mark.parametrize("work", [freeze, freeze_from_graph, rewrite])
    def test_long_work_gives_the_lock_away(work):
        assert another_ran(work, 2000)
