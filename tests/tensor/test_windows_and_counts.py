"""Functions that add, take out, count and slide: compared with NumPy, lengths known at the call."""

import itertools
from functools import cache

import numpy as np
import pytest
import scipy.signal
from agreement import MODES as AGREEMENT_MODES
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba")
PADS = (
    *("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect"),
    *("symmetric", "wrap"),
)
X = np.array([[3.0, -1.0, 2.0, 0.5], [1.5, 5.0, -4.0, 1.0], [0.0, 2.5, 6.0, -2.0]])


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.asarray(other).dtype
        assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def calls(n, x, v, k, i):
    """Calls of a matrix, a vector with elements, integers from 0 to 3, and one integer."""
    views = ft if n is ft else np.lib.stride_tricks
    return [
        *(n.pad(x, ((1, 2), (0, 3)), mode=mode) for mode in PADS),
        *(n.pad(v, (2, 5), mode=mode) for mode in PADS),
        n.pad(x, 1, mode="mean", stat_length=1),
        *(
            n.pad(of, widths, mode=mode, reflect_type="odd")
            for mode in ("reflect", "symmetric")
            for of, widths in ((x, ((1, 2), (0, 9))), (v, (2, 5)), (k, 3))
        ),
        n.insert(x, i, 7.0, axis=1),
        n.insert(x, k, 7.0),
        n.insert(v, [0, 1, 0], [7.0, 8.0, 9.0]),
        n.insert(v, slice(None, None, -2), 7.0),
        n.insert(x, slice(0, 2), 7.0, axis=0),
        n.delete(v, i),
        n.delete(x, slice(0, 2), axis=0),
        n.append(x, v),
        n.ravel_multi_index((k, k), (4, 5)),
        *n.unravel_index(k, (2, 2), order="F"),
        n.ravel_multi_index((k, k), (2, 3), mode=("wrap", "clip")),
        n.argwhere(n.sum(x)),
        n.bincount(k),
        n.bincount(k, n.exp(k), minlength=3),
        n.digitize(x, n.sort(v), right=True),
        n.digitize(x, n.flip(n.sort(v))),
        n.digitize(x, v[:0]),
        *n.histogram(v, 3),
        *n.histogram(v[:0], 2),
        *n.histogram(k, 3),
        *n.histogram(x, n.unique(v), density=False),
        n.isin(x, v),
        *n.unique(k, return_index=True, return_inverse=True, return_counts=True),
        n.interp(x, n.unique(v), n.unique(v) ** 2, left=-1.0),
        n.interp(x * 9, n.flip(n.unique(v)), n.unique(v) ** 2, period=13.0),
        *(f(v, k + 1.0, mode) for f in (n.convolve, n.correlate) for mode in ("full", "same")),
        n.convolve(k + 1.0, v, "valid"),
        *(n.convolve(v, k[0] + 1.0, mode) for mode in ("full", "same", "valid")),
        views.sliding_window_view(n.pad(x, 1), (2, 3)),
    ]


@cache
def compiled(mode):
    x, v, k, i = ft.matrix("x"), ft.vector("v"), ft.lvector("k"), ft.lscalar("i")
    return fz.function([x, v, k, i], calls(ft, x, v, k, i), mode=mode)


halves = st.integers(-6, 6).map(lambda n: n / 2)


