"""Microseconds to build one node of an expression: ``h = h + b`` on vectors, many times.

    python benches/build_time.py

Every addition makes a node that did not exist before; ``frazil, found again`` builds the same
expression a second time, while the first is alive, and gets the same nodes back. Peers that are not
installed are named. They take turns in one process; the number is the median over the rounds.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import sys
from collections.abc import Callable

from stopwatch import duration

NODES = 1000
ROUNDS = 15


def _chain(h, b):
    for _ in range(NODES):
        h = h + b
    return h


def frazil() -> Callable[[], float]:
    import frazil.tensor as ft

    def measure() -> float:
        a, b = ft.vector("a"), ft.vector("b")
        return duration(lambda: _chain(a, b))

    return measure


def frazil_again() -> Callable[[], float]:
    import frazil.tensor as ft

    def measure() -> float:
        a, b = ft.vector("a"), ft.vector("b")
        first = _chain(a, b)
        seconds = duration(lambda: _chain(a, b))
        assert first is _chain(a, b)
        return seconds

    return measure


def pytensor() -> Callable[[], float]:
    import pytensor.tensor as pt

    def measure() -> float:
        a, b = pt.vector("a"), pt.vector("b")
        return duration(lambda: _chain(a, b))

    return measure


def jax_trace() -> Callable[[], float]:
    import jax

    jax.config.update("jax_enable_x64", True)
    vector = jax.ShapeDtypeStruct((1000,), "float64")

    def measure() -> float:
        # A new function each time: JAX remembers the trace of the one it has seen.
        return duration(lambda: jax.make_jaxpr(lambda a, b: _chain(a, b))(vector, vector))

    return measure


def tinygrad() -> Callable[[], float]:
    from tinygrad import dtypes
    from tinygrad.uop.ops import UOp

    rounds = itertools.count()

    def measure() -> float:
        # Its graph's own nodes, which are scalar: a Tensor does more, and wants a device. They are
        # interned by name, and so the names are new in each round.
        names = [f"{name}{next(rounds)}" for name in "ab"]
        a, b = (UOp.variable(name, 0.0, 1.0, dtypes.float64) for name in names)
        return duration(lambda: _chain(a, b))

    return measure


BUILDERS = {
    "frazil": frazil,
    "frazil, found again": frazil_again,
    "pytensor": pytensor,
    "jax, traced": jax_trace,
    "tinygrad, UOp": tinygrad,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    sys.setrecursionlimit(20 * NODES)
    measures: dict[str, Callable[[], float]] = {}
    for name, prepare in BUILDERS.items():
        try:
            measures[name] = prepare()
        except ImportError as error:
            print(f"not measured: {name}: {error}")
    for measure in measures.values():
        measure()
    gc.freeze()  # what the libraries keep is not looked through again at each collection
    seconds: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(ROUNDS):
        for name, measure in measures.items():
            seconds[name].append(measure())
    print("us per node")
    for name, values in seconds.items():
        median, best = statistics.median(values), min(values)
        print(f"  {name:20} {median / NODES * 1e6:8.3f}  (min {best / NODES * 1e6:.3f})")


if __name__ == "__main__":
    main()
