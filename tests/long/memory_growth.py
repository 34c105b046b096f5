"""Memory after many distinct values: what was dropped is given back.

Each case makes distinct values of one kind, drops them, and looks at how much more memory the
process has than before. What is kept for each value may be at most :data:`KEPT` bytes.
"""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from search import main

import frazil as fz
import frazil.tensor as ft
from frazil import Op
from frazil.link.toolchain import keeping

KEPT = 64.0  # bytes for each distinct value, on average
COUNT = 20_000  # values between two looks
SMALL_COUNT = 500  # of what takes a millisecond each
FILLING = 8_000  # values after which tables that drop the oldest are full

_x, _m = ft.vector("x"), ft.matrix("m")
_op = """
class Twice(Op):
    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])
    def perform(self, node, inputs):
        return [2 * inputs[0]]
"""


def element(k: int) -> None:
    _ = _x[k]


def part(k: int) -> None:
    _ = _x[k : 2 * k]


def reshaped(k: int) -> None:
    _ = ft.reshape(_m, (k + 1, -1))


def typed(k: int) -> None:
    _ = ft.tensor(shape=(k, None), dtype="float64")


def number(k: int) -> None:
    _ = _x + float(k)


def array(k: int) -> None:
    _ = _x + ft.constant(np.full(3, float(k)))


def frozen(k: int) -> None:
    _ = fz.FunctionGraph([_x], [_x * float(k)]).freeze()


def executed(k: int) -> None:
    exec(compile(f"_x + {k}.5", f"<cell {k}>", "exec"), {"_x": _x})


def named(k: int) -> None:
    _ = ft.vector(f"a name of its own {k}")


def inlined(k: int) -> None:
    x = ft.vector()
    _ = fz.OpFromGraph([x], [x + float(k)])(_x)


def rewritten(k: int) -> None:
    _ = fz.rewrite.rewrite(ft.exp(_x + float(k)) * 1.0)


def defined(k: int) -> None:
    scope = {"Op": Op, "fz": fz, "__name__": "cell"}
    exec(_op, scope)
    _ = scope["Twice"]()(_x)


def compiled(k: int) -> None:
    x = ft.vector()
    fz.function([x], ft.exp(x) * float(k), mode="py")([1.0])


def differentiated(k: int) -> None:
    x = ft.vector()
    loop, _ = fz.scan(lambda s: ft.tanh(s) * float(k), outputs_info=[x], n_steps=3)
    _ = fz.grad(loop.sum(), x)


KINDS: list[tuple[Callable[[int], None], int, int]] = [
    *(
        (f, COUNT, FILLING)
        for f in (element, part, reshaped, typed, number, array, frozen, executed, named)
    ),
    *(
        (f, SMALL_COUNT, SMALL_COUNT)
        for f in (inlined, rewritten, defined, compiled, differentiated)
    ),
]


def resident() -> int:
    """Bytes of this process that are in memory, once nothing is left to be written to the cache."""
    keeping.finish()
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


_next = 1


def _do(work: Callable[[int], None], count: int) -> None:
    """Make so many values that none was equal to before."""
    global _next
    for k in range(_next, _next + count):
        work(k)
    _next += count


def case(seed: int) -> None:
    """One kind, watched over ten batches after one that fills what is kept in any case."""
    work, count, filling = KINDS[seed % len(KINDS)]
    _do(work, filling)
    least = float("inf")
    before = resident()
    for _ in range(2 + random.Random(seed).randint(6, 10)):
        _do(work, count)
        after = resident()
        least = min(least, (after - before) / count)
        before = after
    assert least <= KEPT, f"{work.__name__} keeps at least {least:.0f} bytes for each value"


if __name__ == "__main__":
    main("memory growth", case)
