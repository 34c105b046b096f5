"""Microseconds per node to freeze, clone and merge a graph, beside PyTensor's.

    python benches/graph_time.py

The graph is a chain of ``h = tanh(h * c) + x``, built alike for both, which take turns in one
process; the numbers are medians over the rounds. ``merge`` is what it costs that a chain written
twice is one: frazil finds every node of the second again as it is built, PyTensor runs its
``MergeOptimizer``.
"""

from __future__ import annotations

import importlib.util
import statistics
from types import ModuleType
from typing import Any

from stopwatch import duration

STEPS = 700
ROUNDS = 9


def chain(ft: ModuleType, x: Any) -> Any:
    h = x
    for step in range(STEPS):
        h = ft.tanh(h * (1.0 + step / STEPS)) + x
    return h


def frazil() -> dict[str, float]:
    import frazil as fz
    import frazil.tensor as ft

    x = ft.vector("x")
    graph = fz.FunctionGraph([x], [chain(ft, x)])
    nodes = len(graph.toposort())
    return {
        "freeze": 1e6 * duration(graph.freeze) / nodes,
        "clone": 1e6 * duration(graph.clone) / nodes,
        "merge": 1e6 * duration(lambda: chain(ft, x)) / nodes,
    }


def pytensor() -> dict[str, float]:
    import pytensor.tensor as pt
    from pytensor.graph.fg import FunctionGraph
    from pytensor.graph.rewriting.basic import MergeOptimizer

    x = pt.vector("x")
    graph = FunctionGraph([x], [chain(pt, x)], clone=False)
    nodes = len(graph.toposort())
    times = {"clone": 1e6 * duration(graph.clone) / nodes}
    if hasattr(graph, "freeze"):
        times["freeze"] = 1e6 * duration(graph.freeze) / nodes
    x = pt.vector("x")
    twice = FunctionGraph([x], [chain(pt, x), chain(pt, x)], clone=False)
    times["merge"] = 1e6 * duration(lambda: MergeOptimizer().rewrite(twice)) / nodes
    return times


def main() -> None:
    peers = [frazil]
    if importlib.util.find_spec("pytensor") is not None:
        peers.append(pytensor)
    rounds: dict[str, list[dict[str, float]]] = {peer.__name__: [] for peer in peers}
    for _ in range(ROUNDS):
        for peer in peers:
            rounds[peer.__name__].append(peer())
    medians = {
        name: {what: statistics.median(r[what] for r in measured) for what in measured[0]}
        for name, measured in rounds.items()
    }
    for name, times in medians.items():
        for what, value in sorted(times.items()):
            ratio = value / medians["frazil"][what]
            print(f"{name:10} {what:8} {value:10.4f} us a node {ratio:10.1f} x frazil")


if __name__ == "__main__":
    main()
