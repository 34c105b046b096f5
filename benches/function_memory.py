"""How much memory a compiled function keeps, per node of its graph, and how much of it comes back.

Fifty functions of distinct graphs are compiled, called once and kept; then they are dropped. What
the process has resident is read before, while they live, and after. ``found`` says how many came
from the compile cache: a second run finds all of them there.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import frazil as fz
import frazil.tensor as ft

LINKS = 28


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=50)
    parser.add_argument("--mode", default="c", choices=["c", "numba", "py"])
    chosen = parser.parse_args()
    warm = [compiled(-1 - at, chosen.mode) for at in range(3)]
    del warm
    before = resident()
    functions = [compiled(at, chosen.mode) for at in range(chosen.functions)]
    nodes = sum(len(function.fgraph.toposort()) for function in functions)
    found = sum(function.compiled.found == "disk" for function in functions)
    during, libraries = resident(), mapped()
    functions.clear()
    after = resident()
    kept = (during - before) / 2**20
    print(f"{chosen.mode}: {chosen.functions} functions of {nodes // chosen.functions} nodes")
    print(f"found    {found} on disk")
    print(f"kept     {kept:.2f} MiB, {kept / nodes:.5f} MiB a node, {libraries} libraries mapped")
    print(f"dropped  {(after - before) / 2**20:.2f} MiB more than before, {mapped()} libraries")


def compiled(seed: int, mode: str) -> Any:
    """A function that no other seed gives, called once."""
    x, y = ft.vector("x"), ft.vector("y")
    h = x
    for at in range(LINKS):
        h = h + 0.01 * ft.sin((1.0 + seed / 1000 + at / 100) * h) * y
    cost = h.sum()
    function = fz.function([x, y], [cost, *fz.grad(cost, [x, y])], mode=mode)
    value: Sequence[Any] = function(np.ones(10), np.ones(10))
    assert np.isfinite(value[0])
    return function


def resident() -> int:
    """The bytes that the process has in memory, garbage collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def mapped() -> int:
    """The libraries of kernels that are mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split()[-2] for line in lines if "/frazil-" in line})


if __name__ == "__main__":
    main()
