"""Microseconds of one processor a call of ops on arrays takes, in frazil and in NumPy.

    python benches/array_time.py [part of a name ...] [--mode c]

Sorting, searching, repeating, joining, picking and copying, and what is done with elements of 8 and
16 bits, each at three sizes: short rows or a thousand elements, a hundred thousand, a million. Both
take turns; the number is the median over the rounds, and the ratio that of the ratios: below 1,
frazil is faster.
"""

from __future__ import annotations

import argparse
import statistics
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import frazil as fz
import frazil.tensor as ft

Work = tuple[str, Callable[..., Any], Callable[..., Any], tuple[np.ndarray, ...]]

SIZES = (1_000, 100_000, 1_000_000)
RNG = np.random.default_rng(0)


def drawn(shape: int | tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    """Numbers that are spread over what the type holds, floats normally."""
    if np.dtype(dtype).kind == "f":
        return RNG.normal(size=shape).astype(dtype)
    if dtype == "bool":
        return RNG.random(shape) < 0.5
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def positions(shape: int | tuple[int, ...], length: int) -> np.ndarray:
    """Positions in an axis of so many."""
    return RNG.integers(0, length, shape)


def work(
    name: str,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    *given: np.ndarray,
) -> Work:
    """A function of arrays, written for both."""
    sizes = " ".join("x".join(map(str, x.shape)) for x in given[:1])
    return (f"{name} {sizes} {given[0].dtype}", ours, theirs, given)


def compiled(ours: Callable[..., Any], given: tuple[np.ndarray, ...], mode: str | None) -> Any:
    """The function for operands as these."""
    operands = [ft.tensor(dtype=x.dtype, shape=(None,) * x.ndim) for x in given]
    outputs = ours(*operands)
    outputs = list(outputs) if isinstance(outputs, tuple) else outputs
    return fz.function(operands, outputs, threads=1, mode=mode)


def sorts(n: int) -> Iterator[Work]:
    for dtype in ("float64", "float32", "int64", "int32", "int16", "uint8", "bool"):
        x = drawn(n, dtype)
        yield work("sort", ft.sort, np.sort, x)
        yield work("argsort", ft.argsort, lambda x: np.argsort(x, kind="stable"), x)
    for length in (10, 100):
        rows = drawn((n // length, length))
        yield work("sort axis 1", lambda x: ft.sort(x, 1), lambda x: np.sort(x, 1), rows)
        yield work("sort axis 0", lambda x: ft.sort(x, 0), lambda x: np.sort(x, 0), rows.T.copy())
        yield work(
            "argsort axis 1",
            lambda x: ft.argsort(x, 1),
            lambda x: np.argsort(x, 1, kind="stable"),
            rows,
        )
    near = np.sort(drawn(n))
    yield work("sort, sorted before", ft.sort, np.sort, near)
    few = positions(n, 10).astype("float64")
    yield work("sort, few values", ft.sort, np.sort, few)


def searches(n: int) -> Iterator[Work]:
    x, rows = drawn(n), drawn((n // 100, 100))
    mask = x > 0
    yield work("argmax", ft.argmax, np.argmax, x)
    yield work("argmax", ft.argmax, np.argmax, x.astype("float32"))
    yield work("argmax", ft.argmax, np.argmax, drawn(n, "int64"))
    yield work("argmin axis 1", lambda x: ft.argmin(x, 1), lambda x: np.argmin(x, 1), rows)
    yield work("argmax axis 0", lambda x: ft.argmax(x, 0), lambda x: np.argmax(x, 0), rows)
    yield work("flatnonzero", ft.flatnonzero, np.flatnonzero, mask)
    yield work("flatnonzero", ft.flatnonzero, np.flatnonzero, x * mask)
    yield work("nonzero", ft.nonzero, np.nonzero, rows > 0)
    yield work("x[mask]", lambda x, m: x[m], lambda x, m: x[m], x, mask)
    yield work("x[x > 1]", lambda x: x[x > 1], lambda x: x[x > 1], x)
    yield work("count_nonzero", lambda x: ft.sum(ft.neq(x, 0)), np.count_nonzero, x)


def repeats(n: int) -> Iterator[Work]:
    x, rows = drawn(n), drawn((n // 100, 100))
    times = positions(n, 4)
    yield work("repeat 3", lambda x: ft.repeat(x, 3), lambda x: np.repeat(x, 3), x)
    yield work("repeat by counts", lambda x, k: ft.repeat(x, k), np.repeat, x, times)
    yield work(
        "repeat rows by counts",
        lambda x, k: ft.repeat(x, k, 0),
        lambda x, k: np.repeat(x, k, 0),
        rows,
        times[: len(rows)],
    )
    yield work("repeat 3 axis 0", lambda x: ft.repeat(x, 3, 0), lambda x: np.repeat(x, 3, 0), rows)
    yield work("repeat 3 axis 1", lambda x: ft.repeat(x, 3, 1), lambda x: np.repeat(x, 3, 1), rows)
    yield work("tile (2, 2)", lambda x: ft.tile(x, (2, 2)), lambda x: np.tile(x, (2, 2)), rows)


def running(n: int) -> Iterator[Work]:
    x, rows = drawn(n), drawn((n // 100, 100))
    yield work("cumsum", ft.cumsum, np.cumsum, x)
    yield work("cumsum", ft.cumsum, np.cumsum, drawn(n, "int64"))
    for axis in (0, 1):
        yield work(
            f"cumsum axis {axis}",
            lambda x, axis=axis: ft.cumsum(x, axis),
            lambda x, axis=axis: np.cumsum(x, axis),
            rows,
        )
        yield work(
            f"cumprod axis {axis}",
            lambda x, axis=axis: ft.cumprod(x, axis),
            lambda x, axis=axis: np.cumprod(x, axis),
            rows,
        )
    ends = [np.asarray(v) for v in (0.5, 0.5 + 0.25 * n, 0.25)]
    yield work(f"arange {n}", lambda a, b, c: ft.arange(a, b, c), np.arange, *ends)
    yield work(f"arange {n}", ft.arange, np.arange, np.asarray(n))


def joins(n: int) -> Iterator[Work]:
    rows = drawn((n // 100, 100))
    x = drawn(n)

    def joined(name: str, axis: int) -> Work:
        ours, theirs = getattr(ft, name), getattr(np, name)
        return work(
            f"{name} axis {axis}",
            lambda x, y: ours([x, y], axis=axis),
            lambda x, y: theirs([x, y], axis=axis),
            rows,
            rows + 1,
        )

    yield work(
        "concatenate",
        lambda x, y: ft.concatenate([x, y]),
        lambda x, y: np.concatenate([x, y]),
        x,
        x,
    )
    yield from (joined("concatenate", axis) for axis in (0, 1))
    yield from (joined("stack", axis) for axis in (0, 1, 2))


def copies(n: int) -> Iterator[Work]:
    side = round(n**0.5)
    square, rows = drawn((side, side)), drawn((n // 100, 100))
    cube = drawn((n // 1000, 10, 100))
    yield work("transpose", lambda x: x.T, lambda x: x.T.copy(), square)
    yield work("transpose", lambda x: x.T, lambda x: x.T.copy(), rows)
    yield work("transpose", lambda x: x.T, lambda x: x.T.copy(), square.astype("float32"))
    yield work("transpose", lambda x: x.T, lambda x: x.T.copy(), drawn((side, side), "uint8"))
    for axes in ((1, 0, 2), (2, 1, 0), (0, 2, 1)):
        yield work(
            f"transpose {axes}".replace(" ", ""),
            lambda x, axes=axes: ft.transpose(x, axes),
            lambda x, axes=axes: np.transpose(x, axes).copy(),
            cube,
        )
    yield work("x[::2]", lambda x: x[::2], lambda x: x[::2].copy(), drawn(n))
    yield work("x[:, ::-1]", lambda x: x[:, ::-1], lambda x: x[:, ::-1].copy(), rows)
    yield work("tril", ft.tril, np.tril, square)
    yield work("triu", ft.triu, np.triu, square)
    yield work(f"eye {side}", ft.eye, np.eye, np.asarray(side))
    yield work("diag", ft.diag, np.diag, drawn(side))
    yield work("diagonal", ft.diagonal, lambda x: np.diagonal(x).copy(), square)


def picks(n: int) -> Iterator[Work]:
    x, rows = drawn(n), drawn((n // 100, 100))
    at, rows_at = positions(n, n), positions(n // 100, n // 100)
    columns_at = positions(100, 100)
    order = np.argsort(rows, 1)
    yield work("take", ft.take, np.take, x, at)
    yield work("x[i]", lambda x, i: x[i], lambda x, i: x[i], x.astype("float32"), at)
    yield work("x[i] rows", lambda x, i: x[i], lambda x, i: x[i], rows, rows_at)
    yield work("x[:, i]", lambda x, i: x[:, i], lambda x, i: x[:, i], rows, columns_at)
    yield work(
        "x[i, j]", lambda x, i, j: x[i, j], lambda x, i, j: x[i, j], rows, at // 100, at % 100
    )
    yield work(
        "take_along_axis",
        lambda x, i: ft.take_along_axis(x, i, 1),
        lambda x, i: np.take_along_axis(x, i, 1),
        rows,
        order,
    )

    def put(x: np.ndarray, i: np.ndarray, y: np.ndarray) -> np.ndarray:
        x = x.copy()
        x[i] = y
        return x

    def add(x: np.ndarray, i: np.ndarray, y: np.ndarray) -> np.ndarray:
        x = x.copy()
        np.add.at(x, i, y)
        return x

    yield work("x[i] = y", lambda x, i, y: ft.set_subtensor(x[i], y), put, x, at, drawn(n))
    yield work("x[i] += y", lambda x, i, y: ft.inc_subtensor(x[i], y), add, x, at, drawn(n))
    yield work("where", lambda m, x, y: ft.where(m, x, y), np.where, x > 0, x, x + 1)
    yield work("where rows", lambda m, x, y: ft.where(m, x, y), np.where, rows > 0, rows, rows + 1)


def narrow(n: int) -> Iterator[Work]:
    for dtype in ("int8", "uint8", "int16"):
        x, y = drawn(n, dtype), drawn(n, dtype)
        yield work("add", ft.add, np.add, x, y)
        yield work("mul", ft.mul, np.multiply, x, y)
        yield work("clip", lambda x: ft.clip(x, 10, 100), lambda x: np.clip(x, 10, 100), x)
        yield work("maximum", ft.maximum, np.maximum, x, y)
        yield work("equal", ft.eq, np.equal, x, y)
        yield work("x // y", lambda x, y: x // y, lambda x, y: x // y, x, y | 1)
        yield work("as float64", lambda x: ft.cast(x, "float64"), lambda x: x.astype("float64"), x)
        yield work("max", ft.max, np.max, x)
        yield work("sum", ft.sum, np.sum, x)
        yield work("max axis 1", lambda x: ft.max(x, 1), lambda x: x.max(1), x.reshape(-1, 100))
    one, two = drawn(n, "bool"), drawn(n, "bool")
    yield work("and", lambda x, y: x & y, np.logical_and, one, two)
    yield work("sum", ft.sum, np.sum, one)
    yield work("any of none", ft.any, np.any, np.zeros(n, "bool"))
    yield work("any of all", ft.any, np.any, np.ones(n, "bool"))
    yield work("all", ft.all, np.all, np.ones(n, "bool"))
    half, single = drawn(n, "float16"), drawn(n, "float32")
    yield work("add", ft.add, np.add, half, half)
    yield work("exp", ft.exp, np.exp, half)
    yield work("max", ft.max, np.max, half)
    yield work("as float32", lambda x: ft.cast(x, "float32"), lambda x: x.astype("float32"), half)
    yield work("as float16", lambda x: ft.cast(x, "float16"), lambda x: x.astype("float16"), single)


GROUPS = (sorts, searches, repeats, running, joins, copies, picks, narrow)


def seconds(of: Callable[..., Any], given: tuple[np.ndarray, ...], number: int) -> float:
    """Of a call, over so many."""
    return timeit.timeit(lambda: of(*given), timer=time.thread_time, number=number) / number


def check(name: str, found: Any, expected: Any) -> None:
    """Both gave the same."""
    several = isinstance(expected, tuple)
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for ours, theirs in pairs:
        exact = 1e-2 if np.asarray(theirs).dtype == "float16" else 1e-6
        np.testing.assert_allclose(ours, theirs, rtol=exact, atol=exact, err_msg=name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="only works in whose names one of these is")
    parser.add_argument("--mode", help="the linker; without it, the one of the default mode")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    print(f"{'':44} {'frazil':>9} {'NumPy':>9} {'ratio':>7}")
    for group in GROUPS:
        for n in options.sizes:
            for name, written, theirs, given in group(n):
                if options.names and not any(part in name for part in options.names):
                    continue
                ours = compiled(written, given, options.mode)
                check(name, ours(*given), theirs(*given))
                number = max(1, int(0.002 / seconds(theirs, given, 2)))
                times = [
                    [seconds(of, given, number) * 1e6 for of in (ours, theirs)]
                    for _ in range(options.rounds)
                ]
                mine, other = (statistics.median(column) for column in zip(*times, strict=True))
                ratio = statistics.median(a / b for a, b in times)
                print(f"{name:44} {mine:9.1f} {other:9.1f} {ratio:7.2f}", flush=True)


if __name__ == "__main__":
    main()
