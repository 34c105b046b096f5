"""How much more two threads get done than one: 2.0 is all that two processors can give.

    python benches/thread_time.py

One thread does a number of turns, then two threads do as many each at once, in the same process and
in alternation; the ratio is of the turns a second, the median over the rounds. ``the machine`` is
what two threads gain that never meet: they hash bytes. Where other programs take processors away,
it is below 2.0, and no other row can be above it. Rows that begin with ``Python:`` use nothing of
frazil's: they show what the interpreter and NumPy gain at the same moment. ``by CPU`` is the ratio
of the turns a second of processor time: what is above 1.9 shares no memory that matters, whatever
else the machine does; a thread that waits for another takes none.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import hashlib
import os
import statistics
import sys
import sysconfig
import threading
import time
import weakref
from collections.abc import Callable

#: Does so many turns of some work, in the thread that calls it.
Work = Callable[[int], object]

#: The length of the one-threaded part of a round, about.
SECONDS = 0.15


def machine() -> tuple[Work, Work]:
    data = bytes(1 << 16)

    def work(turns: int) -> None:
        for _ in range(turns):
            hashlib.sha256(data).digest()

    return work, work


def tuples() -> tuple[Work, Work]:
    """Each thread builds a list of tuples."""

    def work(turns: int) -> None:
        for turn in range(turns):
            [(turn, k) for k in range(100)]

    return work, work


class Pair:
    """An object with two attributes, as a graph in plain Python has."""

    __slots__ = ("inputs", "op")

    def __init__(self, op: object, inputs: object) -> None:
        self.op = op
        self.inputs = inputs


def instances() -> tuple[Work, Work]:
    """Each thread builds chains of instances of one class, over an object that they share."""
    op = object()

    def work(turns: int) -> None:
        for _ in range(turns):
            y: Pair | None = None
            for _ in range(100):
                y = Pair(op, (y, y))

    return work, work


@dataclasses.dataclass(frozen=True)
class Record:
    """Such an object as a frozen dataclass."""

    op: object
    inputs: object


def records() -> tuple[Work, Work]:
    """The same with a frozen dataclass."""
    op = object()

    def work(turns: int) -> None:
        for _ in range(turns):
            y: Record | None = None
            for _ in range(100):
                y = Record(op, (y, y))

    return work, work


def weak_table() -> tuple[Work, Work]:
    """Each thread enters objects of its own in one table of weak references, and drops them."""
    table: weakref.WeakValueDictionary[int, Pair] = weakref.WeakValueDictionary()

    class Referable(Pair):
        __slots__ = ("__weakref__",)

    def work(turns: int) -> None:
        start = threading.get_ident()
        for _ in range(turns):
            for k in range(20):
                table[start + k] = Referable(None, None)

    return work, work


def ufunc() -> tuple[Work, Work]:
    """Each thread calls NumPy's function on an array of its own."""
    import numpy as np

    def work(turns: int) -> None:
        values = np.linspace(0.0, 1.0, 8)
        for _ in range(turns):
            np.exp(values)

    return work, work


def handing_on() -> tuple[Work, Work]:
    """Each thread gives the interpreter's lock away for a moment, as reading a file does."""
    data = bytes(3000)

    def work(turns: int) -> None:
        for _ in range(turns):
            hashlib.sha256(data).digest()
            for _ in range(100):
                pass

    return work, work


def one_function(elements: int) -> Callable[[], tuple[Work, Work]]:
    def prepare() -> tuple[Work, Work]:
        return (work := _calls(elements, 0.5), work)

    return prepare


def two_functions(elements: int) -> Callable[[], tuple[Work, Work]]:
    return lambda: (_calls(elements, 0.5), _calls(elements, 0.25))


def _calls(elements: int, factor: float) -> Work:
    import numpy as np

    import frazil as fz
    import frazil.tensor as ft

    x = ft.vector("x")
    function = fz.function([x], ft.exp(x * factor), mode="c")

    def work(turns: int) -> None:
        values = np.linspace(0.0, 1.0, elements)
        for _ in range(turns):
            function(values)

    return work


def updates() -> tuple[Work, Work]:
    """Each thread counts in a shared variable of its own."""
    import frazil as fz

    def counter() -> Work:
        state = fz.shared(0.0)
        count = fz.function([], state, updates=[(state, state + 1.0)], mode="c")

        def work(turns: int) -> None:
            for _ in range(turns):
                count()

        return work

    return counter(), counter()


