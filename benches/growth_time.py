"""How the time to compile grows with a graph: milliseconds a node for long chains, kernels a chain.

    python benches/growth_time.py --mode c --nodes 2500 5000 10000
    python benches/growth_time.py --sizes 100 200 400

The second prints how often as long a graph of twice the size takes, for graphs that have much of
one thing (lengths, gradients of ops, choices ...): to build, print, improve, cut and compile.

Each node of a chain is elementwise and takes the one before. In a fresh process, without a cache,
a chain is compiled, and again by the same linker while the first function is in use, all of whose
kernels are then known: what is left is frazil's own work. The least of the rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def measure(mode: str, nodes: int) -> dict[str, float]:
    """Seconds to compile a chain of so many nodes, and the kernels that it becomes."""
    import frazil as fz
    import frazil.tensor as ft

    fz.function([x := ft.dvector("x")], ft.cosh(x), mode=mode)  # the compiler has been looked for
    made = []
    for factor in (1.0, 1.0 + 2.0**-20):  # different graphs of equal kernels, but for the last
        x = ft.dvector("x")
        y = x
        for k in range(nodes // 2):
            y = ft.sin(y) * (1.0 + (k % 7) / 8)
        y = y * factor
        started = time.perf_counter()
        made.append((fz.function([x], y, mode=mode), time.perf_counter() - started))
    (first, cold), (_, again) = made
    return {"cold": cold, "again": again, "kernels": len(first.optimized.segment(mode))}


def measure_family(family: str, size: int) -> dict[str, float]:
    """Seconds for each thing that is done with a graph of that size."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from growing_graphs import FAMILIES

    import frazil as fz
    from frazil.compile.phases import optimize
    from frazil.link.fusion.registry import find_fusion
    from frazil.link.fusion.segments import Segmentation

    FAMILIES[family](2)
    seconds: dict[str, float] = {}

    def timed(what: str, work: Callable[[], Any]) -> Any:
        started = time.process_time()
        result = work()
        seconds[what] = time.process_time() - started
        return result

    inputs, outputs = timed("build", lambda: FAMILIES[family](size))
    graph = fz.FrozenFunctionGraph(inputs, outputs)
    timed("print", lambda: (fz.pp(outputs), fz.dprint(outputs, file="str")))
    optimized = timed("improve", lambda: optimize(graph, frozenset()).graph)
    timed("cut", lambda: Segmentation(optimized, find_fusion("c")))
    timed("compile", lambda: fz.function(inputs, outputs, mode="py"))
    return seconds


def print_families(sizes: list[int], rounds: int, environment: dict[str, str]) -> None:
    """For each family the time for the last size, and how often that for the one before it is."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from growing_graphs import FAMILIES

    for family in FAMILIES:
        found = []
        for size in sizes:
            command = [sys.executable, __file__, "--family", family, "--measure", str(size)]
            runs = [
                json.loads(subprocess.run(command, env=environment, stdout=-1, check=True).stdout)
                for _ in range(rounds)
            ]
            found.append({what: min(run[what] for run in runs) for what in runs[0]})
        before, last = found[-2:]
        told = (f"{what} {last[what]:.3f} s x{last[what] / before[what]:.1f}" for what in last)
        print(f"{family:>26}  " + "  ".join(told))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", default="c", choices=["c", "cranelift", "numba", "py", "debug"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[2_500, 5_000, 10_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", help="of families of graphs")
    parser.add_argument("--family", help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.family:
        print(json.dumps(measure_family(given.family, given.measure)))
        return
    if given.measure:
        print(json.dumps(measure(given.mode, given.measure)))
        return
    environment = {**os.environ, "FRAZIL_CACHE": "off"}
    if given.sizes:
        print_families(given.sizes, given.rounds, environment)
        return
    print(f"{'nodes':>7}{'kernels':>9}{'cold':>10}{'a node':>11}{'again':>10}{'a node':>11}")
    for nodes in given.nodes:
        command = [sys.executable, __file__, "--mode", given.mode, "--measure", str(nodes)]
        runs = [
            json.loads(subprocess.run(command, env=environment, stdout=-1, check=True).stdout)
            for _ in range(given.rounds)
        ]
        cold, again = (min(run[name] for run in runs) for name in ("cold", "again"))
        print(
            f"{nodes:>7}{runs[0]['kernels']:>9}{cold:>8.2f} s{cold / nodes * 1e3:>8.3f} ms"
            f"{again:>8.2f} s{again / nodes * 1e3:>8.3f} ms"
        )


if __name__ == "__main__":
    main()
