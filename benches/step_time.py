"""What a step of a scan costs beyond its arithmetic, if its arrays are small.

    python benches/step_time.py

A step has three products of a matrix and a vector, seven loops, a gather and two joins, over arrays
of one to eight numbers. ``functions`` has a tanh, exponentials and a sine in it, ``sums`` sums and
products in their places. Beside frazil's modes runs a program in C that was written by hand
(``benches/steps/small_arrays.c``), which keeps all arrays in registers. Times are the lowest
processor times of a step, of 100,000 in a call.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "steps" / "small_arrays.c"
STEPS, SIZE = 100_000, 8
MODES = ["c", "cranelift", "numba"]


def arguments() -> list[Any]:
    import numpy as np

    rng = np.random.default_rng(40)
    matrices = list(rng.normal(size=(3, SIZE, SIZE)) / SIZE)
    positions = np.array([3, 1, 0, 7, 5, 5, 2, 6])
    return [rng.normal(size=STEPS), rng.normal(size=SIZE), *matrices, positions]


def scan(functions: bool, mode: str) -> Callable[..., Any]:
    """The state after all steps, by frazil."""
    import frazil as fz
    import frazil.tensor as ft

    bend = ft.tanh if functions else lambda x: x * 0.5
    grow = ft.exp if functions else lambda x: x + 1.5
    wave = ft.sin if functions else lambda x: x * 0.25

    def step(factor: Any, x: Any, a: Any, b: Any, c: Any, positions: Any) -> Any:
        y = bend(a @ x)
        moved = ft.concatenate([y[4:], x[:4]])[positions] * factor
        grown = grow(moved - moved.max())
        shares = grown / grown.sum()
        v = b @ shares
        joined = ft.concatenate([v[1:], (v * shares).sum()[None]])
        q = wave(c @ joined)
        return q - q.mean() + 0.5 * y

    factors, x, positions = ft.vector("factors"), ft.vector("x"), ft.lvector("positions")
    matrices = [ft.matrix(name) for name in "abc"]
    rows, _ = fz.scan(step, factors, x, [*matrices, positions])
    given = [factors, x, *matrices, positions]
    return fz.function(given, rows[-1], mode=mode, threads=1)


def library(functions: bool, folder: str) -> ctypes.CDLL:
    from limit import FLAGS

    path = Path(folder) / f"{functions}.so"
    defined = ["-DFUNCTIONS"] if functions else []
    command = ["gcc", *FLAGS, *defined, str(SOURCE), "-o", str(path), "-lmvec", "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(path))


def measure(functions: bool, folder: str) -> None:
    import numpy as np

    from limit import aligned, quickest, runner

    given = [np.asarray(x, order="C") for x in arguments()]
    result = aligned((SIZE,), np.dtype("float64"))
    by_hand = runner(library(functions, folder), given, [result])
    by_hand(1)
    actions = [by_hand]
    for mode in MODES:
        function = scan(functions, mode)
        np.testing.assert_allclose(function(*given), result, rtol=1e-9)

        def calls(turns: int, function: Callable[..., Any] = function) -> None:
            for _ in range(turns):
                function(*given)

        actions.append(calls)
    found = [1e9 * each / STEPS for each in quickest(actions)]
    name = "functions" if functions else "sums"
    print(f"| {name} | {' | '.join(f'{each:.0f} ns' for each in found)} |", flush=True)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(Path(__file__).parent))
    print(f"| | by hand | {' | '.join(MODES)} |\n|---|{'---|' * (len(MODES) + 1)}")
    with tempfile.TemporaryDirectory() as folder:
        for functions in (True, False):
            measure(functions, folder)


if __name__ == "__main__":
    main()
