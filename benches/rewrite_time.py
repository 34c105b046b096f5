"""Milliseconds to rewrite one expression by all rules, beside PyTensor's canonicalize.

    python benches/rewrite_time.py

The expression is one step after another of a model written out by hand: sums and products with
constants, signs that cancel, squares, exponentials, comparisons, and selections, each used more
than once. Both build it from the same function, and take turns in one process; the numbers are
medians over the rounds. ``first time`` rewrites nodes that were never seen by the canonical rules,
``remembered`` the same graph again while the first result is alive, ``all phases`` is what
``fz.function`` does before a linker sees the graph: it freezes, canonicalizes, stabilizes and
specializes.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from stopwatch import duration

SIZES = (250, 2_500, 20_000)
ROUNDS = 7
PYTENSOR_SIZES = (250,)


def expression(ft: ModuleType, x: Any, y: Any, steps: int) -> Any:
    """``steps`` blocks of about eighteen nodes, each on top of the one before."""
    h = x
    for step in range(steps):
        scale = 1.0 + step % 5
        a = ft.neg(-h) * 1.0 + y * scale
        b = ft.exp(-a * a) - (h - 0.0)
        c = ft.switch(ft.gt(a, b), b + -y, a / 1.0)
        h = ft.tanh(c) * (y * 2.0) + b**2
    return h


def _blocks(nodes: int) -> int:
    return max(1, nodes // 18)


def frazil(nodes: int) -> tuple[int, Callable[[], dict[str, float]]]:
    import frazil.tensor as ft
    from frazil import FrozenFunctionGraph, _core
    from frazil.compile.phases import optimize
    from frazil.rewrite import rewrite

    def build() -> Any:
        return expression(ft, ft.vector("x"), ft.vector("y"), _blocks(nodes))

    def compile_phases() -> Any:
        # A constant that no other graph has: its nodes were never seen.
        graph = build() * random.random()
        inputs = list(_core.root_inputs([graph]))
        return lambda: optimize(FrozenFunctionGraph(inputs, [graph]), frozenset())

    def measure() -> dict[str, float]:
        graph = build()
        first = 1e3 * duration(lambda: rewrite(graph))
        kept = rewrite(graph)
        again = 1e3 * duration(lambda: rewrite(graph))
        del kept
        return {
            "first time": first,
            "remembered": again,
            "all phases": 1e3 * duration(compile_phases()),
        }

    return len(_core.toposort([build()])), measure


def pytensor(nodes: int) -> tuple[int, Callable[[], dict[str, float]]]:
    import pytensor.tensor as pt
    from pytensor.graph.fg import FunctionGraph
    from pytensor.graph.rewriting.utils import rewrite_graph

    x, y = pt.vector("x"), pt.vector("y")
    output = expression(pt, x, y, _blocks(nodes))

    def measure() -> dict[str, float]:
        graph = FunctionGraph([x, y], [output], clone=True)
        rewriting = 1e3 * duration(lambda: rewrite_graph(graph, include=("canonicalize",)))
        return {"canonicalize": rewriting}

    return len(FunctionGraph([x, y], [output], clone=True).apply_nodes), measure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    sys.setrecursionlimit(100_000)
    measures: dict[tuple[str, int], tuple[int, Callable[[], dict[str, float]]]] = {}
    for name, prepare, sizes in (
        ("frazil", frazil, SIZES),
        ("pytensor", pytensor, PYTENSOR_SIZES),
    ):
        for size in sizes:
            try:
                measures[name, size] = prepare(size)
            except ImportError as error:
                print(f"not measured: {name}: {error}")
                break
    for _, measure in measures.values():
        measure()
    gc.freeze()  # what the libraries keep is not looked through again at each collection
    found: dict[tuple[str, int, str], list[float]] = {}
    for _ in range(ROUNDS):
        for (name, size), (_, measure) in measures.items():
            for what, value in measure().items():
                found.setdefault((name, size, what), []).append(value)
    print(f"{'':32} {'nodes':>8} {'ms':>10} {'us a node':>10}")
    for (name, size, what), values in found.items():
        nodes, median = measures[name, size][0], statistics.median(values)
        print(f"{name + ', ' + what:32} {nodes:8} {median:10.3f} {median / nodes * 1e3:10.3f}")
    slow = found.get(("pytensor", 250, "canonicalize"))
    if slow:
        ratio = statistics.median(slow) / statistics.median(found["frazil", 250, "first time"])
        print(
            f"frazil's first time at {SIZES[0]} nodes is {ratio:.0f} times as fast as canonicalize"
        )


if __name__ == "__main__":
    main()
