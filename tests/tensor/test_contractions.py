"""Products of stacks of vectors and matrices agree with NumPy."""

import numpy as np
import pytest
from agreement import drawn_arrays, follow, follow_compiled
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.tensor as ft
from frazil.testing import verify_grad

lengths = st.integers(0, 3)
dtypes = st.sampled_from(["float64", "float32", "int64", "int8"])


@st.composite
def operands(draw, first, second):
    """Two arrays whose shapes are named by letters; the stacks in front broadcast."""
    sizes = {letter: draw(lengths) for letter in sorted({*first, *second})}
    stack = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    arrays = []
    for letters in (first, second):
        front = [draw(st.sampled_from([1, n])) for n in stack]
        front = front[draw(st.integers(0, len(front))) :]
        shape = (*front, *(sizes[letter] for letter in letters))
        made = draw(hnp.arrays(draw(dtypes), shape, elements=st.integers(-3, 3)))
        arrays.append(np.flip(made))
    return arrays


SHAPES = {"vecdot": ("n", "n"), "matvec": ("mn", "n"), "vecmat": ("m", "mn")}


@pytest.mark.parametrize("name", SHAPES)
@given(st.data())
def test_products_of_stacks_agree_with_numpy(name, data):
    arrays = data.draw(operands(*SHAPES[name]))
    follow(getattr(ft, name), getattr(np, name), arrays, data.draw)


@given(operands("mn", "mn"), st.integers(-3, 2), st.data())
def test_the_axis_of_vectors_agrees_with_numpy(arrays, axis, data):
    follow(
        lambda x, y: ft.vecdot(x, y, axis=axis),
        lambda x, y: np.vecdot(x, y, axis=axis),
        arrays,
        data.draw,
    )


@given(drawn_arrays(max_dims=2, dtypes=["int64", "int8"]), drawn_arrays(max_dims=2), st.data())
def test_kronecker_products_agree_with_numpy(first, second, data):
    follow(ft.kron, np.kron, [first, np.nan_to_num(second)], data.draw)


@given(st.data(), st.integers(1, 3))
def test_inner_products_agree_with_numpy(data, length):
    shapes = [(*data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0)), length), (length,)]
    elements = st.integers(-3, 3)
    arrays = [data.draw(hnp.arrays("float64", shape, elements=elements)) for shape in shapes]
    follow(ft.inner, np.inner, arrays, data.draw)
    follow(ft.inner, np.inner, [arrays[0], np.float64(2)], data.draw)
    follow(ft.vdot, np.vdot, [arrays[0], np.flip(arrays[0])], data.draw)


@given(operands("", ""), st.integers(-3, 2), st.integers(-3, 2), st.data())
def test_cross_products_agree_with_numpy(arrays, axis, other, data):
    first, second = (np.stack([x, 2 * x + 1, x * x], -1) for x in arrays)
    follow(ft.cross, np.cross, [first, second], data.draw)
    follow(
        lambda x: ft.cross(x, x + 1, axisc=other),
        lambda x: np.cross(x, x + 1, axisc=other),
        [first],
        data.draw,
    )
    if -first.ndim <= axis < first.ndim:
        moved = [np.moveaxis(first, -1, axis)] * 2
        follow(
            lambda x, y: ft.cross(x, y + 1, axis=axis),
            lambda x, y: np.cross(x, y + 1, axis=axis),
            moved,
            data.draw,
        )


@pytest.mark.parametrize("ranks", [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_products_at_each_position_are_those_of_a_loop(ranks):
    rng = np.random.default_rng(0)
    shapes = {2: (4, 3), 3: (4, 3, 3)}
    a, b = (rng.normal(size=shapes[rank]) for rank in ranks)
    expected = np.stack([np.dot(u, v) for u, v in zip(a, b, strict=True)])
    x, y = (ft.tensor(shape=(None,) * rank) for rank in ranks)
    np.testing.assert_allclose(ft.batched_dot(x, y).eval({x: a, y: b}), expected)


X, Y = np.array([[1.0, 2.0, -0.5], [3.0, 0.25, 6.0]]), np.array([[0.5, -1.0, 2.0], [1.0, 3.0, 0.1]])
TABLE = [
    (ft.vecdot, np.vecdot),
    (lambda x, y: ft.matvec(x, y), lambda x, y: np.matvec(x, y)),
    (lambda x, y: ft.vecmat(x, y.T), lambda x, y: np.vecmat(x, y.T)),
    (ft.inner, np.inner),
    (ft.vdot, np.vdot),
    (ft.kron, np.kron),
    (ft.cross, np.cross),
]


def test_compiled(mode):
    follow_compiled(TABLE, [X, Y], mode)


def test_gradients(mode):
    def total(x, y):
        results = [ours(x, y) for ours, _ in TABLE]
        return sum(((k + 1) * result**2).sum() for k, result in enumerate(results))

    verify_grad(total, [X, Y], mode=mode)


def test_errors():
    x, pair = ft.scalar("x"), ft.tensor(shape=(2,))
    for function, arguments in [
        (ft.vecdot, (x, pair)),
        (ft.vecdot, (pair, ft.tensor(shape=(1,)))),
        (ft.matvec, (pair, pair)),
        (ft.cross, (pair, pair)),
        (ft.batched_dot, (pair, pair)),
        (ft.batched_dot, (ft.tensor(shape=(1, 2)), ft.tensor(shape=(3, 2)))),
    ]:
        with pytest.raises(ValueError, match=r"vec|product|batched_dot|cross"):
            function(*arguments)
    with pytest.raises(TypeError, match="numbers"):
        ft.cross(ft.tensor(shape=(3,), dtype="bool"), ft.tensor(shape=(3,)))
    v = ft.vector("v")
    with pytest.raises(ValueError, match="reshape"):
        ft.cross(v, v).eval({v: np.ones(4)})
