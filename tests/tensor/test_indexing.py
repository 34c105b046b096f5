"""Basic indexing agrees with NumPy, wherever bounds are known and where they are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.basic_indexing import IncSubtensor, Subtensor
from frazil.testing import verify_grad


@st.composite
def indexed(draw):
    """An array, what is known of its shape, and a basic index for it."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    index = draw(hnp.basic_indices(shape, max_dims=5, allow_newaxis=True, allow_ellipsis=True))
    known = [draw(st.sampled_from([n, None])) for n in shape]
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    return array, known, index


@st.composite
def with_symbolic_bounds(draw):
    """A slice or an integer for one dimension, its bounds numbers or variables."""
    length = draw(st.integers(0, 5))
    given = {}

    def maybe_symbolic(value):
        if value is None or draw(st.booleans()):
            return value
        variable = ft.tensor(dtype=draw(st.sampled_from(["int64", "int8"])), shape=())
        given[variable] = value
        return variable

    bound = st.none() | st.integers(-7, 7)
    step = draw(st.none() | st.integers(-3, 3).filter(bool))
    concrete = slice(draw(bound), draw(bound), step)
    symbolic = slice(maybe_symbolic(concrete.start), maybe_symbolic(concrete.stop), step)
    return length, concrete, symbolic, given


@given(indexed())
def test_agrees_with_numpy(drawn):
    array, known, index = drawn
    x = ft.tensor("x", shape=known)
    np.testing.assert_array_equal(evaluate(x[index], {x: array}), array[index])


@given(with_symbolic_bounds(), st.booleans())
def test_symbolic_bounds(drawn, know_length):
    length, concrete, symbolic, given = drawn
    array = np.arange(float(length))
    x = ft.vector("x", shape=(length if know_length else None,))
    found = evaluate(x[symbolic], {x: array, **given})
    np.testing.assert_array_equal(found, array[concrete])


@given(indexed(), st.booleans())
def test_replacing_and_increasing_agree_with_numpy(drawn, replace):
    array, known, index = drawn
    expected = array.copy()
    x = ft.tensor("x", shape=known)
    part = x[index]
    if part is x or part.ndim > x.ndim or part.owner.op is ft.expand_dims(x, 0).owner.op:
        return
    value = np.full(array[index].shape, 0.5)
    if replace:
        expected[index] = value
    else:
        expected[index] += value
    set_or_inc = ft.set_subtensor if replace else ft.inc_subtensor
    if not isinstance(part.owner.op, Subtensor) and not part.owner.inputs[0].owner:
        return  # x[None]: the whole of x
    np.testing.assert_array_equal(evaluate(set_or_inc(part, value), {x: array}), expected)


def test_symbolic_integer():
    x, i = ft.matrix("x"), ft.iscalar("i")
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(evaluate(x[i, 1:], {x: array, i: -1}), array[-1, 1:])


def test_whole_slices_add_no_nodes():
    x = ft.tensor("x", shape=(3, None))
    assert x[:] is x[...] is x[:, :] is x[0:3] is x[:5] is x[::1] is x
    assert x[0] is x[0, :] is x[0, ...] is x[np.int8(0)] is x[ft.constant(0)]
    assert x[-1] is x[2]


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (np.s_[1:], (4, None)),
        (np.s_[::-2], (3, None)),
        (np.s_[:, 1:3], (5, None)),
        (np.s_[0], (None,)),
        (np.s_[..., None, 0], (5, 1)),
        (np.s_[7:], (0, None)),
    ],
)
def test_static_shape(index, shape):
    assert ft.tensor(shape=(5, None))[index].type.shape == shape


