"""Nanoseconds an element that the ``py`` linker's elementwise ops take, by each of its ways.

    python benches/perform_time.py

The same work, ``x * y + z`` on float64, by NumPy's ufuncs in two steps and by a scalar op that has
a ufunc, that goes through ``numpy.frompyfunc``, and that goes through the loop for more operands
than ``frompyfunc`` takes; then one element without any array, by ``impl``. The ways take turns; the
number is the median over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frazil.scalar import ScalarOp
from frazil.scalar.evaluation import FROMPYFUNC_LIMIT, evaluate


@dataclass(frozen=True, eq=False)
class MultiplyAdd(ScalarOp):
    """``x * y + z``; operands beyond the third change nothing."""

    nin: int
    rule = "arithmetic"

    def impl(self, x, y, z, *rest):
        return x * y + z


@dataclass(frozen=True, eq=False)
class MultiplyAddByUfunc(MultiplyAdd):
    """The same with a function of whole arrays."""

    @property
    def ufunc(self):
        return lambda x, y, z: np.add(np.multiply(x, y), z)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--length", type=int, default=10_000, help="elements of a vector (10000)")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    x, y, z = np.random.default_rng(0).normal(size=(3, options.length))
    many = [x, y, z] + [x] * FROMPYFUNC_LIMIT
    few, loop, ufunc = MultiplyAdd(3), MultiplyAdd(len(many)), MultiplyAddByUfunc(3)
    one = [array[0] for array in (x, y, z)]
    ways: dict[str, tuple[Callable[[], object], int]] = {
        "numpy by hand": (lambda: np.add(np.multiply(x, y), z), options.length),
        "ufunc": (lambda: evaluate(ufunc, ["float64"], [x, y, z]), options.length),
        "frompyfunc": (lambda: evaluate(few, ["float64"], [x, y, z]), options.length),
        f"loop, {len(many)} operands": (
            lambda: evaluate(loop, ["float64"], many),
            options.length,
        ),
        "impl, one element": (lambda: evaluate(few, ["float64"], one), 1),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (run, count) in ways.items():
            repetitions = range(max(1, 2000 // count))
            started = time.perf_counter()
            for _ in repetitions:
                run()
            elapsed = time.perf_counter() - started
            seconds[name].append(elapsed / len(repetitions) / count)
    base = statistics.median(seconds["numpy by hand"])
    for name, measured in seconds.items():
        median = statistics.median(measured)
        print(f"{name:22} {median * 1e9:8.1f} ns   {median / base:8.1f} x NumPy by hand")


if __name__ == "__main__":
    main()
