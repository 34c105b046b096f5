"""Sets, orders, slopes, polynomials and what else NumPy has agree with NumPy."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.signal
from agreement import MODES, agree, drawn_arrays, follow, follow_compiled
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FEW = settings(max_examples=settings.default.max_examples // 10)
vectors = drawn_arrays(min_dims=1, max_dims=1)
numbers = hnp.arrays(
    st.sampled_from(["float64", "float32", "int64", "int8"]),
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=5),
    elements=st.integers(-4, 4),
)


@FEW
@given(drawn_arrays(min_dims=1), st.integers(-3, 2), st.data())
def test_parts_that_are_there_once(array, axis, data):
    assume(not np.isnan(array).any())
    options = {"return_index": True, "return_inverse": True, "return_counts": True, "axis": axis}
    follow(lambda x: ft.unique(x, **options), lambda x: np.unique(x, **options), [array], data.draw)


def test_rows_with_nan_differ_and_come_last():
    rows = np.array([[np.nan, 2.0], [1.0, 0.0], [np.nan, 1.0], [np.nan, 2.0], [1.0, 0.0]])
    x = ft.matrix("x")
    found = ft.unique(x, axis=0).eval({x: rows})
    np.testing.assert_array_equal(found, np.unique(rows, axis=0))
    assert len(found) == 4
    assert ft.unique([np.nan, np.nan], equal_nan=False).eval().size == 2


@FEW
@given(
    st.sampled_from(["union1d", "intersect1d", "setdiff1d", "setxor1d"]),
    vectors,
    vectors,
    st.data(),
)
def test_sets(name, a, b, data):
    ours, theirs = getattr(ft, name), getattr(np, name)
    follow(ours, theirs, [a, b], data.draw)
    if name == "intersect1d":
        ours, theirs = (partial(one, return_indices=True) for one in (ours, theirs))
        follow(ours, theirs, [a, b], data.draw)
    if name != "union1d":
        once = [np.unique(one, equal_nan=False)[::-1] for one in (a, b)]
        follow(
            partial(ours, assume_unique=True), partial(theirs, assume_unique=True), once, data.draw
        )


@FEW
@given(drawn_arrays(min_dims=1), st.integers(-3, 2), st.data())
def test_orders_of_several_keys(array, axis, data):
    keys = [array, np.flip(array), -array]
    follow(lambda *k: ft.lexsort(k, axis), lambda *k: np.lexsort(k, axis), keys, data.draw)
    assume(-array.ndim <= axis < array.ndim and array.shape[axis])
    kth = array.shape[axis] // 2
    x = ft.constant(array)
    np.testing.assert_array_equal(ft.partition(x, kth, axis).eval(), np.sort(array, axis))
    np.testing.assert_array_equal(
        np.take_along_axis(array, ft.argpartition(x, kth, axis).eval(), axis), np.sort(array, axis)
    )


@FEW
@given(drawn_arrays(min_dims=1), st.none() | st.integers(-3, 2), st.booleans(), st.data())
def test_places_of_numbers(array, axis, keepdims, data):
    for name in ("nanargmax", "nanargmin"):
        follow(
            lambda x, name=name: getattr(ft, name)(x, axis, keepdims=keepdims),
            lambda x, name=name: getattr(np, name)(x, axis, keepdims=keepdims),
            [array],
            data.draw,
        )


METHODS = ["linear", "lower", "nearest", "midpoint", "hazen", "inverted_cdf", "closest_observation"]


@FEW
@given(numbers, st.sampled_from(METHODS), st.booleans(), st.data())
def test_quantiles_that_pass_over_nan(array, method, keepdims, data):
    if array.dtype.kind == "f":
        holes = data.draw(hnp.arrays(bool, array.shape))
        array[holes] = np.nan
    axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
    share = st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.1])
    q = data.draw(share | st.lists(share, min_size=1, max_size=3))
    options = {"axis": axis, "method": method, "keepdims": keepdims}
    hundred = [100 * one for one in q] if isinstance(q, list) else 100 * q
    for name, shares in (("nanquantile", q), ("nanpercentile", hundred)):
        follow(
            lambda x, n=name, s=shares: getattr(ft, n)(x, s, **options),
            lambda x, n=name, s=shares: getattr(np, n)(x, s, **options),
            [array],
            data.draw,
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["nanquantile", "nanpercentile"])
def test_quantiles_of_no_integers_are_nan(name, method, mode):
    for shape in ((0,), (0, 3), (2, 0)):
        nothing = np.zeros(shape, "int64")
        x = ft.tensor(dtype="int64", shape=shape)
        expected = getattr(np, name)(nothing, 0.5, 0, method=method)
        outputs = [getattr(ft, name)(x, n, 0, method) for n in (0.5, [0.2, 0.7])]
        one, several = fz.function([x], outputs, mode=mode)(nothing)
        agree(one, expected)
        agree(several, np.stack([expected, expected]))


def test_a_chosen_one_of_no_integers_is_an_error_if_their_number_is_not_known(mode):
    x = ft.lvector("x")
    f = fz.function([x], ft.nanquantile(x, 0.5, method="nearest"), mode=mode)
    assert f([3, 1, 2]) == 2
    with pytest.raises(IndexError):
        f(np.zeros(0, "int64"))


@FEW
@given(numbers, st.sampled_from([1, 2]), st.sampled_from(["none", "one", "each"]), st.data())
def test_slopes(array, edge_order, kind, data):
    axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
    axes = range(array.ndim) if axis is None else [axis]
    # NumPy's own check of short dimensions comes after it has read a second place.
    assume(kind != "each" or min(array.shape[k] for k in axes) > 1)
    each = [np.cumsum(np.arange(1.0, array.shape[k] + 1)) if k % 2 else 0.5 for k in axes]
    spacing = {"none": [], "one": [2.0], "each": each}[kind]
    options = {"axis": axis, "edge_order": edge_order}
    follow(
        lambda x: ft.gradient(x, *spacing, **options),
        lambda x: np.gradient(x, *spacing, **options),
        [array],
        data.draw,
        1e-10,
    )


@FEW
@given(drawn_arrays(min_dims=1), st.integers(-3, 2), st.data())
def test_areas_and_differences(array, axis, data):
    assume(np.isfinite(array).all())
    follow(
        lambda x: ft.trapezoid(x, axis=axis),
        lambda x: np.trapezoid(x, axis=axis),
        [array],
        data.draw,
    )
    if -array.ndim <= axis < array.ndim:
        points = np.arange(array.shape[axis]) ** 2 / 2
        for where in [points, np.broadcast_to(2.0, array.shape)] if array.ndim > 1 else [points]:
            follow(
                lambda x, p: ft.trapezoid(x, p, axis=axis),
                lambda x, p: np.trapezoid(x, p, axis=axis),
                [array, where],
                data.draw,
            )
    follow(ft.ediff1d, np.ediff1d, [array], data.draw)
    follow(
        lambda x: ft.ediff1d(x, [1, 2], 3), lambda x: np.ediff1d(x, [1, 2], 3), [array], data.draw
    )
    for period, discont in ((2 * np.pi, None), (3, None), (4, None), (2.5, 2)):
        follow(
            lambda x, p=period, d=discont: ft.unwrap(x, d, axis, period=p),
            lambda x, p=period, d=discont: np.unwrap(x, d, axis, period=p),
            [array],
            data.draw,
        )


@FEW
@given(vectors, vectors, numbers, st.data())
def test_polynomials(p, other, x, data):
    for values in (p, ft.tensor("p", dtype=p.dtype, shape=p.shape)):
        if isinstance(values, np.ndarray):
            follow(lambda z: ft.polyval(p, z), lambda z: np.polyval(p, z), [x], data.draw, 1e-9)
        else:
            assert ft.polyval(values, x).dtype == np.polyval(p, x).dtype
    for name in ("polyadd", "polysub"):
        follow(getattr(ft, name), getattr(np, name), [p, other], data.draw)
    for m in (0, 1, 2):
        follow(lambda z, m=m: ft.polyder(z, m), lambda z, m=m: np.polyder(z, m), [p], data.draw)
        for k in (None, 3, [1.0, 2.0]):
            follow(
                lambda z, m=m, k=k: ft.polyint(z, m, k),
                lambda z, m=m, k=k: np.polyint(z, m, k),
                [p],
                data.draw,
            )


@given(st.integers(0, 4), st.sampled_from(["px", "p", "x"]), st.data())
def test_batches_of_polynomials_of_unknown_degree(degree, which, data):
    finite = st.floats(-3, 3, width=16)
    coefficients = data.draw(hnp.arrays("float64", (2, degree), elements=finite))
    places = data.draw(hnp.arrays("float64", (2, 3), elements=finite))
    p, x, ps, xs = ft.vector("p"), ft.vector("x"), ft.matrix("ps"), ft.matrix("xs")
    batches = {p: ps, x: xs}
    batched = {one: batches[one] for one in (p, x) if one.name in which}
    given_values = {p: coefficients[0], ps: coefficients, x: places[0], xs: places}
    slopes = fz.grad(ft.polyval(p, x).sum(), [p, x])
    results = fz.vectorize([ft.polyval(p, x), *slopes], batched)
    inputs = [batched.get(one, one) for one in (p, x)]
    for mode in MODES:
        f = fz.function(inputs, results, mode=mode, on_unused_input="ignore")
        found = f(*(given_values[one] for one in inputs))
        for k in range(2):
            c, at = coefficients[k if "p" in which else 0], places[k if "x" in which else 0]
            powers = at[None] ** np.arange(degree)[::-1, None]
            expected = [np.polyval(c, at), powers.sum(1), np.polyval(np.polyder(c), at)]
            rows = [y[k] if y.ndim > e.ndim else y for y, e in zip(found, expected, strict=True)]
            for row, one in zip(rows, expected, strict=True):
                np.testing.assert_allclose(row, one, atol=1e-10)


def test_gradients_of_polynomials_of_unknown_degree():
    given_values = [np.array([2.0, -1.0, 0.5]), np.array([[0.3, -1.2], [0.8, 2.0]])]
    verify_grad(lambda p, x: ft.polyval(p[p > -9], x), given_values)
    z = np.array([1 + 2j, 0.5 - 1j])
    q, y = ft.vector("q", dtype="complex128"), ft.vector("y", dtype="complex128")
    size = (abs(ft.polyval(q, y)) ** 2).sum()
    of_two = (abs(y[0] * 0 + q[0] * y + q[1]) ** 2).sum()
    found = fz.function([q, y], fz.grad(size, [q, y]))(z, z)
    for one, other in zip(found, fz.function([q, y], fz.grad(of_two, [q, y]))(z, z), strict=True):
        np.testing.assert_allclose(one, other)


def test_polynomials_of_unknown_degree(mode):
    p, x = ft.vector("p"), ft.matrix("x")
    at = np.array([[0.0, 2.0, -1.5]])
    f = fz.function([p, x], ft.polyval(p, x), mode=mode)
    for coefficients in ([3.0, 0.0, 1.0], [2.0], [], [0.0, 0.0, 1.0, -2.0]):
        for places in (at, at * 1e300, at + np.inf):
            with np.errstate(all="ignore"):
                expected = np.polyval(coefficients, places)
            np.testing.assert_array_equal(f(coefficients, places), expected)
    for dtypes in itertools.product(["float32", "int8", "uint16", "bool"], repeat=2):
        p, x = ft.vector("p", dtype=dtypes[0]), ft.vector("x", dtype=dtypes[1])
        arrays = [np.array([3, 1, 7], one) for one in dtypes]
        found = fz.function([p, x], ft.polyval(p, x), mode=mode)(*arrays)
        agree(found, np.polyval(*arrays), 1e-6)


@FEW
@given(numbers, st.data())
def test_elements(array, data):
    array = array[..., :1] * 37 + array if array.size else array
    for name in ("fabs", "modf", "bitwise_count"):
        if array.dtype == "int8" and name != "bitwise_count":
            continue  # NumPy's is float16
        follow(getattr(ft, name), getattr(np, name), [array], data.draw)
    follow(lambda x: ft.float_power(x, 2), lambda x: np.float_power(x, 2), [array], data.draw)


def test_elements_at_the_edges(mode):
    edges = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, -2.5, 1e300])
    found = fz.function([], [*ft.modf(edges), ft.fabs(edges)], mode=mode)()
    for one, other in zip(found, [*np.modf(edges), np.fabs(edges)], strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
    for dtype in ("int8", "int64", "uint64", "uint16"):
        info = np.iinfo(dtype)
        x = ft.tensor("x", dtype=dtype, shape=(None,))
        values = np.array([info.min, info.max, 0, 1, 85, info.max - 2], dtype)
        counted = fz.function([x], ft.bitwise_count(x), mode=mode)(values)
        np.testing.assert_array_equal(counted, np.bitwise_count(values))


@FEW
@given(
    hnp.arrays("float64", hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(-3, 3)),
    hnp.arrays("float64", hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(-3, 3)),
    st.sampled_from(["full", "same", "valid"]),
    st.sampled_from(["fill", "wrap", "symm"]),
    st.data(),
)
def test_convolutions_of_matrices(a, v, mode, boundary, data):
    assume(boundary == "fill" or all(n >= m for n, m in zip(a.shape, v.shape, strict=True)))
    options = {"mode": mode, "boundary": boundary, "fillvalue": 2}
    for name in ("convolve2d", "correlate2d"):
        follow(
            lambda x, y, name=name: getattr(ft, name)(x, y, **options),
            lambda x, y, name=name: getattr(scipy.signal, name)(x, y, **options),
            [a, v],
            data.draw,
            known=True,
        )


A = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 0.5], [2.0, 0.5, 6.0]])
V = np.array([1.0, -2.5, 3.5])
C = np.array([0.0, 1.0, 3.0])
SMOOTH = [
    (lambda a, v: ft.gradient(a, v, 2.0), lambda a, v: np.gradient(a, v, 2.0)),
    (lambda a, v: ft.gradient(a, edge_order=2), lambda a, v: np.gradient(a, edge_order=2)),
    (lambda a, v: ft.trapezoid(a, v), lambda a, v: np.trapezoid(a, v)),
    (lambda a, v: ft.polyval(v, a), lambda a, v: np.polyval(v, a)),
    (lambda a, v: ft.polyint(v), lambda a, v: np.polyint(v)),
    (lambda a, v: ft.unwrap(a * 2), lambda a, v: np.unwrap(a * 2)),
    (lambda a, v: ft.nanquantile(a, 0.3, 0), lambda a, v: np.nanquantile(a, 0.3, 0)),
    (lambda a, v: ft.convolve2d(a, a, "same"), lambda a, v: scipy.signal.convolve2d(a, a, "same")),
    (lambda a, v: ft.correlate2d(a, a), lambda a, v: scipy.signal.correlate2d(a, a)),
    (lambda a, v: ft.block([[a, a], [v, v]]), lambda a, v: np.block([[a, a], [v, v]])),
    (lambda a, v: ft.diagflat(a, 1), lambda a, v: np.diagflat(a, 1)),
    (lambda a, v: ft.unique(a, axis=1), lambda a, v: np.unique(a, axis=1)),
    (lambda a, v: ft.compress([True, False, True], a, 1), lambda a, v: a[:, ::2]),
    (lambda a, v: ft.modf(a * 0.3)[0], lambda a, v: np.modf(a * 0.3)[0]),
]  # fmt: skip


def test_compiled(mode):
    follow_compiled(SMOOTH, [A, V], mode)


def test_gradients():
    def total(a, v):
        parts = []
        for ours, _ in SMOOTH:
            made = ours(a, v)
            parts += made if isinstance(made, tuple) else [made]
        return sum(((k + 1) / 10 * part**2).sum() for k, part in enumerate(parts))

    a = A + np.array([[0.0, 0.1, 0.2], [0.3, 0.0, 0.07], [0.05, 0.4, 0.0]])
    verify_grad(total, [a, C + 0.5], mode="c", rel_tol=1e-4)


def test_batches():
    a, v = ft.matrix("a"), ft.vector("v")
    batch, vectors = ft.tensor3("batch"), ft.matrix("vectors")
    outputs = []
    for ours, _ in SMOOTH:
        made = ours(a, v)
        outputs += made if isinstance(made, tuple) else [made]
    del outputs[-3:-1]  # how long they are depends on values
    stacked = np.stack([A, A + 1, A * 2 + np.eye(3)])
    rows = np.stack([C, C + 1, C * 2])
    many = fz.function([batch, vectors], fz.vectorize(outputs, {a: batch, v: vectors}))
    many = many(stacked, rows)
    one = fz.function([a, v], outputs)
    for k, array in enumerate(stacked):
        for found, expected in zip(many, one(array, rows[k]), strict=True):
            np.testing.assert_allclose(found[k], expected, rtol=1e-9, atol=1e-12)


def test_diagonals_of_equally_long_dimensions():
    x = ft.tensor3("x")
    f = fz.function([x], x[ft.diag_indices_from(x)])
    cube = np.arange(27.0).reshape(3, 3, 3)
    np.testing.assert_array_equal(f(cube), cube[np.diag_indices_from(cube)])
    with pytest.raises(ValueError, match="equally long"):
        f(np.ones((3, 3, 2)))
    assert [one.type.shape for one in ft.diag_indices(4, 3)] == [(4,)] * 3


def test_equal_when_broadcast():
    for a, b in (([1, 2], [[1, 2], [1, 2]]), ([1, 2], [[1, 2], [1, 3]]), ([1, 2], [1, 2, 3])):
        assert ft.array_equiv(a, b).eval() == np.array_equiv(a, b)


def test_what_is_refused():
    x, m = ft.vector("x"), ft.matrix("m")
    with pytest.raises(ValueError, match="edge_order must be 1 or 2"):
        ft.gradient(x, edge_order=3)
    with pytest.raises(TypeError, match="one spacing for each of 2 axes"):
        ft.gradient(m, 1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="as many coordinates"):
        fz.function([x], ft.gradient(x, [0.0, 1.0, 3.0]))(np.ones(4))
    with pytest.raises(ValueError, match="need 3 values"):
        fz.function([x], ft.gradient(x, edge_order=2))(np.ones(2))
    with pytest.raises(ValueError, match="are NaN"):
        fz.function([m], ft.nanargmax(m, 1))([[1.0, np.nan], [np.nan, np.nan]])
    with pytest.raises(ValueError, match="smaller than the second"):
        fz.function([m], ft.convolve2d(m, np.ones((2, 3)), "valid"))(np.ones((3, 2)))
    with pytest.raises(ValueError, match="neither lies within"):
        ft.convolve2d(np.ones((2, 3)), np.ones((3, 2)), "valid")
    with pytest.raises(ValueError, match="equally many lists"):
        ft.block([x, [x]])
    with pytest.raises(TypeError, match="not tuples"):
        ft.block((x, x))
    with pytest.raises(ValueError, match="place 5"):
        ft.partition(np.ones(3), 5)


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_what_is_distinct(mode, name):
    array = np.array([[3.0, np.nan, 1.0], [1.0, 3.0, np.nan]])
    x = ft.matrix("x")
    expected = getattr(np, name)(array)
    for own in (getattr(ft, name), getattr(np, name)):  # NumPy's hands variables on
        found = fz.function([x], list(own(x)), mode=mode)(array)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    traced = fz.jit(lambda x: getattr(np, name)(x), mode=mode)(array)
    assert type(traced) is type(expected)


def test_distinct_values_and_which_numbers_are_real(mode):
    array = np.array([2.0, 1j, np.nan, 2.0, 3 + 0j, complex(1, np.nan)])
    z = ft.vector("z", dtype="complex128")
    results = [ft.unique_values(ft.real(z)), ft.isreal(z), ft.iscomplex(z), ft.isreal(ft.abs(z))]
    values, *parts = fz.function([z], results, mode=mode)(array)
    np.testing.assert_array_equal(values, np.sort(np.unique_values(array.real)))
    expected = [np.isreal(array), np.iscomplex(array), np.isreal(abs(array))]
    for one, other in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(one, other)
