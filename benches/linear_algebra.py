"""Microseconds a call of products and systems, in frazil and in NumPy: many small matrices and few.

    python benches/linear_algebra.py

Products of many matrices are one call of each. A step of a Kalman filter is a graph of a dozen
products, a system and a determinant of matrices of four rows, against the same in NumPy. Both take
turns; the number is the median over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import frazil as fz
import frazil.tensor as ft

Work = tuple[str, Callable[..., Any], Callable[..., Any], list[np.ndarray]]


def products(count: int, n: int) -> Work:
    """So many products of square matrices."""
    x, y = ft.tensor3("x"), ft.tensor3("y")
    a, b = np.random.default_rng(0).normal(size=(2, count, n, n))
    return (
        f"({count}, {n}, {n}) @ ({count}, {n}, {n})",
        fz.function([x, y], x @ y),
        np.matmul,
        [a, b],
    )


def integers(rows: int, inner: int, columns: int) -> Work:
    """A product of matrices of int64, which no BLAS knows."""
    x, y = ft.matrix("x", dtype="int64"), ft.matrix("y", dtype="int64")
    rng = np.random.default_rng(0)
    given = [rng.integers(-9, 10, shape) for shape in ((rows, inner), (inner, columns))]
    return (
        f"({rows}, {inner}) @ ({inner}, {columns}) of int64",
        fz.function([x, y], x @ y, threads=1),
        np.matmul,
        given,
    )


def kalman(n: int) -> Work:
    """One step of a filter with a state of ``n`` numbers, of which half are seen."""

    def step(matmul, solve, logdet, x, P, F, Q, H, R, y):
        x = matmul(F, x)
        P = matmul(matmul(F, P), F.T) + Q
        v = y - matmul(H, x)
        PH = matmul(P, H.T)
        S = matmul(H, PH) + R
        K = solve(S, PH.T).T
        x = x + matmul(K, v)
        P = P - matmul(K, PH.T)
        return [x, P, -0.5 * (logdet(S) + matmul(v, solve(S, v)))]

    rng = np.random.default_rng(0)
    m = n // 2
    shapes = [(n,), (n, n), (n, n), (n, n), (m, n), (m, m), (m,)]
    given = [rng.normal(size=shape) for shape in shapes]
    for at in (1, 3, 5):
        given[at] = given[at] @ given[at].T + np.eye(len(given[at]))
    operands = [ft.tensor(shape=(None,) * len(shape)) for shape in shapes]
    outputs = step(ft.matmul, ft.linalg.solve, lambda s: ft.linalg.slogdet(s)[1], *operands)
    numpy = (np.matmul, np.linalg.solve, lambda s: np.linalg.slogdet(s)[1])
    return (
        f"a step of a Kalman filter, {n} states",
        fz.function(operands, outputs),
        lambda *arrays: step(*numpy, *arrays),
        given,
    )


def seconds(of: Callable[..., Any], given: list[np.ndarray], number: int) -> float:
    """Of a call, over so many."""
    return timeit.timeit(lambda: of(*given), number=number) / number


def listed(results: Any) -> list[Any]:
    return results if isinstance(results, list) else [results]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    works = [
        *(products(1000, 4), products(1000, 8), products(32, 100)),
        *(integers(300, 300, 300), integers(1000, 1000, 1), integers(3, 1000, 3)),
        *(kalman(4), kalman(20)),
    ]
    print(f"{'':36} {'frazil':>9} {'NumPy':>9} {'ratio':>7}")
    for name, ours, theirs, given in works:
        results = zip(listed(ours(*given)), listed(theirs(*given)), strict=True)
        for found, expected in results:
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
        number = max(1, int(0.005 / seconds(theirs, given, 2)))
        times = [
            [seconds(of, given, number) * 1e6 for of in (ours, theirs)]
            for _ in range(options.rounds)
        ]
        mine, other = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(a / b for a, b in times)
        print(f"{name:36} {mine:9.1f} {other:9.1f} {ratio:7.2f}")


if __name__ == "__main__":
    main()
