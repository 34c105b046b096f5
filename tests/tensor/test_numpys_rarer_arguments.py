"""Arguments that few calls have, and results that few see: as NumPy and SciPy have them."""

import numpy as np
import pytest
import scipy.special
from agreement import MODES, compiled, drawn_arrays, follow
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

LARGEST = np.finfo("float64").max
parts = st.sampled_from([0.0, -0.0, 1.5, 25.0, -123456.0, 5e307, LARGEST, np.inf, np.nan])


@given(st.lists(st.tuples(parts, parts), min_size=1, max_size=4), st.integers(-320, 25), st.data())
def test_complex_numbers_are_rounded_part_by_part(pairs, decimals, data):
    z = np.array([complex(*pair) for pair in pairs])
    follow(lambda z: ft.round(z, decimals), lambda z: np.round(z, decimals), [z], data.draw)
    follow(lambda x: ft.round(x, decimals), lambda x: np.round(x, decimals), [z.real], data.draw)


def test_bool_has_no_sign_and_is_its_own_conjugate():
    b, x = ft.vector("b", dtype="bool"), ft.vector("x")
    with pytest.raises(TypeError, match="takes numbers"):
        _ = +b
    assert +x is x
    for array, variable in ((np.array([True]), b), (np.array([1.5]), x)):
        assert variable.conj().dtype == variable.conjugate().dtype == array.conj().dtype
        assert ft.conj(variable).dtype == np.conj(array).dtype


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like"])
@pytest.mark.parametrize("shape", [(), 3, (2, 0), [4, 1]])
def test_tensors_like_others_of_another_shape(name, shape):
    x, rest = ft.matrix("x", dtype="float32"), (7,) * (name == "full_like")
    for namespace in (ft, np):
        made = getattr(namespace, name)(x, *rest, shape=shape)
        expected = getattr(np, name)(np.ones((2, 2), "float32"), *rest, shape=shape)
        assert (made.dtype, made.type.shape) == (expected.dtype, expected.shape)
        if name != "empty_like":
            np.testing.assert_array_equal(made.eval(), expected)
    n = ft.lscalar("n")
    assert ft.zeros_like(x, shape=(n, 2)).eval({n: 3}).shape == (3, 2)


@given(drawn_arrays(min_dims=1, dtypes=["float64", "float32", "int8"]), st.data())
def test_distances_from_a_mean_that_is_given(array, data):
    axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
    options = {"axis": axis, "ddof": data.draw(st.sampled_from([0, 1]))}
    middle = np.array(data.draw(st.sampled_from([0.0, -1.5, np.inf])))
    for name in ("var", "std"):
        follow(
            lambda x, m, name=name: getattr(ft, name)(x, mean=m, **options),
            lambda x, m, name=name: getattr(np, name)(x, mean=m, **options),
            [array, middle],
            data.draw,
        )


@given(drawn_arrays(dtypes=["float64", "int8"]), st.booleans(), st.booleans(), st.data())
def test_members_of_distinct_elements(array, unique, invert, data):
    others = np.unique(array)[::2]
    array = np.unique(array) if unique else array
    for kind in (None, "sort"):
        follow(
            lambda x, y, kind=kind: ft.isin(x, y, unique, invert, kind=kind),
            lambda x, y, kind=kind: np.isin(x, y, unique, invert, kind=kind),
            [array, others],
            data.draw,
        )
    with pytest.raises(ValueError, match="kind"):
        ft.isin(array, others, kind="hash")


def without_what_does_not_count(x, b):
    """SciPy's function makes NaN of it where the result is infinite."""
    return np.where(b == 0, -np.inf, x), b


factors = st.sampled_from([0.0, 1.0, -0.5, 2.0])


@settings(max_examples=50)
@given(
    hnp.arrays(
        "float64",
        st.sampled_from([(), (3,), (2, 3)]),
        elements=st.sampled_from([0.0, 1.5, -700.0, 900.0, -np.inf, np.inf]),
    ),
    st.booleans(),
    st.data(),
)
def test_factors_of_exponentials(array, keepdims, data):
    own = data.draw(hnp.arrays("float64", array.shape, elements=factors))
    axis = data.draw(st.sampled_from([None, 0, -1]))
    options = {"axis": axis, "keepdims": keepdims}
    if array.ndim == 0 and axis is None:
        options["keepdims"] = False
    for ours, theirs in (
        (lambda x, b: ft.logsumexp(x, b=b, **options), without_what_does_not_count),
        (lambda x, b: ft.logsumexp(x, **options), lambda x, b: (x, None)),
    ):
        follow(
            ours,
            lambda x, b, theirs=theirs: scipy.special.logsumexp(
                theirs(x, b)[0], b=theirs(x, b)[1], **options
            ),
            [array, own],
            data.draw,
            1e-12,
        )


