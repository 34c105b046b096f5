"""Microseconds to build a gradient, for each node of the graph that is differentiated.

    python benches/gradient_time.py

*chain* is 500 steps of ``h + 0.01 * sin(a * h)`` on a vector, *network* 500 layers of
``tanh(w @ h + b)``, *density* a sum of 300 normal log-densities whose parameters are single
elements of a vector. Each round builds a graph anew and differentiates it once. PyTensor's nodes
are counted in its own graph. Both take turns in one process; the number is the least processor time
over the rounds, and the median in brackets.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

STEPS = {"chain": 500, "network": 500, "density": 300}


def chain(n: Any) -> tuple[Any, Any]:
    x = n.vector("x")
    h = x
    for k in range(STEPS["chain"]):
        h = h + 0.01 * n.sin((1.0 + k * 1e-4) * h)
    return n.sum(h), x


def network(n: Any) -> tuple[Any, Any]:
    x, w = n.vector("x"), n.matrix("w")
    h = x
    for k in range(STEPS["network"]):
        h = n.tanh(n.dot(w, h) + (k + 0.5))
    return n.sum(h), w


def density(n: Any) -> tuple[Any, Any]:
    x = n.vector("x")
    total = 0.0
    for k in range(STEPS["density"]):
        scale = n.exp(x[(k + 1) % 7])
        total = total - 0.5 * ((x[k % 7] - (k + 0.5)) / scale) ** 2 - n.log(scale)
    return total, x


def frazil() -> tuple[Any, Callable[[Any, Any], Any], Callable[[Any], int]]:
    import frazil as fz
    import frazil.tensor as ft
    from frazil._core import toposort

    return ft, fz.grad, lambda y: len(toposort([y]))


def pytensor() -> tuple[Any, Callable[[Any, Any], Any], Callable[[Any], int]]:
    import pytensor
    import pytensor.tensor as pt
    from pytensor.graph.traversal import ancestors

    return (
        pt,
        pytensor.grad,
        lambda y: sum(variable.owner is not None for variable in ancestors([y])),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    peers = {}
    for prepare in (frazil, pytensor):
        try:
            peers[prepare.__name__] = prepare()
        except ImportError as error:
            print(f"not measured: {prepare.__name__}: {error}")
    print("us per forward node: least (median)")
    for write in (chain, network, density):
        spent: dict[str, list[float]] = {name: [] for name in peers}
        for _ in range(options.rounds):
            for name, (namespace, grad, count) in peers.items():
                cost, wrt = write(namespace)
                nodes = count(cost)
                gc.collect()
                start = time.process_time()
                gradient = grad(cost, wrt)
                spent[name].append((time.process_time() - start) / nodes * 1e6)
                del cost, wrt, gradient
        for name, values in spent.items():
            least, median = min(values), statistics.median(values)
            print(f"  {write.__name__:8} {name:9} {least:8.2f}  ({median:.2f})")


if __name__ == "__main__":
    main()
