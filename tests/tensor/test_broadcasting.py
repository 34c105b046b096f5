"""Broadcasting repeats only where the type says that a length is 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import frazil.tensor as ft
from frazil.tensor.broadcasting import broadcast_like, unbroadcast


def test_broadcast_to_symbolic_lengths():
    x, n = ft.tensor("x", shape=(1, 3)), ft.lscalar("n")
    y = ft.broadcast_to(x, (n, 2, 3))
    assert y.type.shape == (None, 2, 3)
    assert evaluate(y, {x: np.ones((1, 3)), n: 4}).shape == (4, 2, 3)


def test_what_is_known_of_the_operand_sharpens_the_type():
    x, n = ft.tensor("x", shape=(1, 3)), ft.lscalar("n")
    assert ft.broadcast_to(x, (n, n)).type.shape == (None, 3)


def test_nothing_to_do_gives_the_tensor_itself():
    x = ft.tensor("x", shape=(2, 3))
    assert ft.broadcast_to(x, (2, 3)) is x


def test_errors():
    with pytest.raises(ValueError, match=r"\(3,\) to \(2,\)"):
        ft.broadcast_to(ft.vector(shape=(3,)), 2)
    with pytest.raises(ValueError, match="2 dimensions or more"):
        ft.broadcast_to(ft.matrix(), 2)
    with pytest.raises(ValueError, match="negative"):
        ft.broadcast_to(ft.vector(shape=(1,)), -2)


def test_a_length_of_1_that_was_not_declared_does_not_repeat():
    x = ft.vector("x")
    with pytest.raises(ValueError, match="where the type declares it"):
        evaluate(ft.broadcast_to(x, 3), {x: [1.0]})


def test_broadcast_arrays():
    x, y = ft.col("x"), ft.vector("y")
    given = {x: np.zeros((2, 1)), y: np.zeros(3)}
    assert [evaluate(z, given).shape for z in ft.broadcast_arrays(x, y, 1.0)] == [(2, 3)] * 3


@given(st.data())
def test_unbroadcast_is_the_transpose_of_broadcasting(data):
    """``<g, broadcast(x)> = <unbroadcast(g), x>``, whatever is left out of ``g`` and the types."""
    big = data.draw(st.lists(st.integers(0, 3), max_size=3), label="shape")
    start = data.draw(st.integers(0, len(big)))
    small = [data.draw(st.sampled_from([1, n])) for n in big[start:]]
    start = data.draw(st.integers(0, len(big)))
    partial = [data.draw(st.sampled_from([1, n])) for n in big[start:]]

    def declared(shape):
        return [1 if n == 1 else data.draw(st.sampled_from([n, None])) for n in shape]

    rng = np.random.default_rng(0)
    x = ft.tensor("x", shape=declared(small))
    g = ft.tensor("g", shape=declared(partial))
    x_value, g_value = rng.normal(size=small), rng.normal(size=partial)
    ones = tuple(n == 1 for n in big)
    result = unbroadcast(g, x, ones, lambda axis: ft.constant(big[axis]))
    full = evaluate(broadcast_like(result, x), {g: g_value, x: x_value})
    assert full.shape == x_value.shape
    expected = np.sum(np.broadcast_to(g_value, big) * np.broadcast_to(x_value, big))
    np.testing.assert_allclose(np.sum(full * x_value), expected, atol=1e-12)