@settings(max_examples=12)
@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_lengths_that_only_a_call_knows(data, rows, columns):
    x = data.draw(hnp.arrays("float64", (rows, columns), elements=halves))
    v = data.draw(hnp.arrays("float64", st.integers(1, 5), elements=halves))
    k = data.draw(hnp.arrays("int64", st.integers(1, 4), elements=st.integers(0, 3)))
    k = np.minimum(k, x.size)
    i = data.draw(st.integers(0, min(columns, len(v) - 1)))
    expected = calls(np, x, v, k, i)
    for f in map(compiled, MODES):
        assert_same(f(x, v, k, i), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_ramps_of_complex_numbers(dtype, mode):
    x = (X * (1 - 2j)).astype(dtype)
    v = ft.tensor("v", dtype=dtype, shape=(None, None))
    for options in ({}, {"end_values": 3 + 1j}, {"end_values": ((1j, 2), (3, 4.5))}):
        f = fz.function([v], ft.pad(v, ((2, 1), (0, 3)), "linear_ramp", **options), mode=mode)
        expected = np.pad(x, ((2, 1), (0, 3)), "linear_ramp", **options)
        assert f(x).dtype == dtype
        assert_allclose(f(x), expected, rtol=1e-5 if dtype == "complex64" else 1e-12)


def test_nothing_calls_python():
    assert "call" not in str(compiled("c").explain())


def known(function, *args, **kwargs):
    """What is built of constants, computed; and its static shape."""
    built = function(*args, **kwargs)
    return fz.function([], built, mode="py")(), built.type.shape


def test_lengths_that_are_known_before():
    for mode in PADS:
        value, shape = known(ft.pad, X, [(1, 0), (2, 3)], mode=mode)
        assert value.shape == shape == (4, 9)
    for obj in (0, -1, [0, 2], slice(1, None), np.array([True, False, True])):
        value, shape = known(ft.delete, X, obj, axis=0)
        assert_allclose(value, np.delete(X, obj, axis=0))
        assert value.shape == shape
    for obj in (0, -1, 3):
        assert known(ft.insert, X, obj, 9.0, axis=0)[1] == (4, 4)
    for n, m in itertools.product(range(1, 5), repeat=2):
        a, v = np.arange(1.0, n + 1), np.arange(2.0, m + 2) ** 2
        for mode in ("full", "same", "valid"):
            for ours, numpys in ((ft.convolve, np.convolve), (ft.correlate, np.correlate)):
                value, shape = known(ours, a, v, mode)
                assert_allclose(value, numpys(a, v, mode))
                assert value.shape == shape
    assert known(ft.sliding_window_view, X, 2, axis=1)[1] == (3, 3, 2)
    assert ft.array_equal(X, X[:2]) is ft.constant(False)


def test_infinities_do_not_meet_the_zeros_around():
    cases = [([1.0, 2.0, 3.0], [np.inf, 1.0]), ([1.0, 2.0], [np.nan, 1.0, 5.0, 0.0, -np.inf])]
    for (a, v), which in itertools.product(cases, ("convolve", "correlate")):
        for mode, dtype in itertools.product(("full", "same", "valid"), ("float32", "complex64")):
            one, other = ft.vector(dtype=dtype), ft.vector(dtype=dtype)
            built = getattr(ft, which)(one, other, mode)
            for linker in MODES:
                given = [np.array(each, dtype) for each in (a, v)]
                found = fz.function([one, other], built, mode=linker)(*given)
                expected = getattr(np, which)(*given, mode)
                assert found.dtype == dtype
                if dtype == "complex64":  # NaN in one part may be infinite in another
                    found, expected = np.isfinite(found), np.isfinite(expected)
                assert_allclose(found, expected, err_msg=f"{which} {mode} {linker}")


def test_layers_of_networks():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 6, 7)), rng.normal(size=(4, 3, 3, 2))
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)])
    expected = np.array(
        [
            [
                sum(scipy.signal.correlate2d(*both, "valid") for both in zip(one, f, strict=True))
                for f in w
            ]
            for one in padded
        ]
    )
    inputs = ft.tensor4("x"), ft.tensor4("w")
    f = fz.function(
        inputs,
        [
            ft.conv2d(*inputs, stride=(2, 3), padding=(1, 2)),
            ft.max_pool(inputs[0], (2, 3)),
            ft.avg_pool(inputs[0], (2, 3), stride=(1, 3)),
        ],
    )
    found = f(x, w)
    assert_allclose(found[0], expected[:, :, ::2, ::3])
    tiles = x[:, :, :, :6].reshape(2, 3, 3, 2, 2, 3)
    assert_allclose(found[1], tiles.max((3, 5)))
    assert_allclose(found[2][:, :, ::2], tiles.mean((3, 5)))
    one = ft.conv1d(x[:, :, 0], w[:, :, 0], padding=1)
    assert_allclose(one.eval()[:, :, 0], np.einsum("bc,fc->bf", x[:, :, 0, 0], w[:, :, 0, 1]))


SPECIAL = st.sampled_from([-np.inf, -2.0, -0.0, 0.5, 1.0, np.inf])


