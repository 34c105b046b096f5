"""An OpFromGraph knows of its outputs' lengths what its graph knows of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ("py", "c", "cranelift", "numba")
X, M = ft.vector("x"), ft.matrix("m")
Step = Callable[[fz.Variable, fz.Variable], fz.Variable]

vectors: list[Step] = [
    lambda v, m: v @ m,
    lambda v, m: m @ v,
    lambda v, m: ft.concatenate([v, v])[: v.shape[0]] + v,
    lambda v, m: ft.sum(m, axis=0) * v,
    lambda v, m: fz.OpFromGraph([X, M], [ft.tanh(X) @ M])(v, m),
]
coarse: list[Step] = [
    lambda v, m: fz.ifelse(ft.sum(v) > 0, v, m[0]),
    lambda v, m: fz.scan(lambda row, s: s + row, m, v)[0][-1],
]
"""Of ops that are built for the types of what they take."""
results: list[Step] = [
    lambda v, m: ft.concatenate([v, v, v]),
    lambda v, m: ft.expand_dims(v, 1) * v,
    lambda v, m: m[1:].T,
    lambda v, m: v[::2],
    lambda v, m: ft.sum(v),
]


def build(steps: list[Step], ends: list[Step], v: fz.Variable, m: fz.Variable) -> list[fz.Variable]:
    for step in steps:
        v = step(v, m)
    return [v, *(end(v, m) for end in ends)]


@settings(max_examples=settings.default.max_examples // 3)
@given(
    steps=st.lists(st.sampled_from(vectors + coarse), max_size=4),
    ends=st.lists(st.sampled_from(results), min_size=1, max_size=3),
    told=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    inline=st.booleans(),
    mode=st.sampled_from(MODES),
)
def test_types_are_those_of_the_graph_over_the_arguments(
    steps: list[Step],
    ends: list[Step],
    told: tuple[bool, bool, bool],
    inline: bool,
    mode: str,
) -> None:
    op = fz.OpFromGraph([X, M], build(steps, ends, X, M), inline=inline)
    v = ft.tensor("v", shape=(3 if told[0] else None,))
    m = ft.tensor("m", shape=tuple(3 if own else None for own in told[1:]))
    plain = build(steps, ends, v, m)
    made = op(v, m)
    if not any(step in coarse for step in steps):
        assert [y.type for y in made] == [y.type for y in plain]
    gradient = fz.grad(ft.sum(made[0] ** 2), v)
    f = fz.function([v, m], [*made, gradient], mode=mode, on_unused_input="ignore")
    expected = [*plain, fz.grad(ft.sum(plain[0] ** 2), v)]
    g = fz.function([v, m], expected, mode="py", on_unused_input="ignore")
    values = np.linspace(-0.5, 0.7, 3), np.linspace(-1, 1, 9).reshape(3, 3) / 4
    for found, wanted in zip(f(*values), g(*values), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_what_is_not_declared_as_one_does_not_broadcast() -> None:
    op = fz.OpFromGraph([X, M], [X + M[0]])
    assert op(ft.tensor(shape=(1,)), ft.tensor(shape=(2, 3))).type.shape == (3,)
    x, m = ft.tensor(shape=(1,)), ft.matrix()
    y = op(x, m)
    assert y.type.shape == (None,)
    for mode in MODES:
        with pytest.raises(ValueError, match=r"broadcast|shape|length"):
            fz.function([x, m], y, mode=mode)([1.0], [[1.0, 2.0]])


def test_lengths_that_do_not_agree_are_found_where_the_op_is_applied() -> None:
    op = fz.OpFromGraph([X, M], [X @ M], name="product")
    with pytest.raises(ValueError, match="shapes") as error:
        op(ft.tensor(shape=(3,)), ft.tensor(shape=(4, 4)))
    told = ["in OpFromGraph{product}, applied to float64[3], float64[4, 4]"]
    assert error.value.__notes__ == told


@pytest.mark.parametrize("mode", MODES)
def test_loops_over_what_an_op_gives_are_one_kernel_if_lengths_are_known(mode: str) -> None:
    op = fz.OpFromGraph([X], [ft.tanh(X) * 0.5])
    start = ft.tensor("start", shape=(2,))
    states, _ = fz.scan(lambda h: op(h) + 1, None, start, n_steps=3)
    f = fz.function([start], states, mode=mode)
    np.testing.assert_allclose(f([0.0, 1.0])[0], [1.0, 1 + np.tanh(1) / 2])
    assert states.type.shape == (3, 2)
