"""Positions, triangles and cumulations under the Array API's names agree with NumPy."""

import numpy as np
import pytest
from agreement import drawn_arrays, follow, follow_compiled
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

lengths = st.integers(0, 4)


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
@given(lengths, st.none() | lengths, st.integers(-3, 3))
def test_positions_in_triangles_agree_with_numpy(name, n, m, k):
    expected = getattr(np, name)(n, k, m)
    rows, columns = ft.lscalar("rows"), ft.lscalar("columns")
    symbolic = getattr(ft, name)(rows, k, None if m is None else columns)
    values = {rows: n} if m is None else {rows: n, columns: m}
    for known, found, wanted in zip(getattr(ft, name)(n, k, m), symbolic, expected, strict=True):
        assert known.type.shape == wanted.shape
        np.testing.assert_array_equal(known.eval(), wanted)
        np.testing.assert_array_equal(found.eval(values), wanted)


@pytest.mark.parametrize("name", ["tril_indices_from", "triu_indices_from", "argwhere"])
@given(drawn_arrays(min_dims=1), st.data())
def test_positions_of_elements_agree_with_numpy(name, array, data):
    follow(getattr(ft, name), getattr(np, name), [array], data.draw)


cubes = st.integers(0, 3).flatmap(
    lambda n: hnp.arrays("float64", (n,) * 3, elements=st.integers(-3, 3))
)


@given(drawn_arrays(min_dims=2, max_dims=2) | cubes, st.data())
def test_filled_diagonals_agree_with_numpy(array, data):
    def filled(x):
        x = x.copy()
        np.fill_diagonal(x, 3)
        return x

    follow(lambda x: ft.fill_diagonal(x, 3), filled, [array], data.draw)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (9, 2), (8, 3), (3, 3, 3)])
def test_diagonals_are_filled_with_several_values(shape, wrap, mode):
    array, x = np.zeros(shape, "int64"), ft.tensor(dtype="int64", shape=(None,) * len(shape))
    for values in ([1, 2, 3, 4, 5, 6, 7, 8], [1.5, 2.5], [[1], [2], [3]], [4]):
        v = ft.tensor(dtype=np.asarray(values).dtype, shape=(None,) * np.ndim(values))
        f = fz.function([x, v], ft.fill_diagonal(x, v, wrap=wrap), mode=mode)
        expected = array.copy()
        np.fill_diagonal(expected, values, wrap=wrap)
        np.testing.assert_array_equal(f(array, values), expected)


vectors = hnp.arrays(
    st.sampled_from(["float64", "float32", "int64", "int8"]),
    st.integers(0, 5),
    elements=st.integers(-3, 3),
)


@given(vectors, st.none() | st.integers(-1, 4), st.booleans(), st.data())
def test_matrices_of_powers_agree_with_numpy(array, count, increasing, data):
    follow(
        lambda x: ft.vander(x, count, increasing),
        lambda x: np.vander(x, count, increasing),
        [array],
        data.draw,
    )


@pytest.mark.parametrize("side", ["left", "right"])
@given(vectors, drawn_arrays(dtypes=["float64", "int8"]), st.data())
def test_places_among_sorted_elements_agree_with_numpy(side, sorted_one, wanted, data):
    ordered = np.sort(sorted_one)
    follow(
        lambda x, y: ft.searchsorted(x, y, side),
        lambda x, y: np.searchsorted(x, y, side),
        [ordered, wanted],
        data.draw,
    )


def test_nan_has_its_place_behind_all_numbers():
    ordered = np.array([-np.inf, 1.0, np.inf, np.nan, np.nan])
    for side in ("left", "right"):
        found = ft.searchsorted(ordered, ordered, side).eval()
        np.testing.assert_array_equal(found, np.searchsorted(ordered, ordered, side))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@given(drawn_arrays(), st.none() | st.integers(-2, 2), st.booleans(), st.data())
def test_cumulations_agree_with_numpy(name, array, axis, initial, data):
    options = {"axis": axis, "include_initial": initial}
    ours, theirs = getattr(ft, name), getattr(np, name)
    follow(lambda x: ours(x, **options), lambda x: theirs(x, **options), [array], data.draw)


def one_hot(x, numbers):
    return (x[..., None] == numbers) * 1.0


