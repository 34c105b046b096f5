"""Ranks, stacks, parts and turns of tensors agree with NumPy."""

import numpy as np
import pytest
from agreement import drawn_arrays, follow, follow_compiled
from hypothesis import assume, given
from hypothesis import strategies as st

import frazil.tensor as ft
from frazil.testing import verify_grad

integers = st.integers(-3, 3)
WITH_INTEGER = {
    "unstack": (
        lambda x, k: ft.unstack(x, axis=k),
        lambda x, k: np.unstack(x, axis=k),
    ),
    "rot90": (ft.rot90, np.rot90),
    "shape_padaxis": (ft.shape_padaxis, np.expand_dims),
    "split": (ft.split, np.split),
    "hsplit": (ft.hsplit, np.hsplit),
    "vsplit": (ft.vsplit, np.vsplit),
    "dsplit": (ft.dsplit, np.dsplit),
    "split of the last": (
        lambda x, k: ft.split(x, k, axis=-1),
        lambda x, k: np.split(x, k, axis=-1),
    ),
    "array_split": (ft.array_split, np.array_split),
}


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d", "fliplr", "flipud"])
@given(drawn_arrays(), st.data())
def test_functions_of_one_tensor_agree_with_numpy(name, array, data):
    follow(getattr(ft, name), getattr(np, name), [array], data.draw)


@pytest.mark.parametrize("name", ["atleast_2d", "column_stack", "dstack", "concat", "row_stack"])
@given(drawn_arrays(max_dims=3), drawn_arrays(dtypes=["float64", "int8"]), st.data())
def test_functions_of_several_agree_with_numpy(name, first, second, data):
    same = np.broadcast_to(second.ravel()[:1].sum(), first.shape).astype(second.dtype)
    theirs = np.vstack if name == "row_stack" else getattr(np, name)
    if name == "atleast_2d":
        follow(ft.atleast_2d, theirs, [first, second], data.draw)
        return
    ours = getattr(ft, name)
    follow(lambda *x: ours(x), lambda *x: theirs(x), [first, same], data.draw)
    follow(lambda x: ours([x]), lambda x: theirs([x]), [first], data.draw)


@pytest.mark.parametrize("name", WITH_INTEGER)
@given(drawn_arrays(), integers, st.data())
def test_functions_with_an_integer_agree_with_numpy(name, array, k, data):
    ours, theirs = WITH_INTEGER[name]
    assume(k or "split" not in name)  # NumPy divides by 0; see test_errors
    if name == "unstack":  # whose length must be known
        ours = lambda x, k: ft.unstack(ft.constant(array), axis=k)  # noqa: E731
    follow(lambda x: ours(x, k), lambda x: theirs(x, k), [array], data.draw)


@pytest.mark.parametrize("name", ["array_split", "hsplit", "vsplit", "dsplit"])
@given(drawn_arrays(min_dims=3), st.lists(integers, max_size=3), st.data())
def test_parts_at_positions_agree_with_numpy(name, array, cuts, data):
    ours, theirs = getattr(ft, name), getattr(np, name)
    follow(lambda x: ours(x, cuts), lambda x: theirs(x, cuts), [array], data.draw)


@given(drawn_arrays(min_dims=2), st.tuples(integers, integers), st.data())
def test_turns_in_any_plane_agree_with_numpy(array, axes, data):
    follow(lambda x: ft.rot90(x, 3, axes), lambda x: np.rot90(x, 3, axes), [array], data.draw)


def test_dimensions_are_added_on_either_side():
    x = ft.tensor(shape=(2, 3))
    assert ft.shape_padleft(x, 2).type.shape == (1, 1, 2, 3)
    assert ft.shape_padright(x).type.shape == (2, 3, 1)
    assert ft.shape_padleft(x, 0) is x
    assert ft.atleast_3d(ft.vector("v")).type.shape == (1, None, 1)


def test_static_lengths_of_parts_are_known():
    x = ft.tensor(shape=(5, 6))
    assert [part.type.shape for part in ft.array_split(x, 3)] == [(2, 6), (2, 6), (1, 6)]
    assert [part.type.shape for part in ft.split(x, 2, axis=1)] == [(5, 3), (5, 3)]
    assert [part.type.shape for part in ft.unstack(x, axis=-1)] == [(5,)] * 6


def test_parts_at_symbolic_positions(mode):
    x, k = ft.vector("x"), ft.lscalar("k")
    first, second = ft.array_split(x, [k])
    assert first.eval({x: np.arange(5.0), k: 2}).tolist() == [0.0, 1.0]
    assert second.eval({x: np.arange(5.0), k: 2}).tolist() == [2.0, 3.0, 4.0]


MATRIX = np.array([[1.0, 2.0, -0.5], [3.0, 0.25, 6.0], [4.0, 1.5, -2.0]])
TABLE = [
    (ft.atleast_3d, np.atleast_3d),
    (ft.rot90, np.rot90),
    (ft.fliplr, np.fliplr),
    (ft.flipud, np.flipud),
    (lambda x: ft.column_stack([x[0], x]), lambda x: np.column_stack([x[0], x])),
    (lambda x: ft.dstack([x, 2 * x]), lambda x: np.dstack([x, 2 * x])),
    (lambda x: ft.array_split(x, 2), lambda x: np.array_split(x, 2)),
    (lambda x: ft.split(x, 3, axis=1), lambda x: np.split(x, 3, axis=1)),
    (lambda x: ft.hsplit(x, [1]), lambda x: np.hsplit(x, [1])),
]


def test_compiled(mode):
    follow_compiled(TABLE, [MATRIX], mode)


def test_gradients(mode):
    def total(x):
        parts = [*ft.array_split(x, 2, axis=1), *ft.split(ft.rot90(x), 3), ft.fliplr(x)]
        stacks = [ft.column_stack([x[0], x]), ft.dstack([x, 2 * x]), ft.atleast_3d(x)]
        return sum(((k + 1) * part**2).sum() for k, part in enumerate([*parts, *stacks]))

    verify_grad(total, [MATRIX], mode=mode)


def test_errors():
    with pytest.raises(TypeError, match="not known before a call"):
        ft.unstack(ft.vector("x"))
    with pytest.raises(TypeError, match="one variable"):
        ft.dstack(ft.vector("x"))
    with pytest.raises(ValueError, match=r"Use ft\.array_split"):
        ft.split(ft.tensor(shape=(5,)), 2)
    with pytest.raises(ValueError, match="larger than 0"):
        ft.split(ft.tensor(shape=(6,)), 0)
    with pytest.raises(ValueError, match="but n_splits=3"):
        ft.split(ft.tensor(shape=(6,)), 2, 3)
    with pytest.raises(ValueError, match="must not be negative"):
        ft.shape_padright(ft.vector("x"), -1)
    with pytest.raises(ValueError, match="length"):
        ft.split(x := ft.vector("x"), 2)[0].eval({x: np.ones(5)})
