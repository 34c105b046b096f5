"""Complex numbers are ordered by their real parts, then by the imaginary ones, as in NumPy."""

from itertools import product

import numpy as np
import pytest
from agreement import compiled

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

PARTS = [np.nan, -np.inf, -1.0, -0.0, 0.0, 2.0, np.inf]


@pytest.fixture(params=["complex64", "complex128"])
def dtype(request):
    """Each dtype of complex numbers in turn."""
    return request.param


def numbers(dtype, seed=0):
    """All pairs of parts, each twice so that many are equal, in an order that chance decides."""
    pairs = np.random.default_rng(seed).permutation(list(product(PARTS, PARTS)) * 2)
    array = np.empty(len(pairs), dtype)
    array.real, array.imag = pairs.T
    return array


def agree(function, arrays, mode, seen=np.asarray):
    """Check a function of a namespace: ``ft`` must give the values and dtypes that ``np`` gives.

    ``seen`` makes of both results what is compared.
    """
    inputs = [ft.tensor(dtype=x.dtype, shape=(None,) * x.ndim) for x in arrays]
    found, expected = function(ft, *inputs), function(np, *arrays)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    found = compiled(list(found), dict(zip(inputs, arrays, strict=True)), mode)
    for own, numpys in zip(found, expected, strict=True):
        assert (own.dtype, own.shape) == (numpys.dtype, numpys.shape)
        for part in (np.real, np.imag):
            np.testing.assert_array_equal(part(seen(own)), part(seen(numpys)))


def with_one_nan(array):
    """The array with one value for all that is NaN.

    Which NaN stands for the others NumPy leaves open: without indices it is the first one given,
    with them the first one in order.
    """
    return np.where(np.isnan(array), np.nan, array)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_sort_and_argsort(mode, dtype, axis):
    array = numbers(dtype).reshape(14, 7)[::-1]
    agree(lambda n, z: n.sort(z, axis=axis), [array], mode)
    z = ft.matrix("z", dtype=dtype)
    order = compiled(ft.argsort(z, axis), {z: array}, mode)
    np.testing.assert_array_equal(order, np.argsort(array, axis=axis, kind="stable"))
    # Equal elements keep their order, so the signs of zeros are where they were.
    flat = numbers(dtype)
    x = ft.vector("x", dtype=dtype)
    ordered = compiled(ft.sort(x), {x: flat}, mode)
    expected = flat[np.argsort(flat, kind="stable")]
    np.testing.assert_array_equal(np.signbit(ordered.real), np.signbit(expected.real))
    np.testing.assert_array_equal(np.signbit(ordered.imag), np.signbit(expected.imag))


def test_the_largest_first(mode, dtype):
    array = numbers(dtype)
    z = ft.vector("z", dtype=dtype)
    results = [ft.sort(z, descending=True), ft.argsort(z, descending=True)]
    ordered, order = compiled(results, {z: array}, mode)
    np.testing.assert_array_equal(ordered, np.sort(array)[::-1])
    backwards = np.argsort(array[::-1], kind="stable")[::-1]
    np.testing.assert_array_equal(order, len(array) - 1 - backwards)


def test_debug_mode_finds_nothing_wrong(dtype):
    agree(lambda n, z: n.sort(z), [numbers(dtype)], "debug")
    agree(lambda n, z: n.unique(z, return_inverse=True), [numbers(dtype)], "debug")


@pytest.mark.parametrize("length", [0, 1])
def test_vectors_with_nothing_to_order(mode, dtype, length):
    array = np.full(length, 1j, dtype)
    agree(lambda n, z: (n.sort(z), n.argsort(z), n.unique(z)), [array], mode)


@pytest.mark.parametrize("equal_nan", [True, False])
def test_unique(mode, dtype, equal_nan):
    def unique(n, z):
        return n.unique(z, True, True, True, equal_nan=equal_nan)

    agree(unique, [numbers(dtype)], mode)
    agree(unique, [numbers(dtype).reshape(7, 14)], mode)
    values = numbers(dtype)
    agree(lambda n, z: n.unique(z, equal_nan=equal_nan), [values], mode, with_one_nan)


@pytest.mark.parametrize("axis", [0, 1])
def test_unique_parts_along_an_axis(mode, dtype, axis):
    pairs = np.stack([numbers(dtype), numbers(dtype, 1)], 1)
    rows = np.concatenate([pairs, pairs[::3]])
    array = rows if axis == 0 else rows.T
    # NumPy tells rows with NaN apart in an order of its own, so that order is not compared here.
    known = array[~np.isnan(rows).any(1)] if axis == 0 else array[:, ~np.isnan(rows).any(1)]
    agree(lambda n, z: n.unique(z, True, True, True, axis=axis), [known], mode)
    agree(lambda n, z: n.unique(z, axis=axis), [array], mode)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(mode, dtype, side):
    array, wanted = numbers(dtype), numbers(dtype, 1).reshape(14, 7)
    agree(lambda n, a, v: n.searchsorted(n.sort(a), v, side), [array, wanted], mode)
    sorter = np.argsort(array, kind="stable")
    agree(lambda n, a, v, s: n.searchsorted(a, v, side, s), [array, wanted, sorter], mode)
    # Numbers of two dtypes meet in that which both promote to.
    agree(
        lambda n, a, v: n.searchsorted(n.sort(a), v, side), [array, np.float32([0, np.nan])], mode
    )


