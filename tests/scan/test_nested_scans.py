"""Scans in scans, in OpFromGraph and in branches: values, gradients and gradients of these."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba")
PLAIN = fz.Mode("py").excluding("scan", "stabilize", "specialize", "blas")
X, A = ft.vector("x"), ft.vector("a")


@dataclass(frozen=True)
class Leaf:
    """What is done to two vectors at the bottom."""

    kind: str

    def __call__(self, x: Any, a: Any) -> Any:
        match self.kind:
            case "tanh":
                return ft.tanh(x * a)
            case "sin":
                return x / 2 + ft.sin(a)
            case "reversed":
                return x * 0.5 + a[::-1]
            case _:
                return x * ft.cos(ft.sum(a)) / 2


@dataclass(frozen=True)
class Chain:
    """One after the other."""

    first: Any
    second: Any

    def __call__(self, x: Any, a: Any) -> Any:
        return self.second(self.first(x, a), a)


@dataclass(frozen=True)
class Graph:
    """Within an OpFromGraph."""

    inner: Any
    inline: bool

    def __call__(self, x: Any, a: Any) -> Any:
        op = fz.OpFromGraph([X, A], [self.inner(X, A), ft.sum(X * A)], inline=self.inline)
        y, total = op(x, a)
        return y + ft.tanh(total)


@dataclass(frozen=True)
class Choice:
    """In a branch."""

    then: Any
    otherwise: Any

    def __call__(self, x: Any, a: Any) -> Any:
        return fz.ifelse(ft.sum(x) > 0.125, self.then(x, a), self.otherwise(a, x))


@dataclass(frozen=True)
class ScanNest:
    """In a step."""

    inner: Any
    taps: tuple[int, ...]
    lags: tuple[int, ...]
    steps: int
    backwards: bool
    cut: int
    until: bool
    takes: str

    def __call__(self, x: Any, a: Any) -> Any:
        def step(*arguments: Any) -> Any:
            *elements, constant = arguments
            rows, states = elements[: len(self.taps)], elements[len(self.taps) :]
            total = sum(states[1:], start=states[0] * 0.5)
            made = self.inner(total, sum(rows[1:], start=rows[0] * constant))
            outputs = [made, made * rows[-1]]
            return (outputs, fz.until(ft.sum(made) > 2.5)) if self.until else outputs

        extra = max(0, *self.taps) - min(0, *self.taps)
        scale = ft.constant(np.linspace(0.5, 1.0, self.steps + extra))
        sequence = ft.expand_dims(scale, 1) * x
        start = ft.stack([a, x, a * x][: -min(self.lags)]) if min(self.lags) < -1 else a
        (y, z), _ = fz.scan(
            step,
            {"input": sequence, "taps": list(self.taps)},
            [{"initial": start, "taps": list(self.lags)}, None],
            [a],
            n_steps=self.steps,
            go_backwards=self.backwards,
            truncate_gradient=self.cut,
        )
        match self.takes:
            case "last":
                return y[-1] + z[-1]
            case "lasts":
                return ft.sum(y[-2:], axis=0) / 2
            case "other":
                return z[-1]
            case _:
                return ft.sum(y, axis=0) / 4 + z[0]


def extended(inner: Any) -> Any:
    distances = st.lists(st.integers(-1, 1), min_size=1, max_size=3, unique=True).map(tuple)
    lags = st.lists(st.integers(-3, -1), min_size=1, max_size=2, unique=True).map(tuple)
    return st.one_of(
        st.builds(Chain, inner, inner),
        st.builds(Graph, inner, st.booleans()),
        st.builds(Choice, inner, inner),
        st.builds(
            ScanNest,
            inner,
            distances,
            lags,
            st.integers(1, 4),
            st.booleans(),
            st.sampled_from([-1, -1, 1, 2]),
            st.booleans(),
            st.sampled_from(["last", "lasts", "other", "all"]),
        ),
    )


leaves = st.sampled_from(["tanh", "sin", "reversed", "scaled"]).map(Leaf)
nests = st.recursive(leaves, extended, max_leaves=4)
VALUES = np.array([0.3, -0.4, 0.7]), np.array([0.6, 0.2, -0.5])


@settings(max_examples=10)
@given(
    nest=extended(nests),
    order=st.integers(0, 2),
    static=st.booleans(),
    mode=st.sampled_from(MODES),
)
def test_nests_are_what_they_are_without_rewriting(
    nest: Any, order: int, static: bool, mode: str
) -> None:
    x, a = (ft.tensor(name, shape=(3 if static else None,)) for name in "xa")
    outputs = [nest(x, a)]
    cost = ft.sum(ft.sin(outputs[0]))
    for _ in range(order):
        gradients = fz.grad(cost, [x, a], disconnected_inputs="ignore")
        outputs += gradients
        cost = sum((ft.sum(g * ft.cos(g)) for g in gradients), start=ft.constant(0.0))
    f = fz.function([x, a], outputs, mode=mode, on_unused_input="ignore")
    plain = fz.function([x, a], outputs, mode=PLAIN, on_unused_input="ignore")
    for found, wanted in zip(f(*VALUES), plain(*VALUES), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


@settings(max_examples=10)
@given(nest=extended(leaves), second=st.booleans())
def test_gradients_of_nests(nest: Any, second: bool) -> None:
    if isinstance(nest, ScanNest) and (nest.cut >= 0 or nest.until):
        return
    note(str(nest))

    def slope(x: Any, a: Any) -> Any:
        if not second:
            return nest(x, a)
        total = ft.sum(ft.sin(nest(x, a)))
        return fz.grad(total, x, disconnected_inputs="ignore")

    verify_grad(slope, VALUES, abs_tol=1e-5, rel_tol=1e-4)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_many_threads_compile_one_nest(mode: str) -> None:
    """Scans, choices and graphs that are built alike in eight threads at once."""
    outcomes: dict[int, list[np.ndarray]] = {}
    barrier = threading.Barrier(8)
    leaf = Leaf("tanh")
    scan = ScanNest(Graph(leaf, False), (-1, 0, 1), (-2, -1), 3, True, -1, False, "lasts")
    nest = Choice(Chain(scan, Leaf("sin")), scan)

    def work(number: int) -> None:
        barrier.wait()
        with fz.Container():
            x, a = ft.vector("x"), ft.vector("a")
            y = nest(x, a)
            cost = ft.sum(y * 1.0625) * float(number)
            f = fz.function([x, a], [y, *fz.grad(cost, [x, a])], mode=mode)
            outcomes[number] = f(*VALUES)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == list(range(1, 9))
    value, *slopes = outcomes[1]
    for number, (other, *steeper) in outcomes.items():
        np.testing.assert_array_equal(other, value)
        for slope, steep in zip(slopes, steeper, strict=True):
            np.testing.assert_allclose(steep, number * slope, rtol=1e-9)
