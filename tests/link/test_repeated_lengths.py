"""Lengths of operands that repeat one element, and are not read, are compared as well."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

N = (0, 1, 2, 3, 17)
"""Lengths that are drawn."""


def ones(x, y, k):
    return ft.ones(y.shape)


def of_count(x, y, k):
    return ft.full(k, 2.0)


def of_positive(x, y, k):
    """As many as a run finds: also what the loop over ``x`` counts itself."""
    return ft.ones(ft.sum(x > 0))


def repeated(x, y, k):
    return ft.broadcast_to(x.sum(), y.shape)


def scaled(x, y, k):
    return ft.exp(2 * ft.zeros(y.shape)) + 1


def cumulated(x, y, k):
    return ft.cumsum(ft.ones(y.shape))


def rows(x, y, k):
    return ft.broadcast_to(x, (k, x.shape[0])).sum(1)


MADE = (ones, of_count, of_positive, repeated, scaled, cumulated, rows)
JOINED = (
    lambda x, z: x * 2 + z,
    lambda x, z: z - x,
    lambda x, z: ft.where(x > 0, x, z).sum(),
    lambda x, z: ft.exp(x) * (z + 1) + z,
    lambda x, z: (ft.ones(x.shape) * 2 + z) * x,
    lambda x, z: ft.ones(x.shape) + z,
    lambda x, z: ft.stack([x, x])[:, ::-1] + z,
    lambda x, z: ft.stack([x, x])[[0, 1, 0]].sum(0) + z,
    lambda x, z: ft.stack([x, x])[[1, 0]].set(z),
    lambda x, z: ft.stack([x, x])[[1, 0]].inc(z).sum(),
    lambda x, z: x + z - ft.full(x.shape, x.sum()),  # the sum waits: x + z is in no loop
    lambda x, z: fz.scan(lambda s, z: s * 2 + z, outputs_info=x, non_sequences=z, n_steps=2)[0][-1],
)


def of_numpy(made, x, y, k):
    """The lengths that a maker's result has."""
    return {of_count: k, rows: k, of_positive: (x > 0).sum()}.get(made, len(y))


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_lengths_that_differ_are_an_error(made, mode):
    x, y, k = ft.dvector("x"), ft.dvector("y"), ft.lscalar("k")
    together = [join(x, made(x, y, k)) for join in JOINED]
    fs = [fz.function([x, y, k], each, mode=mode, on_unused_input="ignore") for each in together]

    @settings(max_examples=settings.default.max_examples // 3)
    @given(st.sampled_from(N), st.sampled_from(N), st.sampled_from(N), st.integers(0, 9))
    def is_checked(m, n, count, seed):
        values = np.random.default_rng(seed).normal(size=m), np.ones(n), count
        fits = of_numpy(made, *values) == m
        for f in fs:
            if fits:
                f(*values)
                continue
            with pytest.raises(ValueError, match=r"length|broadcast|shape"):
                f(*values)

    is_checked()


@pytest.mark.parametrize("name", ["c", "cranelift", "numba", "debug"])
def test_the_message_says_which(name):
    x, y = ft.dvector("x"), ft.dvector("y")
    f = fz.function([x, y], x * 2 + ft.ones(y.shape), mode=name)
    with pytest.raises(
        ValueError, match="operand 1 has length 4 along axis 0 where 3 is expected"
    ) as caught:
        f(np.ones(3), np.ones(4))
    assert "test_repeated_lengths.py" in str(caught.value)


def test_a_loop_is_the_same_whether_lengths_are_compared_or_not():
    x, y = ft.dvector("x"), ft.dvector("y")
    same = fz.function([x], x * 2 + ft.ones(x.shape), mode="cranelift")
    other = fz.function([x, y], x * 2 + ft.ones(y.shape), mode="cranelift")
    assert "require" not in str(same.explain()).lower()
    assert str(other.explain()).count("loop") == str(same.explain()).count("loop")