def test_gradients_of_factors_of_exponentials():
    given_values = [np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([3.0, 0.5])]
    verify_grad(lambda x, b: ft.logsumexp(x, 1, b=b), given_values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [ft.convolve, ft.correlate])
@pytest.mark.parametrize("how", ["full", "same", "valid"])
def test_empty_vectors_are_named_where_they_are_moved(function, how, mode):
    x, y = ft.vector("x"), ft.vector("y")
    for given_values in ((np.zeros(0), np.ones(2)), (np.ones(2), np.zeros(0)), (np.zeros(0),) * 2):
        with pytest.raises(ValueError, match="vectors with elements"):
            compiled(function(x, y, how), dict(zip((x, y), given_values, strict=True)), mode)


@given(drawn_arrays(max_dims=4, dtypes=["float64", "int8"]), st.data())
def test_elements_in_fortrans_order(array, data):
    shape = data.draw(st.sampled_from([(-1,), array.shape[::-1], (*array.shape, 1), (1, -1)]))
    if -1 in shape and not array.size:
        shape = (array.size,)
    order = data.draw(st.sampled_from("CF"))
    follow(
        lambda x: [ft.reshape(x, shape, order=order), x.ravel(order), np.reshape(x, shape, order)],
        lambda x: [np.reshape(x, shape, order), x.ravel(order), np.reshape(x, shape, order)],
        [array],
        data.draw,
    )


def test_orders_of_no_variable():
    x = ft.matrix("x")
    with pytest.raises(TypeError, match="no layout of memory"):
        x.ravel("K")
    with pytest.raises(ValueError, match="order must be 'C' or 'F'; given 'X'"):
        x.reshape(-1, order="X")


def test_the_gradient_in_fortrans_order():
    verify_grad(lambda x: ft.reshape(x, (3, 4), order="F") ** 2, [np.arange(12.0).reshape(2, 6)])


@given(drawn_arrays(max_dims=3), st.data())
def test_sizes_along_dimensions(array, data):
    axis = data.draw(st.none() | st.integers(-3, 2) | st.sampled_from([(0, 1), (-1, 0), ()]))

    def numpys(x):  # of several dimensions since NumPy 2.4
        if isinstance(axis, tuple):
            return np.prod([np.size(x, at) for at in axis], dtype=int)
        return np.array(np.size(x, axis))

    if isinstance(axis, tuple) and len(axis) > array.ndim:
        axis = 0
    if isinstance(axis, int) and not -array.ndim <= axis < array.ndim:
        with pytest.raises(np.exceptions.AxisError):
            ft.size(array, axis)
        return
    follow(lambda x: ft.size(x, axis), numpys, [array], data.draw)


@given(drawn_arrays(dtypes=["float64", "float32", "complex128", "complex64"]), st.data())
def test_angles_in_degrees(array, data):
    def theirs(x):
        return np.angle(x, deg=True)

    follow(lambda x: ft.angle(x, deg=True), theirs, [array], data.draw, 1e-5)
    follow(theirs, theirs, [array], data.draw, 1e-5)


@given(st.integers(0, 9), hnp.arrays("int64", (3,), elements=st.integers(0, 9)), st.data())
def test_choices_with_repetition(count, taken, data):
    follow(
        lambda k: ft.comb(count, k, repetition=True),
        lambda k: scipy.special.comb(count, k, repetition=True),
        [taken],
        data.draw,
    )


def test_the_upper_factor():
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    found = ft.linalg.cholesky(matrix, upper=True).eval()
    np.testing.assert_allclose(found, np.linalg.cholesky(matrix).T)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "whole"),
    [("quantile", 1), ("percentile", 100), ("nanquantile", 1), ("nanpercentile", 100)],
)
def test_shares_that_only_a_call_knows(name, whole, mode):
    x, q = ft.vector("x"), ft.vector("q")
    f = fz.function([x, q], getattr(ft, name)(x, q), mode=mode)
    array = np.array([3.0, 1.0, 2.0])
    for shares in ([0.0, 0.25, 1.0], []):
        given = np.array(shares) * whole
        np.testing.assert_allclose(f(array, given), getattr(np, name)(array, given))
    for wrong in (-0.01, 1.01 * whole, np.nan):
        with pytest.raises(ValueError, match=f"q must be from 0 to {whole}"):
            f(array, [0.5, wrong])
