"""Elementwise functions made of others agree with NumPy and SciPy."""

import math

import numpy as np
import pytest
from agreement import agree, drawn_arrays, follow, follow_compiled
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate
from scipy import special

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

UNARY = ["deg2rad", "rad2deg", "radians", "degrees", "sinc", "positive", "real", "imag", "conj"]
BINARY = ["fmax", "fmin", "heaviside", "hypot", "logaddexp2", "divmod"]
wide = ["float64", "float32", "int64", "uint32"]  # NumPy makes float16 of narrower ones


@pytest.mark.parametrize("name", [*UNARY, "conjugate", "nan_to_num"])
@given(drawn_arrays(dtypes=wide), st.data())
def test_functions_of_one_tensor_agree_with_numpy(name, array, data):
    follow(getattr(ft, name), getattr(np, name), [array], data.draw)


def other_like(array, draw):
    """An array that broadcasts with another one."""
    dtype = draw(st.sampled_from(wide))
    rows = array.shape[draw(st.integers(0, array.ndim)) :]
    pool = [0, 1, 3, 2] if dtype == "uint32" else [0.0, -0.0, 1.0, -2.0, np.nan, np.inf, -np.inf]
    pool = [-2, 0, 1] if dtype == "int64" else pool
    return np.resize(np.asarray(draw(st.permutations(pool)), dtype), rows)


@pytest.mark.parametrize("name", BINARY)
@given(drawn_arrays(dtypes=wide), st.data())
def test_functions_of_two_tensors_agree_with_numpy(name, array, data):
    arrays = [array, other_like(array, data.draw)]
    follow(getattr(ft, name), getattr(np, name), arrays, data.draw)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
@given(drawn_arrays(dtypes=["float64", "float32"]), st.data())
def test_products_with_logarithms_agree_with_scipy(name, array, data):
    other = other_like(array, data.draw).astype(array.dtype)
    follow(getattr(ft, name), getattr(special, name), [array, other], data.draw)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_products_with_logarithms_have_the_signs_of_scipy(name, dtype, mode):
    points = np.array([0.0, -0.0, 1.0, -2.0, 0.5, -0.5, np.nan, np.inf, -np.inf], dtype)
    first, second = (one.ravel() for one in np.meshgrid(points, points))
    x, y = (ft.vector(letter, dtype=dtype) for letter in "xy")
    ours, theirs = getattr(ft, name), getattr(special, name)
    outputs = [ours(x, y), ours(0, y), *fz.grad(ours(x, y).sum(), [x, y])]
    found, of_zero, by_x, by_y = fz.function([x, y], outputs, mode=mode)(first, second)
    with np.errstate(all="ignore"):
        for one, expected in (
            (found, theirs(first, second)),
            (of_zero, theirs(0 * points[:1], second)),
        ):
            np.testing.assert_allclose(one, expected, rtol=1e-6)
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(one)[number], np.signbit(expected)[number])
        # A zero has the derivatives of other factors where the logarithm is finite.
        at = (first == 0) & np.isfinite(theirs(np.ones_like(second), second))
        np.testing.assert_allclose(by_x[at], theirs(np.ones_like(second), second)[at], rtol=1e-6)
        np.testing.assert_array_equal(by_y[at], 0)


@given(drawn_arrays(dtypes=["float64"]), st.data())
def test_xlogx_agrees_with_scipy(array, data):
    follow(ft.xlogx, lambda x: special.xlogy(x, x), [array], data.draw)


@given(drawn_arrays(), st.sampled_from([None, 9.5]), st.sampled_from([None, -3.0]), st.data())
def test_replaced_numbers_agree_with_numpy(array, high, low, data):
    follow(
        lambda x: ft.nan_to_num(x, nan=7.0, posinf=high, neginf=low),
        lambda x: np.nan_to_num(x, nan=7.0, posinf=high, neginf=low),
        [array],
        data.draw,
    )


@given(drawn_arrays(dtypes=["int64", "int8"]), st.sampled_from(["clip", "wrap"]), st.data())
def test_chosen_elements_agree_with_numpy(array, how, data):
    rows = np.arange(array.size).reshape(array.shape)
    for choices in ([rows, 10.5], [rows], [1, 2, 3, 4]):
        follow(
            lambda x, c=choices: ft.choose(x, c, mode=how),
            lambda x, c=choices: np.choose(x, c, mode=how),
            [array],
            data.draw,
        )


@given(drawn_arrays(), st.data())
def test_selected_elements_agree_with_numpy(array, data):
    def selected(x, module):
        return module.select([x < 0, x < 2, x > 3], [x, x * 2, 5], default=-7)

    follow(lambda x: selected(x, ft), lambda x: selected(x, np), [array], data.draw)


def test_numbers_keep_the_dtype_of_the_tensor():
    x = ft.tensor(dtype="float32", shape=(None,))
    for name in ["fmax", "fmin", "heaviside", "hypot", "logaddexp2", "xlogy", "xlog1py"]:
        assert getattr(ft, name)(x, 1.5).dtype == "float32"
        assert getattr(ft, name)(1.5, x).dtype == "float32"


