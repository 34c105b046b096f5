"""gcd, lcm, frexp and ldexp have NumPy's values, also where numbers end."""

import numpy as np
import pytest
from agreement import compiled
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate

import frazil as fz
import frazil.tensor as ft

INTEGERS = ["int8", "uint8", "int16", "int32", "int64", "uint64"]


def ends(dtype):
    info = np.iinfo(dtype)
    near = [info.min, info.min + 1, 0, 1, 2, 6, 12, 90, 120, info.max - 1, info.max]
    return np.array([*near, *(-x for x in near[3:9] if info.min < 0)], dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_all_pairs(mode, dtype, name):
    a, b = ft.col("a", dtype=dtype), ft.vector("b", dtype=dtype)
    values = ends(dtype)
    found = compiled(getattr(ft, name)(a, b), {a: values[:, None], b: values}, mode)
    expected = getattr(np, name)(values[:, None], values)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_the_numbers_that_take_most_steps(mode):
    numbers = [0, 1]
    while numbers[-1] + numbers[-2] < 2**64:
        numbers.append(numbers[-1] + numbers[-2])
    a, b = np.array(numbers[1:], "uint64"), np.array(numbers[:-1], "uint64")
    x, y = ft.vector("x", dtype="uint64"), ft.vector("y", dtype="uint64")
    for first, second in ((a, b), (b, a)):
        np.testing.assert_array_equal(
            compiled(ft.gcd(x, y), {x: first, y: second}, mode), np.gcd(a, b)
        )


@given(st.data())
def test_two_dtypes(data):
    first, second = (data.draw(st.sampled_from([*INTEGERS, "bool"])) for _ in range(2))
    a = data.draw(hnp.arrays(first, (3,)))
    b = data.draw(hnp.arrays(second, (3,)))
    x, y = ft.vector(dtype=first), ft.vector(dtype=second)
    for name in ("gcd", "lcm"):
        try:
            expected = getattr(np, name)(a, b)
        except TypeError:
            with pytest.raises(TypeError, match="takes integers that promote to integers"):
                getattr(ft, name)(x, y)
            continue
        found = evaluate(getattr(ft, name)(x, y), {x: a, y: b})
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def floats(dtype):
    info = np.finfo(dtype)
    powers = np.ldexp(np.ones(1, dtype), np.arange(info.minexp - info.nmant, info.maxexp, 7))
    rest = [0.0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1.0, 0.1, 3.0]
    values = np.concatenate([powers, np.array(rest, dtype)]).astype(dtype)
    with np.errstate(all="ignore"):
        beside = [np.nextafter(values, np.array(to, dtype)) for to in (np.inf, 0)]
    values = np.concatenate([values, *beside])
    return np.concatenate([values, -values])


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts(mode, dtype):
    x, values = ft.vector("x", dtype=dtype), floats(dtype)
    found = compiled(list(ft.frexp(x)), {x: values}, mode)
    for own, numpys in zip(found, np.frexp(values), strict=True):
        same(own, numpys)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scaled(mode, dtype):
    x, k = ft.col("x", dtype=dtype), ft.lvector("k")
    values = floats(dtype)[:, None]
    near = [0, 1, 52, 126, 149, 150, 969, 1022, 1023, 1024, 1074, 1075, 2046, 2098, 2200, 10**6]
    exponents = np.array([*near, *(-n for n in near), 2**31 - 1, -(2**31)])
    found = compiled(ft.ldexp(x, k), {x: values, k: exponents}, mode)
    with np.errstate(all="ignore"):
        same(found, np.ldexp(values, exponents))


def test_exponents_of_any_size():
    k = ft.constant(np.array([2**63 - 1, -(2**63)]))
    np.testing.assert_array_equal(evaluate(ft.ldexp(3.0, k)), [np.inf, 0.0])
    for dtype in ("int8", "int32", "bool"):
        one = np.ones(1, dtype)
        same(
            evaluate(ft.ldexp(ft.constant(one), one)),
            np.ldexp(one.astype("f4" if dtype != "int32" else "f8"), one),
        )


def test_gradients(mode):
    x = ft.vector("x")
    values = np.array([0.3, -5.0, 0.0, 1e-310])
    fraction, exponent = ft.frexp(x)
    gradients = [fz.grad(fraction.sum(), x), fz.grad(ft.ldexp(x, exponent).sum(), x)]
    by_fraction, by_scaled = compiled(gradients, {x: values}, mode)
    exponents = np.frexp(values)[1]
    np.testing.assert_array_equal(by_fraction[:3], np.ldexp(1.0, -exponents[:3]))
    np.testing.assert_array_equal(by_scaled, np.ldexp(1.0, exponents))


def test_errors():
    with pytest.raises(TypeError, match="exponents that are integers"):
        ft.ldexp(1.0, ft.vector())
    with pytest.raises(TypeError, match="exponents that are integers"):
        np.ldexp(ft.vector(), ft.vector(dtype="uint64"))
    with pytest.raises(TypeError, match="promote to integers"):
        np.gcd(ft.vector(), 2)
