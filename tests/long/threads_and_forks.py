"""Threads that make, freeze, rewrite, compile and drop graphs at once, and fork meanwhile.

The graphs of all threads are equal or share nodes, so each is found by one thread while another one
drops it. A child of a fork must be able to do all of this, too.

A lock that a thread holds for a moment is found held by one fork in thousands. So threads also give
many Python objects back at a time, without the GIL, and the process forks as often as it can.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import signal
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from search import main

import frazil as fz
import frazil.tensor as ft
from frazil._core import FrozenApply, FunctionGraph

PATIENCE = 60.0  # seconds for what takes milliseconds


def rewritten(rng: random.Random) -> None:
    x, y = shared_inputs()
    out = ft.stack([x + -(y + float(i)) for i in range(rng.randint(1, 30))])
    fz.rewrite.rewrite(out)


def frozen(rng: random.Random) -> None:
    x, y = shared_inputs()
    graph = fz.FunctionGraph([x, y], [x * y + ft.exp(x + rng.randint(0, 3))]).freeze()
    assert pickle.loads(pickle.dumps(graph)) is graph


def compiled(rng: random.Random) -> None:
    x = ft.vector()
    k = rng.randint(0, 5)
    f = fz.function([x], ft.sin(x).sum() * k, mode="py")
    np.testing.assert_allclose(f([1.0, 2.0]), np.sin([1.0, 2.0]).sum() * k)


def differentiated(rng: random.Random) -> None:
    x = ft.vector()
    loop, _ = fz.scan(lambda s: ft.tanh(s) * rng.randint(1, 3), outputs_info=[x], n_steps=3)
    fz.grad(loop.sum(), x)


def dropped(rng: random.Random) -> None:
    x, _ = shared_inputs()
    made = [x + float(k) for k in range(rng.randint(1, 50))]
    handles = [weakref.ref(v) for v in made]
    again = [x + float(k) for k in range(len(made))]
    assert all(one is other for one, other in zip(made, again, strict=True))
    del made, again
    for handle in handles:
        handle()


def indexed(rng: random.Random) -> None:
    x, _ = shared_inputs()
    kept = [x[k:] for k in range(rng.randint(1, 40))]
    assert all(x[k:] is part for k, part in enumerate(kept))
    _ = ft.tensor(shape=(rng.randint(1, 10**6),), dtype="float64")


@dataclass(frozen=True, eq=False)
class Copies(fz.Op):
    """Many arrays, of which a program that needs one drops the others at once."""

    count: int

    def make_node(self, x: fz.Variable) -> FrozenApply:
        return FrozenApply(self, [x], [x.type] * self.count)

    def perform(self, node: Any, inputs: Any) -> Any:
        return tuple(inputs[0] + k for k in range(self.count))


_copies = ft.vector("copies")
_last = fz.function([_copies], Copies(400)(_copies)[-1], mode="py")


def given_back(rng: random.Random) -> None:
    assert _last([float(rng.randint(0, 9))])[0] >= 399
    cells = [fz.shared(np.zeros(1)) for _ in range(300)]
    graph = FunctionGraph(cells, [ft.stack(cells)])
    del cells, graph


WORK: list[Callable[[random.Random], None]] = [
    *(rewritten, frozen, compiled, differentiated, dropped, indexed, given_back)
]
_inputs = (ft.vector("x"), ft.vector("y"))


def shared_inputs() -> tuple[fz.Variable, fz.Variable]:
    """Inputs that all threads build on."""
    return _inputs


def case(seed: int) -> None:
    """Half a second of work by several threads, with forks from one of them."""
    rng = random.Random(seed)
    errors: list[BaseException] = []
    end = time.monotonic() + 0.5

    def work(own: random.Random) -> None:
        try:
            while time.monotonic() < end:
                own.choice(WORK)(own)
                given_back(own)
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=work, args=[random.Random(rng.getrandbits(32))])
        for _ in range(rng.randint(2, 8))
    ]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        time.sleep(rng.random() * 0.002)
        fork(rng.getrandbits(32))
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]
    gc.collect()


def fork(seed: int) -> None:
    """Fork, have the child do some work, and wait for it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            rng = random.Random(seed)
            for work in rng.sample(WORK, 2):
                work(rng)
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, f"a child ended with {status}"
            return
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("a child hangs")


if __name__ == "__main__":
    main("threads and forks", case)
