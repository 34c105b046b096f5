"""Lengths that are known are constants, and arithmetic on them stays constant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor import lengths


def test_static_lengths_are_constants():
    x = ft.tensor("x", shape=(None, 3))
    rows, columns = x.shape
    assert columns.data == 3
    assert rows is x.shape[0]
    assert evaluate(rows, {x: np.zeros((2, 3))}) == 2


def test_lengths_belong_to_the_container_of_their_day():
    with fz.Container():
        lengths.literal(77)
    x = ft.vector("x")
    seventh = lengths.add(lengths.floor_divide(lengths.literal(77), ft.lscalar()), x.shape[0])
    assert seventh.container is x.container
    assert (lengths.literal(77) % lengths.literal(7)).container is x.container


def test_size_gathers_what_is_known():
    x = ft.tensor("x", shape=(2, None, 3))
    assert ft.size(x) is lengths.multiply(lengths.literal(6), x.shape[1])
    assert ft.size(ft.tensor("y", shape=(2, 5))).data == 10


OPERATIONS = [
    (lengths.add, lambda a, b: a + b),
    (lengths.subtract, lambda a, b: a - b),
    (lengths.multiply, lambda a, b: a * b),
    (lengths.minimum, min),
    (lengths.maximum, max),
]


@pytest.mark.parametrize(("operation", "python"), OPERATIONS)
@given(st.integers(-3, 3), st.integers(-3, 3))
def test_constants_fold(operation, python, m, n):
    assert operation(lengths.literal(m), lengths.literal(n)) is lengths.literal(python(m, n))


@pytest.mark.parametrize(
    ("operation", "python"), [*OPERATIONS, (lengths.floor_divide, lambda a, b: a // b)]
)
@given(st.integers(-3, 3), st.integers(1, 3), st.booleans(), st.booleans())
def test_arithmetic_is_right_whatever_is_known(operation, python, m, n, know_m, know_n):
    a, b = ft.lscalar("a"), ft.lscalar("b")
    result = operation(
        lengths.literal(m) if know_m else a,
        lengths.literal(n) if know_n else b,
    )
    assert evaluate(result, {a: m, b: n}) == python(m, n)


def test_neutral_elements_add_no_nodes():
    n = ft.vector("x").shape[0]
    zero, one = lengths.literal(0), lengths.literal(1)
    assert lengths.add(n, zero) is lengths.add(zero, n) is lengths.subtract(n, zero) is n
    assert lengths.multiply(n, one) is lengths.multiply(one, n) is lengths.floor_divide(n, one) is n
    assert lengths.minimum(n, n) is lengths.maximum(n, n) is n
    assert lengths.multiply(n, zero) is lengths.subtract(n, n) is zero


@pytest.mark.parametrize("value", [1.5, True, "2", None])
def test_only_integers_are_lengths(value):
    with pytest.raises(TypeError, match="length"):
        lengths.as_length(value)


def test_float_variables_are_no_lengths():
    with pytest.raises(TypeError, match="integer without dimensions"):
        lengths.as_length(ft.scalar("x"))
    assert lengths.as_length(ft.iscalar("n")).dtype == "int64"


def test_lengths_of_what_was_built_over_longer_operands(mode):
    long, other = ft.vector("long"), ft.vector("other")
    one = ft.tensor("one", shape=(1,))
    wide = ft.exp(long) + other
    given = [(long, one), (other, ft.constant([2.0]))]
    z = fz._core.graph_replace([wide], given)[0]
    f = fz.function([one], [z.shape[0], z, ft.concatenate([z, z]), z.sum()], mode=mode)
    for found, expected in zip(f([0.0]), (1, [3.0], [3.0, 3.0], 3.0), strict=True):
        np.testing.assert_array_equal(found, expected)
