"""How far calls are from what a program in C does that was written by hand for the same work.

    python benches/limit.py [workload ...]

Each program of ``benches/limits`` is compiled by ``gcc -O3 -march=native -ffast-math``, which calls
the C library's vector functions. It knows all lengths and may sum in any order; large products it
leaves to the BLAS that frazil calls. Its results and frazil's are compared with NumPy's, then both
run in turns, in one thread; the ratio is of the lowest processor times of a call. frazil's has the
way from Python in it.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "limits"
FLAGS = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-shared", "-fPIC"]
ROUNDS = 40

#: What ``blas.h`` has of BLAS and LAPACK.
ROUTINES = ["dgemm", "dpotrf", "dpotri"]

#: The seconds of processor time that a round of one of both takes, about.
SECONDS = 0.01


def library(name: str, folder: str) -> ctypes.CDLL:
    path = Path(folder) / f"{name}.so"
    source = FOLDER / f"{name}.c"
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(path), "-lmvec", "-lm"], check=True)
    compiled = ctypes.CDLL(str(path))
    if hasattr(compiled, "bind"):
        compiled.bind(routines())
    return compiled


def runs_here(name: str) -> bool:
    """Whether the processor has the registers that a program names."""
    known = subprocess.run(
        ["gcc", "-march=native", "-dM", "-E", "-x", "c", "/dev/null"],
        capture_output=True,
        check=True,
    ).stdout
    return b"__AVX512F__" in known or "_mm512" not in (FOLDER / f"{name}.c").read_text()


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that begins where a line of the cache does, as a program's own would."""
    import numpy as np

    size = int(np.prod(shape)) * dtype.itemsize
    room = np.zeros(size + 64, "uint8")
    start = -room.ctypes.data % 64
    return room[start : start + size].view(dtype).reshape(shape)


def routines() -> Any:
    """The addresses that ``blas.h`` takes, in its order."""
    from frazil.link.toolchain.blas import routines_of_numpy

    found = routines_of_numpy(ROUTINES)
    if found is None:
        raise SystemExit("this NumPy has no BLAS of its own, which the programs in C would call")
    return (ctypes.c_void_p * len(ROUTINES))(*(found[name] for name in ROUTINES))


def runner(
    compiled: ctypes.CDLL, arguments: Sequence[Any], results: Sequence[Any]
) -> Callable[[int], None]:
    """So many turns of a program in C, with the arrays ``results`` to write to."""

    def pointers(arrays: Sequence[Any]) -> Any:
        return (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))

    given, written = pointers(arguments), pointers(results)
    return lambda turns: compiled.run(given, written, ctypes.c_long(turns))


def quickest(actions: Sequence[Callable[[int], None]]) -> list[float]:
    """The lowest time of a turn of each."""
    turns = []
    for action in actions:
        started = time.thread_time()
        action(3)
        spent = max(time.thread_time() - started, 1e-6) / 3
        turns.append(max(1, round(SECONDS / spent)))
    best = [float("inf")] * len(actions)
    for _ in range(ROUNDS):
        for k, action in enumerate(actions):
            started = time.thread_time()
            action(turns[k])
            best[k] = min(best[k], (time.thread_time() - started) / turns[k])
    return best


def measure(name: str, folder: str) -> None:
    import numpy as np

    import frazil as fz
    from compare import difference, shown

    workload = importlib.import_module(f"workloads.{name}")
    arguments = [np.asarray(x, order="C") for x in workload.arguments()]
    function = fz.function(*workload.frazil(), mode="c", threads=1)
    expected = workload.numpy(*workload.arguments())
    results = [aligned(x.shape, x.dtype) for x in function(*arguments)]
    by_hand = runner(library(name, folder), arguments, results)
    by_hand(1)
    for who, found in (("the program in C", results), ("frazil", function(*arguments))):
        if note := difference(found, expected):
            raise SystemExit(f"{name}: {who} {note}")

    def calls(turns: int) -> None:
        for _ in range(turns):
            function(*arguments)

    limit, own = quickest([by_hand, calls])
    times = " | ".join(shown(each) for each in (limit, own))
    print(f"| `{name}` | {times} | {own / limit:.2f} |", flush=True)


def main() -> None:
    known = sorted(path.stem for path in FOLDER.glob("*.c"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", nargs="*", help=", ".join(known))
    chosen = parser.parse_args().workload or known
    if unknown := [name for name in chosen if name not in known]:
        parser.error(f"no program for {', '.join(unknown)}; there are {', '.join(known)}")
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(Path(__file__).parent))
    left = [name for name in chosen if not runs_here(name)]
    print("| | by hand | frazil | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            if name not in left:
                measure(name, folder)
    if left:
        print(f"not measured, as their programs need AVX-512: {', '.join(left)}")


if __name__ == "__main__":
    main()