@given(drawn_arrays(dtypes=["int64", "int8"]), st.integers(0, 4), st.data())
def test_hot_vectors_are_rows_of_the_identity(array, classes, data):
    axis = data.draw(st.integers(-array.ndim - 1, array.ndim))
    numbers = np.arange(classes)
    follow(
        lambda x: ft.one_hot(x, classes, axis, "int8"),
        lambda x: np.moveaxis(one_hot(x, numbers).astype("int8"), -1, axis),
        [array],
        data.draw,
    )
    follow(
        lambda x: ft.to_one_hot(x, 3),
        lambda x: (x[..., None] == np.arange(3)) * 1.0,
        [array],
        data.draw,
    )


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_diagonals_go_where_they_come_from(offset):
    values = np.arange(24.0).reshape(2, 3, 4)
    for axes in [(0, 1), (-1, 0), (1, 3)]:
        made = ft.alloc_diag(values, *axes, offset)
        back = ft.extract_diag(made, offset, *axes)
        np.testing.assert_array_equal(back.eval(), values)
        assert made.sum().eval() == values.sum()
        assert np.count_nonzero(made.eval()) == np.count_nonzero(values)


X = np.array([[1.0, 2.0, -0.5], [3.0, 0.25, 6.0], [0.0, -1.0, 2.0]])
TABLE = [
    (lambda x: x[ft.tril_indices_from(x)], lambda x: x[np.tril_indices_from(x)]),
    (lambda x: ft.argwhere(x > 1), lambda x: np.argwhere(x > 1)),
    (lambda x: ft.vander(x[2]), lambda x: np.vander(x[2])),
    (lambda x: ft.cumulative_sum(x, axis=1), lambda x: np.cumulative_sum(x, axis=1)),
    (lambda x: ft.searchsorted(x[0], x), lambda x: np.searchsorted(x[0], x)),
    (lambda x: ft.max_and_argmax(x, 1), lambda x: (np.max(x, 1), np.argmax(x, 1))),
    (lambda x: ft.alloc_diag(x[0]), lambda x: np.diag(x[0])),
]


def test_diagonals_of_dimensions_that_differ_are_refused(mode):
    with pytest.raises(ValueError, match="two dimensions or more"):
        ft.fill_diagonal([1.0], 0)
    with pytest.raises(ValueError, match="of one length"):
        ft.fill_diagonal(np.ones((2, 2, 3)), 0)
    x = ft.tensor3("x")
    filled = fz.function([x], ft.fill_diagonal(x, 0), mode=mode)
    assert filled(np.ones((2, 2, 2))).sum() == 6
    with pytest.raises(ValueError, match="of one length"):
        filled(np.ones((2, 2, 3)))


def test_compiled(mode):
    follow_compiled(TABLE[:4] + TABLE[5:], [X], mode)
    follow_compiled([TABLE[4]], [np.sort(X)], mode)


def test_gradients(mode):
    def total(x):
        results = [
            x[ft.triu_indices_from(x)],
            ft.fill_diagonal(x, x[0, 1]),
            ft.vander(x[2]),
            ft.cumulative_sum(x, axis=1, include_initial=True),
            ft.cumulative_prod(x, axis=0),
            ft.max_and_argmax(x, 1)[0],
            ft.alloc_diag(x),
        ]
        return sum(((k + 1) / 10 * result**2).sum() for k, result in enumerate(results))

    verify_grad(total, [X], mode=mode)


def test_the_gradient_of_a_power_at_zero():
    x = ft.vector("x")
    cost = (ft.vander(x, 3, increasing=True) * np.array([1.0, 2.0, 3.0])).sum()
    np.testing.assert_array_equal(fz.grad(cost, x).eval({x: [0.0]}), [2.0])


def test_errors():
    x, m = ft.vector("x"), ft.matrix("m")
    for function, arguments in [
        (ft.fill_diagonal, (x, 0)),
        (ft.tril_indices_from, (x,)),
        (ft.vander, (m,)),
        (ft.searchsorted, (m, x)),
        (ft.searchsorted, (x, x, "middle")),
        (ft.alloc_diag, (ft.scalar("s"),)),
        (ft.alloc_diag, (x, 0, 0)),
        (ft.cumulative_sum, (m,)),
    ]:
        with pytest.raises(ValueError, match=r"given|both|axis"):
            function(*arguments)
    with pytest.raises(TypeError, match="integers"):
        ft.one_hot(x, 3)