def test_extreme_lengths_are_not_lost():
    tiny, huge = np.array([5e-324, 3e-320, 1e308, 3e200]), np.array([0.0, 4e-320, 1e308, 4e200])
    x, y = ft.vector("x"), ft.vector("y")
    found = ft.hypot(x, y).eval({x: tiny, y: huge})
    np.testing.assert_allclose(found, np.hypot(tiny, huge), rtol=1e-15)


def test_a_sum_of_powers_keeps_its_small_part():
    agree(evaluate(ft.logaddexp2(0.0, -60.0)), np.logaddexp2(0.0, -60.0) + 0.0, 1e-16)
    found = float(ft.logaddexp2(0.0, -60.0).eval())
    assert found == pytest.approx(2.0**-60 / math.log(2), rel=1e-14)


X, Y = np.array([0.3, -1.5, 2.0, 0.7]), np.array([1.2, 0.4, 2.0, 3.0])
TABLE = [
    (ft.deg2rad, np.deg2rad),
    (ft.rad2deg, np.rad2deg),
    (ft.sinc, np.sinc),
    (lambda x: ft.fmax(x, Y), lambda x: np.fmax(x, Y)),
    (lambda x: ft.fmin(x, 1.0), lambda x: np.fmin(x, 1.0)),
    (lambda x: ft.heaviside(x, 2 * x), lambda x: np.heaviside(x, 2 * x)),
    (lambda x: ft.hypot(x, Y), lambda x: np.hypot(x, Y)),
    (lambda x: ft.logaddexp2(x, Y), lambda x: np.logaddexp2(x, Y)),
    (lambda x: ft.divmod(x, Y), lambda x: np.divmod(x, Y)),
    (lambda x: ft.xlogy(x, Y), lambda x: special.xlogy(x, Y)),
    (lambda x: ft.xlog1py(x, Y), lambda x: special.xlog1py(x, Y)),
    (lambda x: ft.xlogx(abs(x)), lambda x: special.xlogy(abs(x), abs(x))),
    (lambda x: ft.select([x > 1, x > 0], [x, 2.0]), lambda x: np.select([x > 1, x > 0], [x, 2.0])),
    (
        lambda x: ft.nan_to_num(ft.log(x)),
        lambda x: np.nan_to_num(np.log(np.where(x > 0, x, np.nan))),
    ),
    (
        lambda x: ft.choose([0, 1, 2, 3], [x, 2.0 * x], mode="wrap"),
        lambda x: np.choose([0, 1, 2, 3], [x, 2.0 * x], mode="wrap"),
    ),
]


def test_compiled(mode):
    follow_compiled(TABLE, [X], mode)


def test_gradients(mode):
    def total(x):
        results = [
            ft.deg2rad(x),
            ft.rad2deg(x) / 50,
            ft.sinc(x),
            ft.fmax(x, Y[::-1]),
            ft.fmin(x, 1.0),
            ft.heaviside(0.0, x),
            ft.hypot(x, Y),
            ft.logaddexp2(x, Y),
            ft.xlogy(x, Y),
            ft.xlogy(Y, abs(x)),
            ft.xlog1py(Y, abs(x)),
            ft.xlogx(abs(x)),
            ft.select([x > 1, x > 0], [x, 2.0 * x]),
            ft.nan_to_num(x),
            ft.choose([0, 1, 1, 0], [x, 2 * x]),
        ]
        return sum((result**2).sum() for result in results)

    verify_grad(total, [X], mode=mode)


def test_gradients_at_the_edges():
    x, y = ft.scalar("x"), ft.scalar("y")
    at = lambda cost, wrt, values: float(fz.grad(cost, wrt).eval(values))  # noqa: E731
    assert at(ft.hypot(x, y), x, {x: 0.0, y: 0.0}) == 0
    assert at(ft.xlogy(x, y), x, {x: 0.0, y: 2.0}) == pytest.approx(math.log(2))
    assert at(ft.logaddexp2(x, y), x, {x: 3.0, y: 3.0}) == pytest.approx(0.5)
    assert at(ft.sinc(x), x, {x: 0.0}) == 0
    second = fz.grad(fz.grad(ft.sinc(x), x), x).eval({x: 0.0})
    assert float(second) == pytest.approx(-(math.pi**2) / 3)
    assert at(ft.nan_to_num(x), x, {x: np.inf}) == 0


def test_named_numbers():
    for name in ["pi", "e", "inf", "nan", "euler_gamma", "newaxis"]:
        np.testing.assert_equal(getattr(ft, name), getattr(np, name))


def test_errors():
    with pytest.raises(TypeError):
        ft.positive(ft.constant([True]))
    with pytest.raises(TypeError):
        ft.select([ft.vector("x")], [1.0])
    with pytest.raises(ValueError, match="as many"):
        ft.select([ft.vector("x") > 0], [])
    with pytest.raises(ValueError, match="one condition"):
        ft.select([], [])
    with pytest.raises(TypeError, match="integers"):
        ft.choose([0.5], [1, 2])
    with pytest.raises(ValueError, match="mode must be"):
        ft.choose([0], [1, 2], mode="up")
    with pytest.raises(ValueError, match="one tensor"):
        ft.choose([0], [])
