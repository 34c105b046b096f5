"""Steps whose elements do not meet go block by block, with the bits of those for all elements."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["c", "cranelift", "numba"]


def apart(rate, x, v, scale):
    moved = v - rate * ft.sin(x) * scale
    return [ft.where(x > 1.5, x - 1.0, x + 0.1 * moved), moved]


def handed_on(rate, x, v, scale):
    return [v, ft.tanh(x + rate * scale)]


def meeting(rate, x, v, scale):
    return [0.5 * x + rate * x[0], ft.tanh(v + x[-1]) * scale]


def shifted(rate, x, v, scale):
    return [x[::-1] * 0.5 + rate * v, ft.concatenate([v[1:], x[:1]]) * scale]


def counted(rate, x, v, scale):
    return [x + rate, ft.where(v > scale[0], v - x, v + x)]


STEPS = {f.__name__: f for f in (apart, handed_on, meeting, shifted, counted)}


@cache
def both(kind, mode, dtype, threads, taps):
    """The last states by a function that keeps no others, and those of all steps."""
    rates, x, v = ft.vector("rates"), ft.vector("x", dtype=dtype), ft.vector("v", dtype=dtype)
    scale = ft.vector("scale", dtype=dtype)

    def step(rate, *states):
        made = STEPS[kind](rate.astype(dtype), *states[-3:])
        return [made[0] + states[0] * 0.25 if taps else made[0], made[1]]

    first = {"initial": ft.stack([x, v]), "taps": [-2, -1]} if taps else x
    rows, _ = fz.scan(step, rates, [first, v], [scale])
    given = [rates, x, v, scale]
    one = fz.function(given, [y[-1] for y in rows], mode=mode, threads=threads)
    return one, fz.function(given, rows, mode=mode, threads=threads)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=25)
@given(
    kind=st.sampled_from(sorted(STEPS)),
    dtype=st.sampled_from(["float64", "float32"]),
    threads=st.sampled_from([1, 2]),
    taps=st.booleans(),
    size=st.sampled_from([1, 7, 4_096, 10_001, 40_000]),
    steps=st.sampled_from([1, 2, 3, 20]),
    seed=st.integers(0, 2**32 - 1),
)
def test_last_states_have_the_bits_of_those_that_are_kept(
    mode, kind, dtype, threads, taps, size, steps, seed
):
    rng = np.random.default_rng(seed)
    given = [rng.normal(size=steps), *rng.normal(size=(3, size)).astype(dtype)]
    one, all_steps = both(kind, mode, dtype, threads, taps)
    for last, rows in zip(one(*given), all_steps(*given), strict=True):
        bits = f"u{last.itemsize}"
        np.testing.assert_array_equal(last.view(bits), rows[-1].view(bits))


@pytest.mark.parametrize("mode", MODES)
def test_states_are_those_of_numpy(mode):
    rng = np.random.default_rng(3)
    rates, (x, v, scale) = rng.normal(size=30), rng.normal(size=(3, 20_011))
    kept = [y.copy() for y in (x, v, scale)]
    found = both("apart", mode, "float64", 1, False)[0](rates, x, v, scale)
    for own, one in zip((x, v, scale), kept, strict=True):
        np.testing.assert_array_equal(own, one)
    for rate in rates:
        moved = v - rate * np.sin(x) * scale
        x, v = np.where(x > 1.5, x - 1.0, x + 0.1 * moved), moved
    np.testing.assert_allclose(found[0], x, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found[1], v, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_the_first_step_that_fails_is_told_of(mode):
    a, b = ft.lvector("a"), ft.lvector("b")
    rows, _ = fz.scan(lambda a, b: [a**b % 1000, b - 1], None, [a, b], n_steps=8)
    f = fz.function([a, b], [y[-1] for y in rows], mode=mode, threads=1)
    base, power = np.full(30_000, 3), np.full(30_000, 50)
    power[[0, 20_000, 29_999]] = 5, 1, 3
    with pytest.raises(ValueError, match="step 2: integers to negative"):
        f(base, power)
