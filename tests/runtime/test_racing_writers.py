"""Arguments that another thread writes to during a call: nothing is written or read beyond them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Each function is called again and again while another thread writes NaN, zeros of both signs,
# numbers and integers beyond all bounds to what it reads. What a call gives is anything, or an
# error; but positions are those of elements, and nothing else is written to.
RACE = """
import os, sys, threading, time
import numpy as np
import frazil as fz, frazil.tensor as ft

mode, *names = sys.argv[1:]
length = 2_003
x, k = ft.vector("x"), ft.lvector("k")
floats, integers = np.zeros(length), np.zeros(length, dtype="int64")
short = np.zeros((40, 500))
m = ft.matrix("m")

def number(result):
    return (result >= 0).all() and (result < length).all()

def some(result):
    return True

CASES = {
    "sort": (ft.sort(x), [x], some),
    "sort_lines": (ft.sort(m, axis=1), [m], some),
    "argsort": (ft.argsort(x), [x], lambda r: (np.sort(r) == np.arange(length)).all()),
    "argsort_lines": (ft.argsort(m, axis=1), [m],
                      lambda r: (np.sort(r, axis=1) == np.arange(500)).all()),
    "argmax": (ft.argmax(x), [x], number),
    "nonzero": (ft.nonzero(x)[0], [x], number),
    "where_2d": (ft.stack(ft.nonzero(m)), [m], lambda r: (r >= 0).all() and (r < 500).all()),
    "repeat": (ft.repeat(ft.arange(k.shape[0]), k % 3), [k], number),
    "mask": (x[x > 0], [x], some),
    "take": (x[k], [x, k], some),
    "put": (ft.set_subtensor(x[k], 1.0), [x, k], some),
    "add": (ft.inc_subtensor(x[k], x), [x, k], some),
    "slice": (x[k[0] : k[1]], [x, k], some),
    "cumsum": (ft.cumsum(x), [x], some),
    "range": (ft.arange(k[0] % 1000, k[1] % 1000, k[2] % 7 + 1), [k], some),
    "branch": (fz.ifelse(x[0] > 0, x[: k[0] % 7], x[1:]), [x, k], some),
}
pivots, partners = ft.ivector("pivots"), np.zeros(300, dtype="int32")
CASES["lu_solve"] = (ft.linalg.lu_solve((m, pivots), m), [m, pivots], some)

def patterns(array):
    # Made before, so that it is written often.
    rng = np.random.default_rng(1)
    if array.dtype.kind == "f":
        values = [[np.nan], [1.0], [-0.0], [3e300, np.nan], [-0.0, 0.0, np.nan, -1.0]]
        some = [rng.choice(one, array.shape) for one in values]
        near = 1 + rng.integers(0, 9, array.shape) * 2.0**-50
        return [*some, rng.standard_normal(array.shape), np.where(near > 1, near, 1e300)]
    if array.itemsize == 4:
        values = [[0], [1], [0, 299], [0, 300], [-1], [2**31 - 1]]
    else:
        values = [[0], [1], [0, 1, 2, 5], [-1, -length, 3], [length - 1, length], [1 << 40]]
    return [rng.choice(one, array.shape) for one in values]

def write(arrays, ended):
    known = [(array, patterns(array)) for array in arrays]
    order = np.random.default_rng(2).integers(0, 1 << 20, 1000).tolist()
    while not ended.is_set():
        for draw in order:
            for array, made in known:
                array[...] = made[draw % len(made)]

sys.setswitchinterval(1e-5)
for name in names:
    print(name, flush=True)
    output, inputs, holds = CASES[name]
    f = fz.function(inputs, output, mode=mode)
    known = {"x": floats, "k": integers, "m": short, "pivots": partners}
    if name == "lu_solve":
        known["m"] = np.ones((300, 300))
    arguments = [known[one.name] for one in inputs]
    ended = threading.Event()
    writer = threading.Thread(target=write, args=(arguments, ended))
    writer.start()
    try:
        end = time.monotonic() + float(os.environ["SECONDS"])
        while time.monotonic() < end:
            try:
                result = f(*arguments)
            except (IndexError, ValueError, MemoryError, np.linalg.LinAlgError):
                continue
            assert holds(result)
    finally:
        ended.set()
        writer.join()
print("done")
"""

NAMES = [
    "sort",
    "sort_lines",
    "argsort",
    "argsort_lines",
    "argmax",
    "nonzero",
    "where_2d",
    "repeat",
    "mask",
    "take",
    "put",
    "add",
    "slice",
    "cumsum",
    "range",
    "branch",
    "lu_solve",
]


@pytest.mark.parametrize(("mode", "names"), [("c", NAMES), ("numba", ["take", "put", "add"])])
def test_what_another_thread_writes_does_no_harm(mode, names):
    # A longer time finds rarer faults.
    environment = {"SECONDS": "0.3", **os.environ, "MALLOC_CHECK_": "3"}
    command = [sys.executable, "-c", RACE, mode, *names]
    # The limit is for what hangs: on a busy machine two minutes were too few.
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [*names, "done"]
