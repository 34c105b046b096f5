"""Scans without steps: shapes tell the row lengths of stacks, and gradients are zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil import random

MODES: list[Any] = [
    "py",
    "c",
    "cranelift",
    "numba",
    fz.Mode("py").excluding("all"),
    fz.Mode("cranelift").excluding("scan"),
]
"""With the rules and without them: what is not run has one shape."""

x, k = ft.dmatrix("x"), ft.lvector("k")
chosen = ft.scalar("chosen", dtype="bool")
steps = ft.lscalar("steps")
VALUES = np.random.default_rng(0).normal(size=(3, 4))
COUNTS = np.array([2, 1, 3])


def _of_graph(row: fz.Variable) -> fz.Variable:
    u, w = ft.dvector(), ft.dmatrix()
    result: fz.Variable = fz.OpFromGraph([u, w], [fz.ifelse(ft.sum(u) > 0, u, w[0] * u)])(row, x)
    return result


def _sums(row: fz.Variable) -> fz.Variable:
    result: fz.Variable = fz.scan(lambda e, s: (s + e, fz.until(s > 1)), row, row[0] * 0.0)[0]
    return result


def _choices(row: fz.Variable) -> fz.Variable:
    result: fz.Variable = fz.scan(lambda e: fz.ifelse(e > 1, row * e, x[0] * row), row)[0]
    return result


def _batch(row: fz.Variable) -> fz.Variable:
    y, z = ft.dvector(), ft.dvector()
    choice = fz.ifelse(ft.sum(y) > 0, y * 2, y / z)
    result: fz.Variable = fz.vectorize(choice, {y: x, z: ft.outer(row, row)[:3]})
    return result


@dataclass(frozen=True)
class Doubled(fz.Op):
    """An op that every linker computes by Python."""

    def make_node(self, u: fz.Variable) -> fz.FrozenApply:
        return fz.FrozenApply(self, [u], [u.type])

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (inputs[0] * 2,)

    def infer_shape(self, node: fz.FrozenApply, input_shapes: Any) -> Any:
        return (input_shapes[0],)

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return [output_gradients[0] * 2]


def _counts(row: fz.Variable) -> fz.Variable:
    state = random.state_of(1)
    state, _ = random.multivariate_normal(state, row[:2], np.eye(2), size=2)
    return random.multinomial(state, np.array([16, 13]), [0.5, 0.5])[1] * row[0]


ROWS: dict[str, tuple[Callable[[fz.Variable], Any], tuple[int, ...]]] = {
    "equal branches": (lambda r: fz.ifelse(ft.sum(r) > 0, ft.sin(r), x[0] / (1 + r * r)), (4,)),
    "branches that differ": (lambda r: fz.ifelse(ft.sum(r) > 0, r, r[1:] * r[0]), (0,)),
    "static branches": (lambda r: fz.ifelse(ft.sum(r) > 0, r[:2], r[:1] * r[0]), (0,)),
    "a known condition": (lambda r: fz.ifelse(chosen, r, r[1:] * r[0]), (3,)),
    "a join": (lambda r: ft.concatenate([fz.ifelse(ft.sum(r) > 0, r, x[0] * r), r]), (8,)),
    "a choice in front": (lambda r: fz.ifelse(ft.sum(r) > 0, r, r[1:] * r[0]) + r, (0,)),
    "a mask": (lambda r: r[r > 0], (0,)),
    "rows of a mask": (lambda r: x[:, r > 0] * 2, (3, 0)),
    "an OpFromGraph": (_of_graph, (4,)),
    "an inner scan": (_choices, (4, 4)),
    "an inner scan that ends early": (_sums, (0,)),
    "a batch": (_batch, (3, 4)),
    "an op of Python's": (Doubled(), (4,)),
    "elements behind an op of Python's": (lambda r: ft.outer(ft.exp(Doubled()(r)), r[1:]), (4, 3)),
    "a product behind an op of Python's": (lambda r: x @ Doubled()(r), (3,)),
    "complex numbers": (lambda r: ft.concatenate([abs(ft.fft.fft(r)), r]), (8,)),
    "counts behind normal vectors": (_counts, (2, 2)),
}


@pytest.mark.parametrize("name", ROWS)
def test_row_lengths_are_those_that_shapes_tell(name: str) -> None:
    step, row = ROWS[name]
    stack = fz.scan(step, sequences=[x], n_steps=steps, return_updates=False)
    for mode in MODES:
        f = fz.function([x, chosen, steps], stack, mode=mode, on_unused_input="ignore")
        assert f(VALUES, False, 0).shape == (0, *row), mode


@pytest.mark.parametrize("kind", ["plain", "ends early", "truncated"])
@pytest.mark.parametrize("name", ROWS)
def test_gradients_are_zeros(name: str, kind: str) -> None:
    def step(row: fz.Variable) -> Any:
        made = ROWS[name][0](row)
        return (made, fz.until(ft.sum(row) > 100)) if kind == "ends early" else made

    back = 1 if kind == "truncated" else -1
    stack = fz.scan(
        step, sequences=[x], n_steps=steps, truncate_gradient=back, return_updates=False
    )
    gradient = fz.grad(ft.sum(ft.sin(stack)) + ft.sum(x), x)
    second = fz.grad(ft.sum(gradient * x), x)
    for mode in MODES:
        f = fz.function([x, chosen, steps], [gradient, second], mode=mode, on_unused_input="ignore")
        for found in f(VALUES, False, 0):
            np.testing.assert_array_equal(found, np.ones((3, 4)))


@pytest.mark.parametrize("mode", MODES)
def test_stacks_without_rows_are_joined_with_others(mode: Any) -> None:
    step, _ = ROWS["equal branches"]
    stack = fz.scan(step, sequences=[x], n_steps=steps, return_updates=False)
    joined = ft.concatenate([x, stack])
    gradient = fz.grad(ft.sum(joined**2), x)
    f = fz.function([x, steps], [joined, gradient], mode=mode)
    found, slope = f(VALUES, 0)
    np.testing.assert_array_equal(found, VALUES)
    np.testing.assert_allclose(slope, 2 * VALUES)
    sines = np.where(VALUES.sum(1, keepdims=True) > 0, np.sin(VALUES), VALUES[0] / (1 + VALUES**2))
    np.testing.assert_allclose(f(VALUES, 2)[0], [*VALUES, *sines[:2]])


@pytest.mark.parametrize("mode", MODES)
def test_a_tangent_of_no_rows_is_of_their_shape(mode: Any) -> None:
    step, row = ROWS["equal branches"]
    stack = fz.scan(step, sequences=[x], n_steps=steps, return_updates=False)
    v = ft.dmatrix("v")
    tangent = fz.Rop(stack, x, v)
    f = fz.function([x, v, steps], tangent, mode=mode, on_unused_input="ignore")
    assert f(VALUES, VALUES, 0).shape == (0, *row)


@pytest.mark.parametrize("mode", MODES)
def test_values_that_a_step_would_have_count_as_nothing(mode: Any) -> None:
    stack = fz.scan(lambda n, r: ft.zeros(n) + r[0], [k, x], n_steps=steps, return_updates=False)
    f = fz.function([k, x, steps], [stack, fz.grad(ft.sum(stack), x)], mode=mode)
    found, slope = f(COUNTS, VALUES, 0)
    assert found.shape == (0, 0)
    np.testing.assert_array_equal(slope, np.zeros((3, 4)))
    assert f(COUNTS, VALUES, 1)[0].shape == (1, 2)