SETS = {
    "isin": lambda n, a, b: n.isin(a, b),
    "union": lambda n, a, b: n.union1d(a, b),
    "intersection": lambda n, a, b: n.intersect1d(a, b, return_indices=True),
    "difference": lambda n, a, b: n.setdiff1d(a, b),
    "either": lambda n, a, b: n.setxor1d(a, b),
}


@pytest.mark.parametrize("name", SETS)
def test_sets(mode, dtype, name):
    agree(SETS[name], [numbers(dtype)[:40], numbers(dtype, 1)[:40]], mode, with_one_nan)


def test_orders_of_several_keys_and_around_a_place(mode, dtype):
    first, last = numbers(dtype), numbers(dtype, 1)
    agree(lambda n, a, b: n.lexsort((a, b)), [first, last], mode)
    z = ft.vector("z", dtype=dtype)
    found = compiled([ft.partition(z, 9), ft.argpartition(z, 9)], {z: first}, mode)
    assert str(found[0][9]) == str(np.sort(first)[9]) == str(first[found[1][9]])


@pytest.mark.parametrize("given", ["int8", "uint16", "int32", "bool", "float32", "complex64"])
def test_sort_complex(mode, given):
    array = np.array([[3, 1, 2], [0, 1, 0]]).astype(given)
    agree(lambda n, x: n.sort_complex(x), [array], mode)
    assert np.sort_complex(ft.vector(dtype=given)).dtype == np.sort_complex(array[0]).dtype


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_median(mode, dtype, axis):
    rng = np.random.default_rng(0)
    array = (rng.integers(0, 3, (5, 4)) + 1j * rng.integers(-2, 3, (5, 4))).astype(dtype)
    agree(lambda n, z: n.median(z, axis=axis), [array], mode)
    agree(lambda n, z: n.nanmedian(z, axis=axis, keepdims=True), [array], mode)
    # Of those with NaN the median is the last one in order, so its real part may be a number.
    array[1, 2], array[3, 2], array[0, 1] = complex(1, np.nan), complex(2, np.nan), np.nan
    agree(lambda n, z: n.median(z, axis=axis), [array], mode)
    agree(lambda n, z: n.nanmedian(z, axis=axis), [array], mode)


def test_histograms_of_given_intervals(mode):
    edges = np.array([1, 1 + 2j, 2, 3 - 1j])
    values = np.array([1 + 1j, 1 + 2j, 3 - 1j, 0, 1 + 3j, 3])
    agree(lambda n, z, ends: n.histogram(z, ends), [values, edges], mode)


@pytest.mark.parametrize(
    "of_real_numbers",
    [
        *(ft.quantile, ft.percentile, ft.nanquantile, ft.nanpercentile),
        *(lambda z, q, f=f: f(ft.real(z), q + 0j) for f in (ft.quantile, ft.nanpercentile)),
        *(lambda z, q: ft.digitize(z, [0.0, 1.0]), lambda z, q: ft.digitize(ft.real(z), z)),
    ],
)
def test_what_is_of_real_numbers_says_so(of_real_numbers):
    z = ft.vector("z", dtype="complex128")
    for q in (0.5, ft.scalar("q")):
        with pytest.raises(TypeError, match=r"takes real numbers; given .*complex.*ft\.real"):
            of_real_numbers(z, q)


WEIGHTS = np.array([0.3 - 1j, 2.0, 1j, -0.7 + 0.2j])


@pytest.mark.parametrize(
    "function",
    [
        lambda z: (ft.sort(z) * WEIGHTS).sum(),
        lambda z: (ft.sort(z, descending=True) ** 2 * WEIGHTS).sum(),
        lambda z: ft.median(z) * (1 + 2j) + ft.median(z[:3]),
        lambda z: ft.nanmedian(z) * (1 + 2j),
        lambda z: (z[ft.argsort(z)] * WEIGHTS).sum(),
        lambda z: (ft.unique(z) * WEIGHTS).sum(),
        lambda z: (ft.partition(z, 1) * WEIGHTS).sum(),
    ],
)
def test_gradients_are_those_of_finite_differences(mode, function):
    def of_parts(x, y):
        result = function(x + 1j * y)
        return ft.real(result) * 0.7 + ft.imag(result) * 1.1

    parts = np.array([0.4, -0.8, 1.3, 0.1]), np.array([1.1, 0.6, -0.7, 0.2])
    verify_grad(of_parts, parts, mode=mode)


def test_batches_are_as_loops():
    z, batch = ft.vector("z", dtype="complex128"), ft.matrix("zs", dtype="complex128")
    values = numbers("complex128").reshape(14, 7)
    results = fz.vectorize([ft.sort(z), ft.argsort(z)], {z: batch})
    found = fz.function([batch], results)(values)
    np.testing.assert_array_equal(found[0], np.sort(values))
    np.testing.assert_array_equal(found[1], np.argsort(values, kind="stable"))
