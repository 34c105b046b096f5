"""Forks a process whose threads build, rewrite, freeze, print and call: no child may hang.

``python tests/core/forks_under_load.py [forks]`` runs in bounded time: a child has as many
seconds as ``PATIENCE`` says.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback

import numpy as np

import frazil as fz
import frazil.tensor as ft

PATIENCE = 30.0
"""Seconds after which a child that has not ended hangs."""

x, y = ft.vector("x"), ft.vector("y")
compiled = fz.function([x], ft.exp(x) * 2, mode="py")
shared_graph = fz.FunctionGraph([x, y], [x + -y])


def build(count: int) -> fz.Variable:
    return ft.stack([(x + -(y + float(i))).sum() for i in range(count)])


def work(turn: int) -> None:
    """Takes every lock that there is, for a moment each."""
    rewritten = fz.rewrite.rewrite(build(20)).graph
    graph = fz.FunctionGraph([x, y], [rewritten])
    graph.freeze().unfreeze().toposort()
    shared_graph.outputs, shared_graph.freeze().toposort()
    assert compiled(np.zeros(3))[0] == 2
    x[turn % 1000 :], ft.vector(shape=(turn % 1000,))
    with fz.Container() as container:
        z = ft.vector("z")
        assert (z + 1) in container


def until_done(stop: threading.Event, seed: int) -> None:
    turn = seed
    while not stop.is_set():
        work(turn)
        turn += 7


def child() -> None:
    for turn in range(3):
        work(turn)
    double = fz.function([x], ft.tanh(x) + 1, mode="py")
    assert double(np.zeros(2))[0] == 1


def ends_well(child: int) -> bool:
    """Whether a child ends in time and without an error."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def failures(forks: int, threads: int = 3) -> int:
    """How many of so many forked children fail or hang while threads are at work."""
    stop = threading.Event()
    others = [threading.Thread(target=until_done, args=(stop, seed)) for seed in range(threads)]
    for other in others:
        other.start()
    failed = 0
    for _ in range(forks):
        time.sleep(0.001)
        forked = os.fork()
        if forked == 0:
            try:
                child()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        failed += not ends_well(forked)
    stop.set()
    for other in others:
        other.join()
    return failed


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    failed = failures(count)
    print(f"{count} forks, {failed} failed or hung")
    sys.exit(failed > 0)
