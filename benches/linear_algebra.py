"""Microseconds a call of products, systems and factors, in frazil and in NumPy or SciPy.

    OPENBLAS_NUM_THREADS=1 python benches/linear_algebra.py

Products, factors, systems and determinants of many matrices are one call of each. A step of a
Kalman filter is a graph of a dozen products, a system and a determinant of matrices of four rows,
against the same in NumPy. Single matrices stand against LAPACK, called through SciPy. Both take
turns, on one thread; the number is the processor time, the median over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.linalg import solve_banded as solve_banded_of_scipy

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.linalg import (
    cholesky,
    det,
    eigh,
    eigvalsh,
    inv,
    solve,
    solve_banded,
    svd,
    svdvals,
)

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


def stacks(count: int, n: int) -> list[Work]:
    """Factors, systems and determinants of so many positive definite matrices."""
    x, y = ft.tensor3("x"), ft.tensor("y", shape=(None, None, 1))
    a = np.random.default_rng(0).normal(size=(count, n, n))
    a, b = a @ a.mT + n * np.eye(n), a[..., :1]
    return [
        (f"cholesky of ({count}, {n}, {n})", _function([x], cholesky(x)), np.linalg.cholesky, [a]),
        (f"solve of ({count}, {n}, {n})", _function([x, y], solve(x, y)), np.linalg.solve, [a, b]),
        (f"det of ({count}, {n}, {n})", _function([x], det(x)), np.linalg.det, [a]),
        (f"inv of ({count}, {n}, {n})", _function([x], inv(x)), np.linalg.inv, [a]),
        (f"svdvals of ({count}, {n}, {n})", _function([x], svdvals(x)), np.linalg.svdvals, [a]),
        (f"eigvalsh of ({count}, {n}, {n})", _function([x], eigvalsh(x)), np.linalg.eigvalsh, [a]),
        (f"svd of ({count}, {n}, {n})", _function([x], svd(x)), np.linalg.svd, [a]),
        (f"eigh of ({count}, {n}, {n})", _function([x], eigh(x)), np.linalg.eigh, [a]),
    ]


def singles(n: int) -> list[Work]:
    """A factor, a system and decompositions of one matrix, which lies as LAPACK wants it."""
    x, y = ft.matrix("x"), ft.vector("y")
    a = np.random.default_rng(0).normal(size=(n, n))
    a, b = np.asfortranarray(a @ a.T + n * np.eye(n)), a[0].copy()
    return [
        (
            f"cholesky of ({n}, {n})",
            _function([x], cholesky(x)),
            lambda a: lapack.dpotrf(a, lower=1)[0],
            [a],
        ),
        (
            f"solve of ({n}, {n})",
            _function([x, y], solve(x, y)),
            lambda a, b: lapack.dgesv(a, b)[2],
            [a, b],
        ),
        (
            f"svd of ({n}, {n})",
            _function([x], svdvals(x)),
            lambda a: lapack.dgesdd(a, compute_uv=0)[1],
            [a],
        ),
        (
            f"eigh of ({n}, {n})",
            _function([x], eigvalsh(x)),
            lambda a: lapack.dsyevd(a, compute_v=0, lower=1)[0],
            [a],
        ),
    ]


def diagonals(n: int) -> list[Work]:
    """Systems of one and of two diagonals on either side of the main one."""
    x, y = ft.matrix("x"), ft.vector("y")
    works: list[Work] = []
    for count in (1, 2):
        a = np.full((2 * count + 1, n), -1.0)
        a[count] = 2 * count + 1.0
        works.append(
            (
                f"solve_banded of ({2 * count + 1}, {n})",
                _function([x, y], solve_banded((count, count), x, y)),
                lambda a, b, bands=(count, count): solve_banded_of_scipy(bands, a, b),
                [a, np.ones(n)],
            )
        )
    return works


def _function(
    inputs: list[fz.Variable], output: fz.Variable | tuple[fz.Variable, ...]
) -> Callable[..., Any]:
    outputs = output if isinstance(output, fz.Variable) else list(output)
    return fz.function(inputs, outputs, threads=1)


def seconds(of: Callable[..., Any], given: list[np.ndarray], number: int) -> float:
    """Of a call, over so many."""
    timer = timeit.Timer(lambda: of(*given), timer=time.process_time)
    return timer.timeit(number) / number


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list | tuple) else [results]


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
        *(stacks(1000, 3) + stacks(1000, 8) + stacks(100, 30)),
        *(work for n in (8, 20, 50, 100, 200, 500) for work in singles(n)),
        *diagonals(1000),
    ]
    print(f"{'':36} {'frazil':>9} {'others':>9} {'ratio':>7}")
    for name, ours, theirs, given in works:
        results = zip(listed(ours(*given)), listed(theirs(*given)), strict=True)
        for found, expected in results:
            # Vectors may have either sign.
            np.testing.assert_allclose(abs(found), abs(expected), rtol=1e-8, atol=1e-8)
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
