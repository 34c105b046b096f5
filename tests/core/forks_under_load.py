"""Forks a process whose threads build, rewrite, freeze, print, call and write: no child may hang.

``python tests/core/forks_under_load.py [forks]`` runs in bounded time: a child has as many
seconds as ``PATIENCE`` says. Of a child that fails it tells how, and where its threads were.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO

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


def compile_until_done(stop: threading.Event) -> None:
    """Keeps the thread busy that writes programs to the cache."""
    turn = 0
    while not stop.is_set():
        fz.function([x], ft.exp(x) + turn, mode="py")
        turn += 1
        time.sleep(0.001)


def child(log: IO[str]) -> None:
    faulthandler.enable(log)
    # Some seconds before it is killed, a child tells where all its threads are.
    faulthandler.dump_traceback_later(0.8 * PATIENCE, file=log)
    for turn in range(3):
        work(turn)
    double = fz.function([x], ft.tanh(x) + 1, mode="py")
    assert double(np.zeros(2))[0] == 1


def run_child(log: IO[str]) -> None:
    """Do what a child does, and end it."""
    try:
        child(log)
    except BaseException:
        traceback.print_exc(file=log)
        log.flush()
        os._exit(1)
    os._exit(0)


def failure(child: int) -> str | None:
    """How a child failed; None if it ended in time and without an error."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code == 0:
                return None
            return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        time.sleep(0.002)
    waits = "\n".join(native_threads(child))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"not done after {PATIENCE:g} seconds; its threads:\n{waits}"


def native_threads(process: int) -> Iterator[str]:
    """For each thread: its state, the time that it took, and what the system does for it.

    A thread that waits for a lock sleeps in a futex; one in a loop without an end runs.
    """
    for thread in sorted(Path(f"/proc/{process}/task").glob("*")):
        told = [thread.name]
        for name in ("comm", "stat", "wchan", "syscall"):
            with contextlib.suppress(OSError):
                text = (thread / name).read_text().strip()
                if name == "stat":  # the state, and the ticks as a user and in the system
                    values = text.rpartition(")")[2].split()
                    text = f"{values[0]} {values[11]} {values[12]}"
                told.append(f"{name}: {text}")
        yield "  " + ", ".join(told)


def failures(forks: int, threads: int = 3) -> list[str]:
    """How forked children fail or hang while threads are at work."""
    stop = threading.Event()
    others = [threading.Thread(target=until_done, args=(stop, seed)) for seed in range(threads)]
    others.append(threading.Thread(target=compile_until_done, args=(stop,)))
    for other in others:
        other.start()
    failed: list[str] = []
    for number in range(forks):
        time.sleep(0.001)
        with tempfile.TemporaryFile("w+") as log:
            forked = os.fork()
            if forked == 0:
                run_child(log)
            how = failure(forked)
            if how is not None:
                log.seek(0)
                failed.append(f"fork {number}: {how}\n{log.read()}")
    stop.set()
    for other in others:
        other.join()
    return failed


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    failed = failures(count)
    print(*failed, sep="\n")
    print(f"{count} forks, {len(failed)} failed or hung")
    sys.exit(bool(failed))