def test_values_broadcast_to_the_part():
    x = ft.zeros((2, 3))
    np.testing.assert_array_equal(
        evaluate(ft.set_subtensor(x[:, 1:], [[1.0], [2.0]])), [[0, 1, 1], [0, 2, 2]]
    )
    np.testing.assert_array_equal(evaluate(x[0].inc(1)), [[1, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(evaluate(x[1].set([1, 2, 3])), [[0, 0, 0], [1, 2, 3]])


def test_a_length_of_1_that_was_not_declared_does_not_repeat():
    x, y = ft.vector("x"), ft.vector("y")
    with pytest.raises(ValueError, match="where the type declares it"):
        evaluate(ft.set_subtensor(x[1:], y), {x: [1.0, 2.0, 3.0], y: [1.0]})


INTO = st.sampled_from(["bool", "int8", "uint8", "int64", "float32", "float64"])
NUMBERS = st.one_of(
    st.integers(-200, 300),
    st.booleans(),
    st.floats(width=32),
    st.sampled_from([1.5, 2.0, -0.0, 0.25]),
    st.floats(width=32).map(np.float32),
)


def limits(dtype):
    return np.iinfo(dtype).min, np.iinfo(dtype).max


@given(INTO, st.one_of(NUMBERS, st.lists(NUMBERS, min_size=2, max_size=2)), st.booleans())
def test_numbers_are_put_in_without_loss(dtype, number, replace):
    """What a tensor of integers cannot hold is refused, and not cut off."""
    x = ft.vector("x", dtype=dtype)
    known = np.array([0, 1, 1]).astype(dtype)
    change = ft.set_subtensor if replace else ft.inc_subtensor
    kind = np.dtype(dtype)
    least, most = limits(kind) if kind.kind in "iu" else (0, 1)
    holds = kind.kind == "f" or all(
        np.isfinite(one) and one == int(one) and least <= one <= most
        for one in np.asarray(number).ravel().tolist()
    )
    if not holds:
        with pytest.raises((TypeError, OverflowError)):
            change(x[:2], number)
        return
    expected = known.copy()
    expected[:2] = number if replace else expected[:2] + np.asarray(number).astype(dtype)
    np.testing.assert_array_equal(change(x[:2], number).eval({x: known}), expected)


@pytest.mark.parametrize("element", [ft.dscalar("s"), ft.scalar("f", dtype="float32")], ids=str)
def test_lists_with_variables_are_put_in_without_loss(element):
    with pytest.raises(TypeError, match="Cast"):
        ft.set_subtensor(ft.vector("k", dtype="int64")[:2], [element, 1])
    y = ft.dvector("y")
    changed = ft.set_subtensor(y[:2], [element, 1])
    np.testing.assert_array_equal(changed.eval({y: [5.0, 6.0, 7.0], element: 1.5}), [1.5, 1.0, 7.0])


@pytest.mark.parametrize("index", [[0.5], 1.0, "a"])
def test_what_is_no_index_is_refused(index):
    with pytest.raises(IndexError, match="Indices may be"):
        ft.vector("x")[index]


@pytest.mark.parametrize("index", [slice(True, None), slice(0.5, None), slice(ft.lvector(), None)])
def test_what_bounds_no_slice_is_refused(index):
    with pytest.raises(TypeError, match="Indices may be"):
        ft.vector("x")[index]


def test_errors():
    x = ft.tensor("x", shape=(3, None))
    with pytest.raises(IndexError, match="too many indices: 3"):
        x[0, 0, 0]
    with pytest.raises(IndexError, match="only one ellipsis"):
        x[..., ...]
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with length 3"):
        x[3]
    with pytest.raises(ValueError, match="cannot be zero"):
        x[::0]
    with pytest.raises(TypeError, match="0-d int64"):
        Subtensor(("dynamic",))(x)
    with pytest.raises(TypeError, match="Cast one"):
        IncSubtensor((0,), True)(x, ft.fvector())
    with pytest.raises(ValueError, match="does not broadcast"):
        ft.set_subtensor(x[0:2], ft.tensor(shape=(3, 1)))


@pytest.mark.parametrize("whole", [slice(None), slice(0, None), ..., (), slice(None, None, 1)])
def test_the_whole_of_a_part_is_no_part_of_what_it_is_from(whole, mode):
    x, i = ft.vector("x"), ft.lvector("i")
    values, at = np.arange(6.0), [4, 0]
    for part, expected in (
        (x[1:4], values[1:4]),
        (x[i], values[at]),
        (x[1:4, None], values[1:4, None]),
    ):
        f = fz.function(
            [x, i],
            [part[whole], part[whole].set(7.0), ft.inc_subtensor(part[whole], 1.0)],
            mode=mode,
            on_unused_input="ignore",
        )
        for found, wanted in zip(
            f(values, at), (expected, expected * 0 + 7, expected + 1), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
    verify_grad(lambda x: ft.set_subtensor(x[1:4][:], 2 * x[2:5]) ** 2, [values])
