"""Drawn steps over arrays, beside a loop in Python: values, first and second gradients.

A step makes vectors of its states and of what it is given, by slices, gathers, joins, products,
reductions, puts and scans within it. Of the vectors made last its next states are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import evaluate_all

import frazil as fz
import frazil.tensor as ft


class NumPy:
    """What steps call, by NumPy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def put(self, x: Any, at: slice, value: Any) -> Any:
        made = x.copy()
        made[at] += value
        return made

    def over_rows(self, rows: Any, start: Any) -> Any:
        return loop_over_rows(np, rows, start)


class Unrolled:
    """What steps call, by frazil, each loop written out."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __getattr__(self, name: str) -> Any:
        return getattr(ft, name)

    def put(self, x: Any, at: slice, value: Any) -> Any:
        return ft.inc_subtensor(x[at], value)

    def over_rows(self, rows: Any, start: Any) -> Any:
        return loop_over_rows(ft, [rows[k] for k in range(self.rows)], start)


class Scanned(Unrolled):
    """What steps call, by frazil, with scans within scans."""

    def over_rows(self, rows: Any, start: Any) -> Any:
        steps = fz.scan(
            lambda row, own: inner_step(ft, row, own),
            sequences=rows,
            outputs_info=start,
            return_updates=False,
        )
        # A scan without steps has no last row.
        return ft.concatenate([start[None], steps])[-1]


def inner_step(xp: Any, row: Any, own: Any) -> Any:
    return xp.tanh(own * 0.5 + xp.sin(row))


def loop_over_rows(xp: Any, rows: Any, start: Any) -> Any:
    for row in rows:
        start = inner_step(xp, row, start)
    return start


def joined(xp: Any, x: Any, k: int) -> Any:
    """The parts before and behind an element, the other way around."""
    return xp.concatenate([x[k:], x[:k]])


# Each makes a vector of two, a matrix whose rows and columns are as long, elements' places, and the
# number of the present step's place.
OPS = {
    "add": lambda xp, x, y, m, places, at, k: x - 0.5 * y,
    "tanh": lambda xp, x, y, m, places, at, k: xp.tanh(x * y + 0.1),
    "exp": lambda xp, x, y, m, places, at, k: xp.exp(-x * x) * xp.sin(y),
    "turned": lambda xp, x, y, m, places, at, k: joined(xp, x, k) + y,
    "differences": lambda xp, x, y, m, places, at, k: xp.concatenate([x[1:] - x[:-1], y[:1]]),
    "backwards": lambda xp, x, y, m, places, at, k: x[::-1] * y,
    "gathered": lambda xp, x, y, m, places, at, k: x[places] * y,
    "chosen": lambda xp, x, y, m, places, at, k: x * xp.sum(y[at : at + 1]),
    "row": lambda xp, x, y, m, places, at, k: xp.sum(m[at : at + 2], axis=0) * x - y,
    "product": lambda xp, x, y, m, places, at, k: m @ x - y,
    "by_rows": lambda xp, x, y, m, places, at, k: x @ m + y,
    "joined_product": lambda xp, x, y, m, places, at, k: (
        xp.concatenate([m, m * 0.5], axis=1) @ xp.concatenate([x, y])
    )[: x.shape[0]],
    "cut_sum": lambda xp, x, y, m, places, at, k: xp.concatenate(
        [(m @ x - m.T @ y)[k:], (x @ m)[:k]]
    ),
    "columns": lambda xp, x, y, m, places, at, k: xp.sum(m * x[:, None] * y, axis=0),
    "rows": lambda xp, x, y, m, places, at, k: xp.sum(xp.tanh(m + x[:, None]), axis=1) * y,
    "whole": lambda xp, x, y, m, places, at, k: x * xp.sum(y * y) + xp.sum(x),
    "running": lambda xp, x, y, m, places, at, k: xp.cumsum(x) * 0.3 + y,
    "put": lambda xp, x, y, m, places, at, k: xp.put(x, slice(k, k + 2), y[k : k + 2]),
    "nested": lambda xp, x, y, m, places, at, k: xp.over_rows(m, x) - y,
}


@dataclass(frozen=True)
class Case:
    """A loop: ops with the positions of their vectors, how many states, and the lengths."""

    ops: tuple[tuple[str, int, int, int], ...]
    states: int
    steps: int
    length: int
    limit: float | None
    stated: bool
    seed: int

    def step(self, xp: Any, row: Any, at: Any, states: Any, matrix: Any, fixed: Any) -> Any:
        """The next states: vectors, the first of which makes the matrix that is one, too."""
        *vectors, square = states
        pool = [row, *vectors, fixed]
        places = self.places()
        for name, one, other, k in self.ops:
            x, y = pool[one % len(pool)], pool[other % len(pool)]
            m = square if k % 2 else matrix
            made = OPS[name](xp, x, y, m, places, at, k % (self.length + 1))
            pool.append(xp.tanh(made))
        new = [0.7 * pool[-1 - k] + 0.2 * x for k, x in enumerate(vectors)]
        return [*new, 0.5 * square + 0.1 * new[0][:, None] * row]

    def places(self) -> np.ndarray:
        return np.random.default_rng(self.seed).integers(-self.length, self.length, self.length)

    def values(self) -> list[np.ndarray]:
        rng, n = np.random.default_rng(self.seed), self.length
        shapes = [(self.steps, n), *[(n,)] * self.states, (n, n), (n, n), (n,)]
        return [rng.normal(size=shape) / 2 for shape in shapes]

    def numbers(self) -> np.ndarray:
        return np.arange(self.steps) * 3 % max(self.length, 1)

    def inputs(self) -> list[Any]:
        return [
            ft.tensor(shape=x.shape if self.stated else (None,) * x.ndim) for x in self.values()
        ]

    def by_numpy(self) -> list[list[np.ndarray]]:
        """The states after each step, until one is over the limit."""
        rows, *states, matrix, fixed = self.values()
        found = []
        for row, at in zip(rows, self.numbers(), strict=True):
            states = self.step(NumPy(), row, at, states, matrix, fixed)
            found.append(states)
            if self.limit is not None and states[0].sum() > self.limit:
                break
        return found

    def unrolled(self, inputs: list[Any], done: int) -> list[Any]:
        rows, *states, matrix, fixed = inputs
        outputs = [states]
        for k, at in enumerate(self.numbers()[:done]):
            states = self.step(Unrolled(self.length), rows[k], int(at), states, matrix, fixed)
            outputs.append(states)
        return [cost(outputs[-1], [own[0] for own in outputs[1:]])]

    def scanned(self, inputs: list[Any]) -> tuple[Any, list[Any]]:
        rows, *starts, matrix, fixed = inputs

        def step(row: Any, at: Any, *others: Any) -> Any:
            *states, matrix, fixed = others
            made = self.step(Scanned(self.length), row, at, states, matrix, fixed)
            if self.limit is None:
                return made
            return made, fz.until(made[0].sum() > self.limit)

        stacks = fz.scan(
            step,
            sequences=[rows, ft.constant(self.numbers())],
            outputs_info=starts,
            non_sequences=[matrix, fixed],
            return_updates=False,
        )
        lasts = [
            ft.concatenate([start[None], stack])[-1]
            for start, stack in zip(starts, stacks, strict=True)
        ]
        return cost(lasts, [stacks[0]]), stacks


def cost(lasts: list[Any], stacked: list[Any]) -> Any:
    return sum((x**2).sum() for x in lasts) + sum((ft.sin(x) ** 2).sum() for x in stacked)


def with_gradients(total: Any, inputs: list[Any]) -> list[Any]:
    first = fz.grad(total, inputs, disconnected_inputs="ignore")
    of_first = sum((ft.cos(g) * g).sum() for g in first)
    second = fz.grad(of_first, inputs, disconnected_inputs="ignore")
    return [total, *first, *second]


CASES = st.builds(
    Case,
    ops=st.lists(
        st.tuples(st.sampled_from(sorted(OPS)), *[st.integers(0, 9)] * 3), min_size=1, max_size=5
    ).map(tuple),
    states=st.integers(1, 3),
    steps=st.sampled_from([0, 1, 2, 3, 5]),
    length=st.sampled_from([0, 1, 2, 3, 5]),
    limit=st.sampled_from([None, None, 0.2, 1.0]),
    stated=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)


PLACES = (("gathered", 0, 1, 0), ("differences", 1, 4, 1), ("nested", 3, 1, 1))
PARTS = (("chosen", 0, 1, 0), ("put", 1, 4, 1), ("cut_sum", 3, 1, 1), ("columns", 5, 0, 0))
# No steps, lengths of 0 and 1, and early ends: after two steps of three, after three of five.
EDGES = [
    Case(PLACES, states=2, steps=0, length=1, limit=None, stated=False, seed=1),
    Case(PLACES, states=1, steps=3, length=2, limit=0.2, stated=False, seed=13),
    Case(PARTS, states=1, steps=2, length=0, limit=None, stated=True, seed=1),
    Case(PARTS, states=1, steps=5, length=1, limit=-0.005, stated=False, seed=3),
]


def compare(case: Case, mode: str) -> None:
    values, inputs = case.values(), case.inputs()
    total, stacks = case.scanned(inputs)
    f = fz.function(
        inputs, [*stacks, *with_gradients(total, inputs)], mode=mode, on_unused_input="ignore"
    )
    found = f(*values)
    expected = case.by_numpy()
    for k, own in enumerate(found[: len(stacks)]):
        assert own.shape[0] == len(expected)
        for one, states in zip(own, expected, strict=True):
            np.testing.assert_allclose(one, states[k], rtol=1e-9, atol=1e-12)
    fresh = [ft.tensor(shape=x.shape) for x in values]
    [plain] = case.unrolled(fresh, len(expected))
    wanted = evaluate_all(with_gradients(plain, fresh), dict(zip(fresh, values, strict=True)))
    for one, other in zip(found[len(stacks) :], wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("mode", "examples"), [("py", 8), ("cranelift", 25), ("c", 4), ("numba", 2)]
)
def test_steps_and_their_gradients_are_those_of_a_loop(mode, examples):
    @settings(
        max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.nested_given]
    )
    @given(CASES)
    def compared(case):
        compare(case, mode)

    compared()


@pytest.mark.parametrize("case", EDGES, ids=[f"{x.steps}x{x.length}" for x in EDGES])
def test_steps_at_the_edges_are_those_of_a_loop(mode, case):
    compare(case, mode)
