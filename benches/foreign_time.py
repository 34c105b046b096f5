"""How long functions that are not ours take after a kernel of ours.

    python benches/foreign_time.py

A kernel that leaves upper halves of vector registers in use slows down all code in the process that
uses plain SSE instructions, until something cleans them: on processors by Intel that is many times
as slow, on others it does not show. So two such pieces of work, SciPy's ``gammaln`` on 1,000
elements and 1,000 calls of ``math.tanh``, are timed right after one call of a kernel of each kind,
and in turns with that after a loop of NumPy's, which cleans registers. A ratio is the shortest time
after a kernel over the shortest after NumPy; it is 1 but for noise.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarLoop

ELEMENTS = np.linspace(0.5, 20.0, 1000)
NUMBERS = ELEMENTS.tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", nargs="+", default=["c", "numba"], choices=["c", "numba"])
    parser.add_argument("--turns", type=int, default=200)
    chosen = parser.parse_args()
    print(f"on {processor()}; shortest of {chosen.turns} turns")
    print(f"{'mode':6} {'after':26} {'gammaln':>16} {'math.tanh':>16}")
    for mode in chosen.modes:
        for kind, kernel in kernels(mode).items():
            cells = [cell(work, kernel, chosen.turns) for work in (gammas, tangents)]
            print(f"{mode:6} {kind:26} {cells[0]:>16} {cells[1]:>16}", flush=True)


def kernels(mode: str) -> Mapping[str, Callable[[], object]]:
    """A call of a compiled function for each kind of kernel."""
    x, m = ft.dvector("x"), ft.dmatrix("m")
    places = ft.constant(np.arange(999, -1, -1))
    value = ft.scalar("value")
    loop = ScalarLoop([value], [ft.sin(value) * 0.5], [], until=ft.abs(value) < 1e-3)
    states, _ = fz.scan(
        lambda element, state: ft.tanh(state) * 0.5 + element,
        sequences=[x],
        outputs_info=[ft.constant(0.25)],
    )
    graphs: Mapping[str, Any] = {
        "an elementwise kernel": x + 1,
        "comparisons": ft.tanh(x) > 0,
        "functions of blocks": ft.log1p(ft.exp(-x)),
        "functions of the library": ft.tanh(x),
        "scalar functions": ft.gammaln(x) + 1,
        "a reduction": x.sum(),
        "a reduction of rows": m.max(axis=1),
        "rows": ft.softmax(m.T, axis=1),
        "tiles": ft.softmax(m, axis=1),
        "indices": ft.inc_subtensor(x[places], ft.exp(x)),
        "a recurrence": states,
        "loops of elements": loop(50, x)[0],
        "a product": m @ m.T,
        "sorted rows": ft.sort(m, axis=1),
    }
    rows = np.random.default_rng(1).normal(size=(130, 13))
    made = {}
    for kind, graph in graphs.items():
        function = fz.function([x, m], graph, mode=mode, on_unused_input="ignore")
        made[kind] = lambda function=function: function(ELEMENTS, rows)
    return made


def gammas() -> None:
    gammaln(ELEMENTS)


def tangents() -> None:
    tanh = math.tanh
    for number in NUMBERS:
        tanh(number)


def cell(work: Callable[[], None], kernel: Callable[[], object], turns: int) -> str:
    """The time after the kernel, and its ratio to that after NumPy."""
    after, clean = [], []
    for _ in range(turns):
        np.add(ELEMENTS, 1.0)
        clean.append(seconds(work))
        kernel()
        after.append(seconds(work))
    return f"{min(after) * 1e6:7.1f} us {min(after) / min(clean):5.2f}"


def seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def processor() -> str:
    """The name that the processor gives itself."""
    lines = Path("/proc/cpuinfo")
    if lines.exists():
        for line in lines.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
