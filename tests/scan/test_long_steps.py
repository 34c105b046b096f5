"""Scans whose steps are hundreds of statements about single elements: one kernel all the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ("c", "cranelift", "numba")

CHANGES = {
    "product": lambda s, k, w: w @ s / 4,
    "wide": lambda s, k, w: ft.tanh(s) + ft.cast(s, "float32") * s.T,
    "chosen": lambda s, k, w: ft.switch(ft.gt(s, 0.1), s, w * 0.5),
    "powers": lambda s, k, w: s + ft.cast(k ** (k % 3), "float64") / 1e4,
}


FAILING = {"falling": lambda s, k, w: s + ft.cast(k**k, "float64")}


def scan(size, changes, mode, start=None):
    """A matrix and a matrix of integers that go through these changes."""
    xs, w = ft.matrix("xs", shape=(None, size)), ft.matrix("w", shape=(size, size))
    first = np.arange(size * size).reshape(size, size) % 7 if start is None else start

    def step(x, s, k, w):
        for change in changes:
            s = (CHANGES | FAILING)[change](s, k, w)
        return [s + x, (k * 31 + 7) % 101 - (0 if start is None else 200)]

    (states, numbers), _ = fz.scan(
        step,
        sequences=[xs],
        outputs_info=[ft.constant(np.eye(size)), ft.constant(first)],
        non_sequences=[w],
    )
    return fz.function(
        [xs, w], [states, numbers[-1], states.sum()], mode=mode, on_unused_input="ignore"
    )


@settings(max_examples=4)
@given(
    size=st.integers(4, 6),
    changes=st.lists(st.sampled_from(sorted(CHANGES)), min_size=2, max_size=4),
    steps=st.integers(1, 5),
    mode=st.sampled_from(MODES),
)
def test_a_long_step_is_a_step(size, changes, steps, mode):
    f = scan(size, changes, mode)
    assert sum(" scan k" in line for line in str(f.explain()).splitlines()) == 1
    rng = np.random.default_rng(steps)
    xs, w = rng.normal(size=(steps, size)), rng.normal(size=(size, size))
    for got, want in zip(f(xs, w), scan(size, changes, "py")(xs, w), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_an_op_that_fails_does_so_between_others(mode):
    f = scan(4, ["product", "falling", "product"], mode, start=np.full((4, 4), 3))
    xs = np.zeros((3, 4))
    assert np.isfinite(f(xs[:1], np.eye(4))[0]).all()
    with pytest.raises(ValueError, match="negative"):
        # The second step's exponents are below zero.
        f(xs, np.eye(4))


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_a_long_step(mode):
    xs, w = ft.matrix("xs", shape=(None, 4)), ft.matrix("w", shape=(4, 4))
    states, _ = fz.scan(lambda x, s, w: ft.tanh(w @ s @ w.T + x), xs, ft.constant(np.eye(4)), [w])
    cost = (states[-1] ** 2).sum()
    rng = np.random.default_rng(0)
    given = rng.normal(size=(6, 4)), rng.normal(size=(4, 4)) / 2
    got, want = (fz.function([xs, w], fz.grad(cost, [xs, w]), mode=m)(*given) for m in (mode, "py"))
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