def building() -> tuple[Work, Work]:
    """Each thread builds chains over inputs of its own."""
    import frazil.tensor as ft

    def work(turns: int) -> None:
        a, b = ft.vector("a"), ft.vector("b")
        for _ in range(turns):
            y = a
            for _ in range(100):
                y = y + b
            b = ft.vector("b")

    return work, work


def freezing() -> tuple[Work, Work]:
    """Each thread freezes graphs that differ from all others."""
    import frazil as fz
    import frazil.tensor as ft

    def work(turns: int) -> None:
        x = ft.vector("x")
        number = threading.get_ident() % 1000
        for turn in range(turns):
            y = x
            for k in range(30):
                y = y * (number + turn + k / 32)
            fz.FrozenFunctionGraph([x], [y])

    return work, work


def compiling() -> tuple[Work, Work]:
    """Each thread compiles graphs that differ from all others, for NumPy."""
    import frazil as fz
    import frazil.tensor as ft

    def work(turns: int) -> None:
        number = threading.get_ident() % 1000
        for turn in range(turns):
            x = ft.vector("x")
            fz.function([x], ft.exp(x * (number + turn / 1024)) + ft.sum(x), mode="py")

    return work, work


BUILDERS: dict[str, Callable[[], tuple[Work, Work]]] = {
    "the machine": machine,
    "Python: tuples": tuples,
    "Python: instances": instances,
    "Python: dataclasses": records,
    "Python: weak references": weak_table,
    "Python: np.exp, 8 elements": ufunc,
    "Python: giving the lock": handing_on,
    "one function, 8 elements": one_function(8),
    "one function, 4,000": one_function(4_000),
    "one function, 100,000": one_function(100_000),
    "two functions, 8": two_functions(8),
    "two functions, 4,000": two_functions(4_000),
    "two functions, 100,000": two_functions(100_000),
    "updates of own scalars": updates,
    "building": building,
    "freezing": freezing,
    "compiling, mode py": compiling,
}


def _together(works: tuple[Work, ...], turns: int) -> tuple[float, float]:
    """Seconds from the first start to the last end of threads that start at one moment and do so
    many turns each, and seconds that processors worked for a thread."""
    start = threading.Barrier(len(works))
    spans: list[tuple[float, float, float]] = []

    def run(work: Work) -> None:
        start.wait()
        began, before = time.perf_counter(), time.thread_time()
        work(turns)
        spans.append((began, time.perf_counter(), time.thread_time() - before))

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    firsts, lasts, worked = zip(*spans, strict=True)
    return max(lasts) - min(firsts), statistics.mean(worked)


def _ratios(works: tuple[Work, Work], rounds: int) -> tuple[float, list[float], list[float]]:
    """Seconds a turn in one thread, and for each round how much more two threads do, by the clock
    and by processor time."""
    first, _ = works
    turns = 1
    while (seconds := _together((first,), turns)[0]) < SECONDS:
        turns = max(turns + 1, int(turns * min(10.0, 1.2 * SECONDS / max(seconds, 1e-9))))
    _together(works, turns)
    alone, ratios, worked = [], [], []
    for _ in range(rounds):
        gc.collect()
        one, two = _together((first,), turns), _together(works, turns)
        alone.append(one[0])
        ratios.append(2.0 * one[0] / two[0])
        worked.append(2.0 * one[1] / two[1])
    return min(alone) / turns, ratios, worked


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", help="rows whose names contain one of these")
    given = parser.parse_args()
    os.environ.setdefault("FRAZIL_CACHE", "off")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}, {'free-threaded' if free else 'with a GIL'}")
    print(f"{'':28}{'us a turn':>10}{'two : one':>11}{'least':>7}{'most':>7}{'by CPU':>8}")
    for name, prepare in BUILDERS.items():
        if given.only and not any(part in name for part in given.only):
            continue
        seconds, ratios, worked = _ratios(prepare(), given.rounds)
        middle = f"{statistics.median(ratios):11.2f}{min(ratios):7.2f}{max(ratios):7.2f}"
        line = f"{name:28}{seconds * 1e6:10.2f}{middle}{statistics.median(worked):8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