@settings(max_examples=settings.default.max_examples // 2)
@given(st.sampled_from(AGREEMENT_MODES), st.data())
def test_lines_between_points_that_are_not_finite(mode, data):
    points = np.sort(data.draw(hnp.arrays(float, st.integers(2, 4), elements=SPECIAL)))
    values = data.draw(hnp.arrays(float, len(points), elements=SPECIAL | st.just(np.nan)))
    at = np.array([-np.inf, -3.0, -2.0, -0.5, 0.0, 0.5, 0.75, 1.0, 4.0, np.inf, np.nan])
    x, xp, fp = (ft.vector(name) for name in ("x", "xp", "fp"))
    found = fz.function([x, xp, fp], ft.interp(x, xp, fp), mode=mode)(at, points, values)
    assert_allclose(found, np.interp(at, points, values), rtol=1e-15)


def test_the_gradient_beyond_two_equal_points_is_finite():
    fp = ft.vector("fp")
    cost = ft.sum(ft.interp([2.0, 3.0], [0.0, 1.0, 1.0], fp))
    assert_allclose(fz.grad(cost, fp).eval({fp: [1.0, 2.0, 3.0]}), [0.0, 0.0, 2.0])


GRADIENTS = {
    "pad": lambda x: ft.pad(x, 2, mode="reflect") * ft.pad(x, 2, mode="linear_ramp"),
    "insert": lambda x: ft.insert(x**2, [0, 2], x[0, :2]),
    "delete": lambda x: ft.delete(x**2, 1, axis=0),
    "interp": lambda x: ft.interp(x[0], [-9.0, 0.25, 9.0], x[:, 1] ** 2),
    "bincount": lambda x: ft.bincount([0, 2, 2, 1], x[0] ** 2),
    "convolve": lambda x: ft.convolve(x[0], x[1], "same"),
    "conv2d": lambda x: ft.conv2d(x[None, None], x[None, None, :2, :2], padding=1),
    "max_pool": lambda x: ft.max_pool(x**2, (2, 2), 1),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    verify_grad(GRADIENTS[name], [X])


@pytest.mark.parametrize("mode", MODES)
def test_what_a_call_refuses(mode):
    k, n = ft.lvector("k"), ft.lscalar("n")
    for built, bad in (
        (ft.bincount(k), [-1]),
        (ft.insert(k, k, 1), [5]),
        (ft.unravel_index(k, (2, 2))[0], [4]),
        (ft.ravel_multi_index((k,), (2,)), [-1]),
    ):
        with pytest.raises(ValueError, match=r"negative|beyond"):
            fz.function([k], built, mode=mode)(bad)
    with pytest.raises(IndexError):
        fz.function([k, n], ft.delete(k, n), mode=mode)([1, 2], 2)


def test_what_cannot_be():
    with pytest.raises(IndexError, match="beyond the dimension: -5"):
        ft.insert(X, [0, -5], 1.0, axis=0)
    for call, message in (
        (lambda: ft.pad(X, 1, mode="mirror"), "mode must be one of"),
        (lambda: ft.pad(X, -1), "cannot be negative"),
        (lambda: ft.pad(X, [(1, 2)] * 3), "2 dimensions"),
        (lambda: ft.convolve(X, X), "two vectors"),
        (lambda: ft.convolve([], [1.0]), "with elements"),
        (lambda: ft.convolve([1.0], [1.0], "all"), "'full', 'same' or 'valid'"),
        (lambda: ft.digitize(X, [1.0, 3.0, 2.0]), "rise or fall"),
        (lambda: ft.ravel_multi_index(([1],), (2, 2)), "1 positions for 2"),
        (lambda: ft.unravel_index([0], (2, 2), order="K"), "'C' or 'F'"),
        (lambda: ft.conv2d(X, X), "4 dimensions"),
        (lambda: ft.max_pool(X, 0), "at least 1"),
        (lambda: ft.max_pool(X[0], (2, 2)), "do not fit"),
        (lambda: ft.interp(X, X, X), "two vectors"),
        (lambda: ft.interp(X, [0.0, 1.0, 2.0], [1.0]), "as many values as points; given 1 for 3"),
        (lambda: ft.interp(X, [], []), "one point at least"),
        (lambda: ft.sliding_window_view(X, 2), "1 lengths of windows"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for call in (
        lambda: ft.bincount(X[0]),
        lambda: ft.insert(X, 0.5, 1.0),
        lambda: ft.unravel_index(X, (2, 2)),
        lambda: ft.histogram(X, "auto"),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("dtype", ["float64", "uint64"])
def test_padding_with_the_mean_of_no_elements_is_an_error(dtype):
    x, before = ft.matrix("x", dtype=dtype), ft.lscalar("before")
    padded = ft.pad(x, [(before, 0), (0, 0)], "mean")
    for mode in ("py", "cranelift"):
        f = fz.function([x, before], padded, mode=mode)
        for columns in (0, 2):
            with pytest.raises(ValueError, match="nothing to repeat along axis 0"):
                f(np.zeros((0, columns), dtype), 1)
        assert f(np.ones((2, 0), dtype), 1).shape == (3, 0)
        assert f(np.zeros((0, 2), dtype), 0).shape == (0, 2)
        assert_allclose(f(np.array([[1, 3], [3, 5]], dtype), 1), [[2, 4], [1, 3], [3, 5]])


@pytest.mark.parametrize("values", [1, 2, 4])
def test_points_and_values_of_an_interpolation_are_as_many(values, mode):
    v, w = ft.vector("v"), ft.vector("w")
    f = fz.function([v, w], ft.interp(0.5, v, w), mode=mode)
    g = fz.function([w], ft.interp(0.5, [0.0, 1.0, 2.0], w), mode=mode)
    points = np.arange(3.0)
    assert f(points, points) == g(points) == 0.5
    for call in (lambda: f(points, np.ones(values)), lambda: g(np.ones(values))):
        with pytest.raises(ValueError, match="as many values as points"):
            call()


@pytest.mark.parametrize("mode", ["py", "cranelift"])
@pytest.mark.parametrize("declared", [None, 1, 5, 40])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
def test_elements_among_others(mode, declared, dtype):
    x, y = ft.matrix("x", dtype=dtype), ft.tensor("y", dtype=dtype, shape=(declared,))
    f = fz.function([x, y], [ft.isin(x, y), ft.isin(x, y, invert=True)], mode=mode)
    rng = np.random.default_rng(0)
    for shape in ((0, 3), (1, 1), (7, 30)):
        for number in (0, 1, 3, 100) if declared is None else (declared,):
            drawn, others = (rng.integers(0, 250, n).astype(dtype) for n in (shape, number))
            if drawn.dtype.kind == "f":
                drawn[:, ::5], others[::3] = np.nan, np.nan
            expected = [np.isin(drawn, others, invert=invert) for invert in (False, True)]
            assert_same(f(drawn, others), expected)
